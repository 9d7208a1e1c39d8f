// Copies of rows of x that convert, pad and gather. Included by one file per instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/linear/finish.hpp"

namespace rung::cpu::RUNG_ISA {

#if defined(__AVX512F__)
// Copies i8 as they are, or 128 above.
static void copy_bytes(const gemm::CopyRows& c) {
  const Ints flip = c.to_type == DType::u8 ? _mm512_set1_epi8(INT8_MIN) : _mm512_setzero_si512();
  const auto lanes = [](int64_t n) { return n >= 64 ? ~__mmask64{0} : n <= 0 ? 0 : (__mmask64{1} << n) - 1; };
  for (int64_t r = 0; r < c.rows; ++r)
    for (int64_t k = 0; k < c.padded; k += 64) {
      const auto* from = static_cast<const int8_t*>(c.from) + r * c.from_stride + k;
      auto* to = static_cast<int8_t*>(c.to) + r * c.to_stride + k;
      const Ints bytes = _mm512_maskz_loadu_epi8(lanes(c.columns - k), from);
      _mm512_mask_storeu_epi8(to, lanes(c.padded - k), _mm512_xor_si512(bytes, flip));
    }
}
#endif

// Copies values that keep their type.
static void copy_as_they_are(const gemm::CopyRows& c, size_t size) {
  const auto* from = static_cast<const char*>(c.from);
  auto* to = static_cast<char*>(c.to);
  const size_t bytes = static_cast<size_t>(c.columns) * size, zeros = static_cast<size_t>(c.padded) * size - bytes;
  for (int64_t r = 0; r < c.rows;
       ++r, from += c.from_stride * static_cast<int64_t>(size), to += c.to_stride * static_cast<int64_t>(size)) {
    __builtin_memcpy(to, from, bytes);
    __builtin_memset(to + bytes, 0, zeros);
  }
}

static void copy_rows(const gemm::CopyRows& c) {
#if defined(__AVX512F__)
  if (c.to_type == DType::i8 || c.to_type == DType::u8) return copy_bytes(c);
#endif
  if (c.from_type == c.to_type && c.columns > 0 && c.columns <= c.padded)
    return copy_as_they_are(c, c.to_type == DType::f32 ? 4 : 2);
  for (int64_t r = 0; r < c.rows; ++r)
    for (int64_t k = 0; k < c.padded; k += kLanes) {
      const int64_t have = c.columns - k, want = c.padded - k;
      const int n = static_cast<int>(have < 0 ? 0 : have < kLanes ? have : kLanes);
      const Vec v = n > 0 ? load_as(c.from, c.from_type, r * c.from_stride + k, n) : zero();
      store_as(c.to, c.to_type, r * c.to_stride + k, v, static_cast<int>(want < kLanes ? want : kLanes));
    }
}

#if defined(__AVX512F__)
// The lanes of two vectors that make each of three interleaved ones: of the first two columns, then of these and the
// third.
struct Interleaving {
  int32_t two[3][kLanes], third[3][kLanes];
  constexpr Interleaving() : two(), third() {
    for (int i = 0; i < 3; ++i)
      for (int lane = 0; lane < kLanes; ++lane) {
        const int row = (i * kLanes + lane) / 3, column = (i * kLanes + lane) % 3;
        two[i][lane] = column == 1 ? kLanes + row : row;
        third[i][lane] = column == 2 ? kLanes + row : lane;
      }
  }
};

// Interleaves three dense columns, such as the colours of an image. Returns the rows that it made.
static int64_t interleave_three(const gemm::CopyRows& c) {
  static constexpr Interleaving kLanesOf;
  const auto* from = static_cast<const float*>(c.from);
  auto* to = static_cast<float*>(c.to);
  int64_t row = 0;
  for (; row + kLanes <= c.rows; row += kLanes) {
    const Vec first = load(from + row), second = load(from + row + c.from_column),
              third = load(from + row + 2 * c.from_column);
    for (int i = 0; i < 3; ++i)
      store(to + row * 3 + i * kLanes,
            _mm512_permutex2var_ps(_mm512_permutex2var_ps(first, _mm512_loadu_si512(kLanesOf.two[i]), second),
                                   _mm512_loadu_si512(kLanesOf.third[i]), third));
  }
  return row;
}
#endif

// Gathers a vector at a time; places repeat after as many vectors as there are columns.
static bool gather_rows(const gemm::CopyRows& c) {
  constexpr int64_t kMostColumns = 16, kFar = INT64_C(1) << 26;
  if (c.columns > kMostColumns || c.from_column > kFar || c.from_stride > kFar) return false;
  if (c.from_type != DType::f32 || c.to_type != DType::f32 || c.padded != c.columns || c.to_stride != c.columns)
    return false;
  int32_t places[kMostColumns * kLanes];
  int32_t* place = places;
  for (int64_t row = 0; row < kLanes; ++row)
    for (int64_t i = 0; i < c.columns; ++i) *place++ = static_cast<int32_t>(row * c.from_stride + i * c.from_column);
  const auto* from = static_cast<const float*>(c.from);
  auto* to = static_cast<float*>(c.to);
  int64_t row = 0;
#if defined(__AVX512F__)
  if (c.columns == 3 && c.from_stride == 1) row = interleave_three(c);
#endif
  for (; row + kLanes <= c.rows; row += kLanes)
    for (int64_t i = 0; i < c.columns; ++i)
      store(to + row * c.columns + i * kLanes, gather(from + row * c.from_stride, places + i * kLanes));
  for (; row < c.rows; ++row)
    for (int64_t i = 0; i < c.columns; ++i) to[row * c.columns + i] = from[row * c.from_stride + i * c.from_column];
  return true;
}

}  // namespace rung::cpu::RUNG_ISA
