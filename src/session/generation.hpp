// The loop that makes a text: a decoder's scores, a token chosen from them, and the reasons to end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <type_traits>
#include <vector>

#include "session/decoder.hpp"
#include "session/device_loop.hpp"
#include "session/sampler.hpp"
#include "session/speculation.hpp"

namespace rung {

enum class StoppedBy : uint8_t {
  count,  // as many tokens as were asked for
  token,  // one that ends a text
  room,   // the caches are full
};
std::string_view name_of(StoppedBy reason);

struct GenerationOptions {
  std::set<int64_t> stops;  // tokens that end a text
  int64_t most = 128;       // new tokens
  Speculate speculate = Speculate::off;
  std::shared_ptr<DraftModel> draft = {};  // where drafts come from; null: from the text itself
  int64_t steps = 0;  // how many tokens a GPU makes before the host asks for them; 0: the host chooses each
};

class Generation {
 public:
  // Goes on behind the decoder's text, of which penalties see all tokens.
  Generation(std::shared_ptr<Decoder> decoder, Sampler sampler, GenerationOptions options)
      : decoder_(std::move(decoder)),
        sampler_(std::move(sampler)),
        options_(std::move(options)),
        speculation_(options_.speculate, options_.draft) {
    sampler_.saw(decoder_->tokens());
  }

  // Returns the next token, which may be one that ends the text; nullopt: the text has ended. The decoder reads the
  // token when one more is wanted. Errors: the decoder has no text, or another than the last call left; those of
  // Decoder::take() and Sampler::next().
  Result<std::optional<int64_t>> next();
  // Milliseconds that the last token took; of several that a GPU made together, its share of them.
  double token_ms() const { return token_ms_; }
  // Tells why next() will give no token; nullopt: it will.
  std::optional<StoppedBy> end() const;

  bool ends_with(int64_t token) const { return options_.stops.contains(token); }
  Decoder& decoder() { return *decoder_; }
  const Speculation& speculation() const { return speculation_; }
  int64_t accepted() const { return decoder_->accepted() - accepted_before_; }  // drafts

 private:
  bool makes_ahead() const;
  Status make_ahead();
  Result<int64_t> choose();

  std::shared_ptr<Decoder> decoder_;
  Sampler sampler_;
  GenerationOptions options_;
  Speculation speculation_;
  std::optional<int64_t> last_;  // the token that the last call chose
  std::unique_ptr<DeviceLoop> loop_;
  std::vector<int64_t> ahead_;  // that the device made and nobody has asked for so far, the next one last
  int64_t loop_runs_ = -1;      // of the decoder, behind the loop's last one
  double token_ms_ = 0;
  int64_t made_ = 0, accepted_before_ = decoder_->accepted();
  int64_t length_ = decoder_->length();  // of the text that the last call left
};
static_assert(std::is_nothrow_move_constructible_v<Generation>, "a Result ends the process where a move throws");

}  // namespace rung
