// The loop that makes a text: a decoder's scores, a token chosen from them, and the reasons to end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <optional>
#include <set>

#include "session/decoder.hpp"
#include "session/device_loop.hpp"
#include "session/sampler.hpp"

namespace rung {

enum class StoppedBy : uint8_t {
  count,  // as many tokens as were asked for
  token,  // one that ends a text
  room,   // the caches are full
};
std::string_view name_of(StoppedBy reason);

class Generation {
 public:
  // `steps`: how many tokens a GPU makes before the host asks for them; 0: the host chooses each token.
  Generation(Decoder decoder, Sampler sampler, std::set<int64_t> stops, int64_t steps = 0)
      : decoder_(std::move(decoder)), sampler_(std::move(sampler)), stops_(std::move(stops)), steps_(steps) {}

  // Takes the prompt, behind the text that there is. Errors: those of Decoder::take().
  Status prompt(std::span<const int64_t> tokens);
  // Returns the next token, which may be one that ends the text; nullopt: the text has ended. Needs a prompt before.
  // Errors: those of Decoder::take() and Sampler::next().
  Result<std::optional<int64_t>> next(int64_t most);
  // Milliseconds of the host's clock that the last token took; of several that were made together, its share of them.
  double token_ms() const { return token_ms_; }
  // Tells why next() gave no token.
  StoppedBy stopped_by() const { return stopped_by_; }

  bool ends_with(int64_t token) const { return stops_.contains(token); }
  Decoder& decoder() { return decoder_; }

 private:
  Status take_last();
  Result<int64_t> choose();
  Status make_ahead(int64_t most);
  Status forget_ahead();

  Decoder decoder_;
  Sampler sampler_;
  std::set<int64_t> stops_;
  int64_t steps_;
  std::unique_ptr<DeviceLoop> loop_;
  bool loop_goes_on_ = false;    // nothing ran since the loop's last run
  std::deque<int64_t> ahead_;  // made on the device, in order, and not asked for so far
  std::optional<int64_t> untaken_;  // the last token, which the decoder takes when one more is wanted
  int64_t made_ = 0;
  double token_ms_ = 0;
  StoppedBy stopped_by_ = StoppedBy::count;
};

}  // namespace rung
