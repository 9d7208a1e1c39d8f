// The arithmetic of the op sample, which gives the same bits on every device: settings, penalties, the order of tokens,
// their weights, and the random number of a draw. docs/sampling.md says how an op goes through them.
// SPDX-License-Identifier: Apache-2.0
// Weights are integers, so that their sums do not depend on the order of additions, and a sum over all tokens is exact.
// Functions of floats name each fused multiply-add, since compilers fuse other sums where they like; `fma(a, b, c)` is
// a b + c, rounded once: host and device pass their own.
#pragma once
#include <cstdint>

namespace rung::sampling {

inline constexpr int64_t kMostTokens = int64_t{1} << 22;  // their weights add up to less than 2^63

// The op's operand `settings`, number by number. The values here leave the model's distribution as it is.
struct Settings {
  float temperature = 1;  // from 0, which takes the first of the largest logits
  float top_k = 0;        // a whole number of largest logits that stay; 0, or as many as there are: all
  float top_p = 1;        // 0 to 1: the fewest largest logits stay whose probabilities reach it, and one at least
  float min_p = 0;        // 0 to 1: tokens stay that have this part of the largest probability
  float repetition = 1;   // above 0: divides a seen token's logit if that is above 0, else multiplies it
  float presence = 0;     // is taken from the logit of each seen token
  float frequency = 0;    // is taken from it once for each time that it was seen
  float reserved = 0;     // 0
};
inline constexpr int64_t kSettings = sizeof(Settings) / sizeof(float);

inline constexpr float kLargestFloat = 0x1.fffffep127f;  // below infinity
constexpr bool is_finite(float x) { return x - x == 0; }
constexpr bool is_whole(float x) {
  constexpr float kAllAreWhole = 1 << 24;
  return x >= kAllAreWhole || static_cast<float>(static_cast<int32_t>(x)) == x;
}
constexpr bool is_part(float x) { return x >= 0 && x <= 1; }
// Returns whether every setting is in its range; a NaN is in none.
constexpr bool is_valid(const Settings& s) {
  return s.temperature >= 0 && is_finite(s.temperature) && s.top_k >= 0 && is_finite(s.top_k) && is_whole(s.top_k) &&
         is_part(s.top_p) && is_part(s.min_p) && s.repetition > 0 && is_finite(s.repetition) && is_finite(s.presence) &&
         is_finite(s.frequency) && s.reserved == 0;
}
// Returns whether the first of the largest logits is the only token that the settings leave.
constexpr bool is_greedy(const Settings& s) { return s.temperature == 0 || s.top_k == 1; }
// Returns how many of `tokens` top_k leaves.
constexpr int64_t kept_of(const Settings& s, int64_t tokens) {
  return s.top_k >= 1 && s.top_k < static_cast<float>(tokens) ? static_cast<int64_t>(s.top_k) : tokens;
}

// Returns the logit of a token that was seen so often; a count below 1 is none.
template <class Fma>
constexpr float penalised(float logit, float seen, const Settings& s, const Fma& fma) {
  if (!(seen > 0)) return logit;
  const float scaled = logit > 0 ? logit / s.repetition : logit * s.repetition;
  return fma(-s.frequency, seen, scaled) - s.presence;
}
// Returns whether a logit, with penalties and bias, is a number, or the -inf of a banned token.
constexpr bool is_usable(float logit) { return logit <= kLargestFloat; }

// Returns a number that is the larger the larger a usable logit is, by the logit's bits; those of both zeros are one.
constexpr uint32_t order_of(uint32_t bits) {
  constexpr uint32_t kSign = 0x80000000u;
  const uint32_t x = bits == kSign ? 0 : bits, negative = -(x >> 31);  // no branch, which no sign would let foresee
  return x ^ (negative | kSign);
}
constexpr uint32_t bits_of_order(uint32_t order) { return order & 0x80000000u ? order ^ 0x80000000u : ~order; }

inline constexpr uint64_t kLargestWeight = uint64_t{1} << 40;  // of the largest logit
inline constexpr float kNoWeight = -30;                        // weights are 0 from here on, e^-30 being below 2^-43

// Returns the factor by which logits become exponents, 1 / temperature or the largest number.
constexpr float factor_of(const Settings& s) {
  const float factor = 1 / s.temperature;
  return factor < kLargestFloat ? factor : kLargestFloat;
}
// Returns e^((logit - largest) factor) as a multiple of 2^-40, rounded down; the power itself is within a unit of f32's
// last place, by which a larger logit may have the smaller one.
template <class Fma>
constexpr uint64_t weight_of(float logit, float largest, float factor, const Fma& fma) {
  constexpr float kLog2E = 0x1.715476p+0f, kRest = 0x1.4ae0cp-26f;  // log2 e, in two parts
  constexpr float kRounds = 12582912.0f;                            // 1.5 * 2^23: a sum with it is rounded to a whole
  const float below = (logit - largest) * factor, at = below > kNoWeight ? below : kNoWeight;
  const float whole = fma(at, kLog2E, kRounds) - kRounds;
  const float r = fma(at, kRest, fma(at, kLog2E, -whole));
  float power = fma(0x1.416b5p-13f, r, 0x1.5f082ep-10f);  // 2^r, our own minimax fit, to 3e-9
  power = fma(power, r, 0x1.3b2dep-7f);
  power = fma(power, r, 0x1.c6af7cp-5f);
  power = fma(power, r, 0x1.ebfbdcp-3f);
  power = fma(power, r, 0x1.62e43p-1f);
  power = fma(power, r, 1.0f);
  const auto of_2_to_30 = static_cast<uint64_t>(static_cast<int32_t>(power * 0x1p30f));  // exact: power has 24 bits
  return of_2_to_30 << 10 >> static_cast<int32_t>(-whole);
}

// Returns the smallest weight that min_p leaves.
constexpr uint64_t least_weight(const Settings& s) {
  const float least = s.min_p * static_cast<float>(kLargestWeight);  // exact
  const auto whole = static_cast<uint64_t>(least);
  return whole + (static_cast<float>(whole) < least);
}

// Returns the upper 64 bits of a product: the part a / 2^64 of b.
constexpr uint64_t high_product(uint64_t a, uint64_t b) {
  constexpr uint64_t kLow = 0xffffffffu;
  const uint64_t low = (a & kLow) * (b & kLow), cross = (a >> 32) * (b & kLow) + (low >> 32);
  const uint64_t other = (a & kLow) * (b >> 32) + (cross & kLow);
  return (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32);
}

// Returns the sum of weights that top_p wants of all of them: tokens are left out once larger ones have it.
constexpr uint64_t needed_of(const Settings& s, uint64_t total) {
  if (s.top_p >= 1) return total;
  const uint64_t needed = high_product(static_cast<uint64_t>(s.top_p * 0x1p64f), total);
  return needed > 0 ? needed : 1;
}

// Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011).
struct Philox {
  uint32_t counter[4];
  uint32_t key[2];
  constexpr void encrypt() {
    for (int i = 0; i < 10; ++i) {
      const uint64_t a = uint64_t{0xd2511f53u} * counter[0], b = uint64_t{0xcd9e8d57u} * counter[2];
      const auto high_a = static_cast<uint32_t>(a >> 32), high_b = static_cast<uint32_t>(b >> 32);
      counter[0] = high_b ^ counter[1] ^ key[0], counter[1] = static_cast<uint32_t>(b);
      counter[2] = high_a ^ counter[3] ^ key[1], counter[3] = static_cast<uint32_t>(a);
      key[0] += 0x9e3779b9u, key[1] += 0xbb67ae85u;
    }
  }
};

// Returns the number u of a draw as a multiple of 2^-64, by the op's operand `draw`: a seed, which is the key, and a
// counter.
constexpr uint64_t random_of(int64_t seed, int64_t counter) {
  const auto s = static_cast<uint64_t>(seed), c = static_cast<uint64_t>(counter);
  Philox philox{{static_cast<uint32_t>(c), static_cast<uint32_t>(c >> 32), 0, 0},
                {static_cast<uint32_t>(s), static_cast<uint32_t>(s >> 32)}};
  philox.encrypt();
  return uint64_t{philox.counter[1]} << 32 | philox.counter[0];
}
// Returns u times the sum of all weights, rounded down: the token drawn is the first, by places, with which the running
// sum is larger.
constexpr uint64_t drawn_of(uint64_t random, uint64_t total) { return high_product(random, total); }

}  // namespace rung::sampling
