// Computes the results of atomic instructions from the old value in memory and their data.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/numeric.hpp"

namespace rung::amdgpu::atomic {

// The operation's word in memory.
template <unsigned kBytes>
using Word = std::conditional_t<kBytes == 4, uint32_t, uint64_t>;

template <class T>
T as(auto word) {
  return std::bit_cast<T>(word);
}
template <class T>
auto bits_of(T value) {
  return std::bit_cast<Word<sizeof(T)>>(value);
}

struct Swap {
  auto operator()(auto, auto data) const { return data; }
};
struct Add {
  auto operator()(auto old, auto data) const { return old + data; }
};
struct Sub {
  auto operator()(auto old, auto data) const { return old - data; }
};
struct ReverseSub {
  auto operator()(auto old, auto data) const { return data - old; }
};
struct And {
  auto operator()(auto old, auto data) const { return old & data; }
};
struct Or {
  auto operator()(auto old, auto data) const { return old | data; }
};
struct Xor {
  auto operator()(auto old, auto data) const { return old ^ data; }
};
struct Increment {  // to 0 after `data`
  auto operator()(auto old, auto data) const { return old >= data ? decltype(old){0} : old + 1; }
};
struct Decrement {  // to `data` after 0
  auto operator()(auto old, auto data) const { return old == 0 || old > data ? data : old - 1; }
};
struct SmallerUnsigned {
  auto operator()(auto old, auto data) const { return data < old ? data : old; }
};
struct LargerUnsigned {
  auto operator()(auto old, auto data) const { return data > old ? data : old; }
};
struct SmallerSigned {
  auto operator()(auto old, auto data) const {
    using S = std::make_signed_t<decltype(old)>;
    return static_cast<S>(data) < static_cast<S>(old) ? data : old;
  }
};
struct LargerSigned {
  auto operator()(auto old, auto data) const {
    using S = std::make_signed_t<decltype(old)>;
    return static_cast<S>(data) > static_cast<S>(old) ? data : old;
  }
};

// ---- numbers: chapter 9.2 of the guide for CDNA 3, with the value in memory as source 0

// States which denormals become zeros of their sign.
struct Flushes {
  bool sources = false, result = false;
};
// Reads bits of MODE from bit `shift` on: the first keeps denormals of sources, the second those of results.
constexpr Flushes flushes_by(uint32_t mode, unsigned shift) {
  return {.sources = (mode >> shift & 1) == 0, .result = (mode >> shift & 2) == 0};
}
constexpr unsigned kSingles = 4, kHalvesAndDoubles = 6;  // bits of MODE

template <class T>
constexpr auto kQuietBit = Word<sizeof(T)>{1} << (sizeof(T) == 4 ? 22 : 51);
template <class T>
T quiet(T x) {
  return as<T>(bits_of(x) | kQuietBit<T>);
}
template <class T>
bool is_signalling(T x) {
  return std::isnan(x) && !(bits_of(x) & kQuietBit<T>);
}
template <class T>
T without_denormal(T x, bool flushes) {
  return flushes && std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(T{0}, x) : x;
}

// In LDS, f32 sums flush denormals as MODE says; in memory they flush their sources. Sums of f64 never flush.
template <class T>
struct AddFloat {
  static Flushes in_lds(uint32_t mode) { return sizeof(T) == 4 ? flushes_by(mode, kSingles) : Flushes{}; }
  static Flushes in_memory() { return {.sources = sizeof(T) == 4}; }
  static T sum(T a, T b) { return std::isnan(a) ? quiet(a) : std::isnan(b) ? quiet(b) : a + b; }
  auto operator()(auto old, auto data, Flushes flushes) const {
    const T a = without_denormal(as<T>(old), flushes.sources), b = without_denormal(as<T>(data), flushes.sources);
    return bits_of<T>(without_denormal(sum(a, b), flushes.result));
  }
};

// The smaller or larger number as it is; a quiet NaN is beyond all, -0 below +0. Denormals are compared flushed.
template <class T, bool kLarger>
struct Extreme {
  static Flushes in_lds(uint32_t mode) {
    return {.sources = flushes_by(mode, sizeof(T) == 4 ? kSingles : kHalvesAndDoubles).sources};
  }
  static Flushes in_memory() { return {}; }
  static bool is_less(T a, T b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }
  auto operator()(auto old, auto data, Flushes flushes) const {
    const T a = as<T>(old), b = as<T>(data);
    if (is_signalling(a)) return bits_of<T>(quiet(a));
    if (is_signalling(b)) return bits_of<T>(quiet(b));
    if (std::isnan(a) || std::isnan(b)) return std::isnan(b) ? old : data;
    const T x = without_denormal(a, flushes.sources), y = without_denormal(b, flushes.sources);
    return (kLarger ? is_less(x, y) : is_less(y, x)) ? data : old;
  }
};
template <class T>
using SmallerFloat = Extreme<T, false>;
template <class T>
using LargerFloat = Extreme<T, true>;

// Two sums of 16 bits; in memory denormals stay.
template <class Half>
struct AddPacked {
  static Flushes in_lds(uint32_t mode) { return flushes_by(mode, kHalvesAndDoubles); }
  static Flushes in_memory() { return {}; }
  static constexpr float kLeastNormal = std::is_same_v<Half, f16> ? 0x1p-14f : 0x1p-126f;
  static float number(uint32_t bits, bool flushes) {
    Half half;
    half.bits = static_cast<uint16_t>(bits);
    const auto x = static_cast<float>(half);
    return flushes && std::fabs(x) < kLeastNormal ? std::copysign(0.0f, x) : x;
  }
  static uint32_t half(uint32_t a, uint32_t b, Flushes flushes) {
    const float x = number(a, flushes.sources), y = number(b, flushes.sources);
    const uint32_t sum = Half(AddFloat<float>::sum(x, y)).bits;
    return flushes.result && std::fabs(number(sum, false)) < kLeastNormal ? sum & 0x8000 : sum;
  }
  auto operator()(auto old, auto data, Flushes flushes) const {
    return half(old, data, flushes) | half(old >> 16, data >> 16, flushes) << 16;
  }
};

// The kind of memory that a word is in, and the MODE of the wave that changes the word.
struct Place {
  bool in_lds;
  uint32_t mode;
};
template <class Operation, class T>
T applied(T old, T data, const Place& place) {
  if constexpr (std::is_invocable_v<Operation, T, T>)
    return Operation{}(old, data);
  else
    return Operation{}(old, data, place.in_lds ? Operation::in_lds(place.mode) : Operation::in_memory());
}
// Compares numbers in LDS: +0 equals -0, NaN equals nothing; if denormals are flushed, so is the new number.
template <class T>
Word<sizeof(T)> compared(Word<sizeof(T)> old, Word<sizeof(T)> wanted, Word<sizeof(T)> data, uint32_t mode) {
  const bool flushes = Extreme<T, false>::in_lds(mode).sources;
  const bool same = without_denormal(as<T>(old), flushes) == without_denormal(as<T>(wanted), flushes);
  return same ? bits_of<T>(without_denormal(as<T>(data), flushes)) : old;
}

// Replaces the word at `place` by make(old) and returns the old one.
template <class T, class Make>
T exchange(std::byte* place, Make make) {
  std::atomic_ref<T> word(*reinterpret_cast<T*>(place));
  T old = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(old, static_cast<T>(make(old)), std::memory_order_relaxed)) continue;
  return old;
}

}  // namespace rung::amdgpu::atomic
