// FAST's action tokens: a chunk of a robot's actions as a byte-pair encoding of its rounded cosine coefficients.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "text/tokenizer.hpp"

namespace rung {

// The sizes of a chunk of actions, which is row by row: all values of a time stand together.
struct ActionShape {
  int64_t horizon = 0, dims = 0;  // 0: as the tokenizer's files say
  int64_t count() const { return horizon * dims; }
};

// Where a policy keeps action tokens in the vocabulary of its language model: from the end on downwards, before the
// last ones, which are special.
struct PolicyTokens {
  int64_t vocabulary = 0;  // of the language model
  int64_t skipped = 128;
};

// Copies share what was read, and any number of threads may use it.
class ActionTokenizer {
 public:
  // Reads tokenizer.json and processor_config.json. Errors: a file is missing, a field out of its range; a size that
  // neither the file nor `wanted` says, or that both say differently (mismatch).
  static Result<ActionTokenizer> open(const std::string& directory, ActionShape wanted = {});

  // Returns the tokens of a chunk. Errors: another number of values, a value that is not finite, a coefficient that
  // no character stands for, a character without a token.
  Result<std::vector<int64_t>> encode(std::span<const double> actions) const;
  // Returns the chunk of tokens. Errors: a token that the files do not have, tokens of more or fewer coefficients than
  // a chunk has (mismatch).
  Result<std::vector<double>> decode(std::span<const int64_t> tokens) const;

  // Returns the chunk that a language model wrote among other tokens, such as the words before it and the mark behind
  // it. Errors: no action tokens, or some that stand apart from the others; those of decode().
  Result<std::vector<double>> decode_policy(std::span<const int64_t> written, PolicyTokens place) const;

  const ActionShape& shape() const { return shape_; }

 private:
  ActionTokenizer(Tokenizer tokenizer, ActionShape shape) : tokenizer_(std::move(tokenizer)), shape_(shape) {}
  Result<std::vector<int64_t>> coefficients_of(std::span<const int64_t> tokens) const;

  Tokenizer tokenizer_;
  ActionShape shape_;
  double scale_ = 0;        // of the coefficients before they are rounded
  int64_t min_token_ = 0;   // the coefficient that character 0 stands for
  int64_t vocabulary_ = 0;  // action tokens
};

}  // namespace rung
