// A second, smaller model of the same tokens, which guesses how a text goes on. Its vocabulary may be padded to another
// size than the text's.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "session/decoder.hpp"
#include "session/sampler.hpp"

namespace rung {

class DraftModel {
 public:
  // Guesses up to `most` tokens at once. The decoder may hold any text: what it has in common with the one that is read
  // is not read again.
  DraftModel(std::shared_ptr<Decoder> decoder, int64_t most) : decoder_(std::move(decoder)), most_(most) {}

  // Makes its text that one, and reads the part that is new to it. A text that it has no room for, or with a token that
  // it does not know, it leaves alone.
  // Errors: those of Decoder::take().
  Status read(std::span<const int64_t> text, const Interrupted& interrupted = {});
  // Returns what the sampler would choose behind the text if this model's scores were the text's: one token after
  // another, `most` at most, and fewer where its caches are full; none behind a text that it cannot read. Errors: those
  // of read() and Sampler::guess().
  Result<std::vector<int64_t>> guess(std::span<const int64_t> text, int64_t most, Sampler& sampler);

  uint64_t weight_bytes() const { return decoder_->weight_bytes(); }

 private:
  bool can_read(std::span<const int64_t> text) const;
  Status go_back(int64_t length);

  std::shared_ptr<Decoder> decoder_;
  int64_t most_;
};

}  // namespace rung
