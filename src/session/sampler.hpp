// Chooses tokens from a decoder's scores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "ir/sampling.hpp"
#include "session/session.hpp"
#include "session/timestamp_rules.hpp"

namespace rung {

struct SamplerOptions {
  sampling::Settings settings = {.temperature = 0};
  int64_t seed = 0;
  std::vector<std::pair<int64_t, float>> bias;    // of tokens; -inf bans one
  std::vector<int64_t> not_first;                 // banned as the first choice
  std::optional<TimestampRules> timestamps = {};  // the chosen tokens say times by these rules
};

// Returns what is added to each token's score, f32[V], by all choices but the first.
Tensor bias_of(int64_t vocabulary, const SamplerOptions& options);

class Sampler {
 public:
  // Errors (wrong usage): a setting out of its range, a biased or banned token, or one of time, that a vocabulary of
  // that size does not have.
  static Status check(int64_t vocabulary, const SamplerOptions& options);
  // Errors: those of check().
  static Result<Sampler> make(int64_t vocabulary, const SamplerOptions& options);

  // Counts tokens of the text, which penalties see; next() counts what it chooses.
  void saw(std::span<const int64_t> tokens);
  // Returns the token that follows, for scores f32[1,V]. The n-th choice of a seed takes the n-th number of its
  // generator, whatever came before. Errors: scores that are no numbers, no token that is not banned.
  Result<int64_t> next(const Tensor& logits);
  // Returns what next() would choose after it chose those tokens, and counts nothing. Errors: those of next().
  Result<int64_t> guess(const Tensor& logits, std::span<const int64_t> chosen);
  // Takes note of a token that was chosen elsewhere by the next draw of this sampler.
  void chose(int64_t token);

  int64_t drawn() const { return static_cast<int64_t>(made_.size()); }               // choices so far
  std::span<const int64_t> seen() const { return given_.at("seen").as<int64_t>(); }  // by token
  const SamplerOptions& options() const { return options_; }

 private:
  Sampler(const SamplerOptions& options, Session session, NamedTensors given)
      : options_(options), session_(std::move(session)), given_(std::move(given)) {}
  Result<int64_t> choose(const Tensor& logits, std::span<const int64_t> made, int64_t draw);
  Tensor by_rules(const Tensor& logits, std::span<const int64_t> made) const;
  void count(std::span<const int64_t> tokens, int64_t times);

  SamplerOptions options_;
  Session session_;
  NamedTensors given_;         // all inputs but the scores
  std::vector<int64_t> made_;  // the tokens chosen so far
};

}  // namespace rung
