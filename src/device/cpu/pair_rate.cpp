// Times loops on registers alone, in turns; the best of a few trials counts.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/pair_rate.hpp"

#include <immintrin.h>

#include <algorithm>
#include <chrono>

#include "device/cpu/cpu_info.hpp"

namespace rung::cpu {
namespace {

constexpr int kSteps = 4000, kSums = 12;  // sums enough to hide the latency of each

__attribute__((target("avx512f"))) void multiply_floats() {
  __m512 sums[kSums];
#pragma GCC unroll 12
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  __m512 a = _mm512_set1_ps(1e-3f);
  for (int i = 0; i < kSteps; ++i) {
    asm volatile("" : "+v"(a));
#pragma GCC unroll 12
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(a, a, sum);
  }
#pragma GCC unroll 12
  for (__m512& sum : sums) asm volatile("" : : "v"(sum));
}

__attribute__((target("avx512f,avx512bf16"))) void multiply_pairs() {
  __m512 sums[kSums];
#pragma GCC unroll 12
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  __m512 a = _mm512_castsi512_ps(_mm512_set1_epi32(0x3a833a83));  // 1e-3 in bf16, twice
  for (int i = 0; i < kSteps; ++i) {
    asm volatile("" : "+v"(a));
    const auto pairs = reinterpret_cast<__m512bh>(a);
#pragma GCC unroll 12
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, pairs, pairs);
  }
#pragma GCC unroll 12
  for (__m512& sum : sums) asm volatile("" : : "v"(sum));
}

double seconds_of(void (*loop)()) {
  const auto start = std::chrono::steady_clock::now();
  loop();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

// A step of pairs multiplies twice as many numbers.
bool gains_by_pairs() {
  static const bool kGains = [] {
    if (!cpu_info().avx512_bf16) return false;
    double floats = 1e9, pairs = 1e9;
    for (int trial = 0; trial < 7; ++trial) {
      floats = std::min(floats, seconds_of(multiply_floats));
      pairs = std::min(pairs, seconds_of(multiply_pairs));
    }
    return pairs < 1.6 * floats;
  }();
  return kGains;
}

}  // namespace rung::cpu
