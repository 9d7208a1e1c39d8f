// The loop that makes a text: a decoder's scores, a token chosen from them, and the reasons to end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <set>

#include "session/decoder.hpp"
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
  Generation(Decoder decoder, Sampler sampler, std::set<int64_t> stops)
      : decoder_(std::move(decoder)), sampler_(std::move(sampler)), stops_(std::move(stops)) {}

  // Takes the prompt, behind the text that there is. Errors: those of Decoder::take().
  Status prompt(std::span<const int64_t> tokens);
  // Returns the next token, which may be one that ends the text; nullopt: the text has ended. Needs a prompt before.
  // Errors: those of Decoder::take() and Sampler::next().
  Result<std::optional<int64_t>> next(int64_t most);
  // Tells why next() gave no token.
  StoppedBy stopped_by() const { return stopped_by_; }

  bool ends_with(int64_t token) const { return stops_.contains(token); }
  Decoder& decoder() { return decoder_; }

 private:
  Decoder decoder_;
  Sampler sampler_;
  std::set<int64_t> stops_;
  std::optional<int64_t> untaken_;  // the last token, which the decoder takes when one more is wanted
  int64_t made_ = 0;
  StoppedBy stopped_by_ = StoppedBy::count;
};

}  // namespace rung
