// What atomic instructions make of the old value in memory and their data.
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
template <class T>
struct AddFloat {
  auto operator()(auto old, auto data) const { return bits_of<T>(as<T>(old) + as<T>(data)); }
};
template <class T>
struct SmallerFloat {
  auto operator()(auto old, auto data) const { return bits_of<T>(std::fmin(as<T>(old), as<T>(data))); }
};
template <class T>
struct LargerFloat {
  auto operator()(auto old, auto data) const { return bits_of<T>(std::fmax(as<T>(old), as<T>(data))); }
};
template <class Half>
struct AddPacked {
  static uint32_t half(uint32_t a, uint32_t b) {
    Half x, y;
    x.bits = static_cast<uint16_t>(a), y.bits = static_cast<uint16_t>(b);
    return Half(static_cast<float>(x) + static_cast<float>(y)).bits;
  }
  auto operator()(auto old, auto data) const { return half(old, data) | half(old >> 16, data >> 16) << 16; }
};

// Replaces the word at `place` by make(old) and gives the old one.
template <class T, class Make>
T exchange(std::byte* place, Make make) {
  std::atomic_ref<T> word(*reinterpret_cast<T*>(place));
  T old = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(old, static_cast<T>(make(old)), std::memory_order_relaxed)) continue;
  return old;
}

}  // namespace rung::amdgpu::atomic
