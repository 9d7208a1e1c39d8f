// Counter-based random numbers: value i of a stream depends only on (seed, stream, i), so any slice can be made alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>

namespace rung {

// SplitMix64's output function (Steele, Lea, Flood 2014) over a Weyl counter.
inline uint64_t random_bits(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// Returns a uniform value in [0, 1), of 24 bits.
inline float random_uniform(uint64_t seed, uint64_t index) {
  return static_cast<float>(random_bits(seed, index) >> 40) * 0x1.0p-24f;
}

// Returns a standard normal value, by Box-Muller.
inline float random_normal(uint64_t seed, uint64_t index) {
  uint64_t bits = random_bits(seed, index);
  float u = (static_cast<float>(bits >> 40) + 1.0f) * 0x1.0p-24f;
  float v = static_cast<float>(bits & 0xffffffu) * 0x1.0p-24f;
  return std::sqrt(-2.0f * std::log(u)) * std::cos(6.2831853f * v);
}

// Returns a nearly normal value without log and cos, to fill whole models: the sum of four uniforms, |x| below 3.47.
inline float random_normal_fast(uint64_t seed, uint64_t index) {
  uint64_t bits = random_bits(seed, index);
  auto sum = static_cast<int32_t>((bits & 0xffffu) + (bits >> 16 & 0xffffu) + (bits >> 32 & 0xffffu) + (bits >> 48));
  return static_cast<float>(sum - 2 * 0xffff) * (0x1.0p-16f * 1.7320508f);
}

}  // namespace rung
