// Chooses tokens from a decoder's scores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "ir/sampling.hpp"
#include "session/session.hpp"

namespace rung {

struct SamplerOptions {
  sampling::Settings settings = {.temperature = 0};
  int64_t seed = 0;
  std::vector<std::pair<int64_t, float>> bias;  // of tokens; -inf bans one
  std::vector<int64_t> not_first;               // banned as the first choice
};

class Sampler {
 public:
  // Errors (wrong usage): a setting out of its range, a biased token that a vocabulary of that size does not have.
  static Result<Sampler> make(int64_t vocabulary, const SamplerOptions& options);

  // Counts tokens of the text, which penalties see; next() counts what it chooses.
  void saw(std::span<const int64_t> tokens);
  // Returns the token that follows, for scores f32[1,V]. The n-th choice of a seed takes the n-th number of its
  // generator, whatever came before. Errors: scores that are no numbers, no token that is not banned.
  Result<int64_t> next(const Tensor& logits);

 private:
  Sampler(Session session, NamedTensors given, Tensor later)
      : session_(std::move(session)), given_(std::move(given)), later_(std::move(later)) {}

  Session session_;
  NamedTensors given_;  // all inputs but the scores
  Tensor later_;        // the bias of all choices but the first
  int64_t drawn_ = 0;
};

}  // namespace rung
