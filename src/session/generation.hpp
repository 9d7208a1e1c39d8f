// The loop that makes a text: a decoder's scores, a token chosen from them, and the reasons to end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
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

struct GenerationLimits {
  std::set<int64_t> stops;  // tokens that end a text
  int64_t most = 128;       // new tokens
};

class Generation {
 public:
  // Goes on behind the decoder's text, of which penalties see all tokens.
  Generation(std::shared_ptr<Decoder> decoder, Sampler sampler, GenerationLimits limits)
      : decoder_(std::move(decoder)), sampler_(std::move(sampler)), limits_(std::move(limits)) {
    sampler_.saw(decoder_->tokens());
  }

  // Returns the next token, which may be one that ends the text; nullopt: the text has ended. The decoder reads the
  // token when one more is wanted. Errors: the decoder has no text, or another than the last call left; those of
  // Decoder::take() and Sampler::next().
  Result<std::optional<int64_t>> next();
  // Tells why next() will give no token; nullopt: it will.
  std::optional<StoppedBy> end() const;

  bool ends_with(int64_t token) const { return limits_.stops.contains(token); }
  Decoder& decoder() { return *decoder_; }

 private:
  std::shared_ptr<Decoder> decoder_;
  Sampler sampler_;
  GenerationLimits limits_;
  std::optional<int64_t> last_;  // the token that the last call chose
  int64_t made_ = 0;
  int64_t length_ = decoder_->length();  // of the text that the last call left
};

}  // namespace rung
