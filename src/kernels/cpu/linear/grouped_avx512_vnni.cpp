// Micro-kernels of weights in groups for AVX-512 VNNI: a run of x becomes integers of two bytes, or of three where x is
// f32, and each byte multiplies the weights by one instruction for four of them. So x is as exact as its type, nearly.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/finish.hpp"
#include "kernels/cpu/linear/grouped_micro.hpp"
#include "kernels/cpu/linear/stream.hpp"

namespace rung::cpu::avx512_vnni {
namespace {

using gemm::ByteRun;
using gemm::GroupedForm;
using gemm::kRun;

// The largest number of a run in `planes` signed bytes, below the largest possible one: quotients are rounded.
constexpr float most_of(int planes) { return planes == 2 ? 127.0f * 256 : 127.0f * 65536; }

RUNG_SIMD int32_t sum_of(Ints a) { return _mm512_reduce_add_epi32(a); }

// Splits off the lowest byte, with its sign: what is left is a multiple of 256, divided by it.
RUNG_SIMD Ints split_byte(Ints numbers, int8_t* to, Ints& sums) {
  const Ints low = _mm512_srai_epi32(_mm512_slli_epi32(numbers, 24), 24);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(low));
  sums = _mm512_add_epi32(sums, low);
  return _mm512_srai_epi32(_mm512_sub_epi32(numbers, low), 8);
}

// A run with a NaN or an infinity has a step of NaN.
void copy_run(const gemm::GroupedRows& c, int64_t begin, int planes, ByteRun& to) {
  const Vec x[2] = {load_as(c.from, c.type, begin, kLanes), load_as(c.from, c.type, begin + kLanes, kLanes)};
  const float largest = maximum_size(larger_size(larger_size(no_size(), x[0]), x[1]));
  const float most = most_of(planes);
  constexpr float kSmallest = 1e-30f;  // below it, quotients may be infinite
  to.step = largest < kSmallest ? 0 : largest / most;
  if (!(largest <= __FLT_MAX__)) to.step = __builtin_nanf("");
  const Vec factor = set1(largest < kSmallest ? 0 : most / largest);
  Ints sums[ByteRun::kMostPlanes] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
  for (int half = 0; half < 2; ++half) {
    Ints numbers = _mm512_cvtps_epi32(x[half] * factor);
    for (int plane = 0; plane < planes; ++plane)
      numbers = split_byte(numbers, to.planes[plane] + half * kLanes, sums[plane]);
  }
  to.sum = 0;
  for (int plane = planes - 1; plane >= 0; --plane) {
    to.sums[plane] = sum_of(sums[plane]);
    to.sum = to.sum * 256 + static_cast<float>(to.sums[plane]);
  }
}

void copy_runs(const gemm::GroupedRows& c) {
  const int planes = c.type == DType::f32 ? 3 : 2;
  for (int64_t i = c.begin; i < c.end; ++i)
    copy_run(c, i / c.runs * c.from_stride + i % c.runs * kRun, planes, static_cast<ByteRun*>(c.to)[i]);
}

template <int rows, int planes>
struct ByteSums {
  Ints at[rows][planes];
};

// sums += four numbers of x, from `k` on, times those of each column.
template <int rows, int planes>
RUNG_SIMD void multiply_four(ByteSums<rows, planes>& sums, const ByteRun* x, int64_t runs, Ints w, int k) {
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 3
    for (int plane = 0; plane < planes; ++plane) {
      int four;
      __builtin_memcpy(&four, x[r * runs].planes[plane] + k, sizeof four);
      sums.at[r][plane] = _mm512_dpbusd_epi32(sums.at[r][plane], w, _mm512_set1_epi32(four));
    }
}

// The value of the planes' sums, in steps of x.
template <int planes>
RUNG_SIMD Vec value_of(const Ints* sums) {
  const Ints upper = _mm512_add_epi32(_mm512_slli_epi32(sums[planes - 1], 8), sums[planes - 2]);
  if constexpr (planes == 2) return _mm512_cvtepi32_ps(upper);
  return fma(_mm512_cvtepi32_ps(upper), set1(256), _mm512_cvtepi32_ps(sums[0]));
}

// The factors of a run's sums and of the sum of its x.
struct Factors {
  Vec scale, offset;
};
template <GroupedForm form>
RUNG_SIMD Factors factors(const gemm::GroupedTile& t, int64_t run) {
  if constexpr (form == GroupedForm::bits_4_f32) {
    const Vec scale = load(static_cast<const float*>(t.scales) + run * kLanes);
    return {scale, load(t.offsets + run * kLanes) * scale};
  }
  const Vec scale = load(static_cast<const int8_t*>(t.scales) + run * kLanes);
  return {scale, gemm::bits_of(form) == 4 ? load(t.offsets + run * kLanes) * set1(8) : zero()};
}

// Numbers of a word are 2^(bits - 1) too large, which the sums start from.
template <GroupedForm form, int rows, int planes>
void tile(const gemm::GroupedTile& t) {
  constexpr int bits = gemm::bits_of(form), kBytes = kRun * kLanes * bits / 8;
  const Ints low_halves = _mm512_set1_epi8(15);
  const auto* x = static_cast<const ByteRun*>(t.x);
  const uint8_t* w = t.w;
  Vec y[rows];
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) y[r] = zero();
  for (int64_t run = 0; run < t.runs; ++run, ++x, w += kBytes) {
    prefetch_stream<kBytes>(w);
    ByteSums<rows, planes> sums;
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 3
      for (int plane = 0; plane < planes; ++plane)
        sums.at[r][plane] = _mm512_set1_epi32(x[r * t.runs].sums[plane] * -(1 << (bits - 1)));
#pragma GCC unroll 8
    for (int word = 0; word < bits; ++word) {
      const Ints bytes = _mm512_loadu_si512(w + word * 64);
      if constexpr (bits == 8) {
        multiply_four(sums, x, t.runs, bytes, word * 4);
      } else {
        multiply_four(sums, x, t.runs, _mm512_and_si512(bytes, low_halves), word * 8);
        multiply_four(sums, x, t.runs, _mm512_and_si512(_mm512_srli_epi32(bytes, 4), low_halves), word * 8 + 4);
      }
    }
    const auto [scale, offset] = factors<form>(t, run);
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      Vec of_run = value_of<planes>(sums.at[r]) * scale;
      if constexpr (bits == 4) of_run = fma(offset, set1(x[r * t.runs].sum), of_run);
      y[r] = fma(of_run, set1(x[r * t.runs].step), y[r]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) store(t.sums + r * kLanes, y[r]);
}

constexpr gemm::GroupedKernels grouped_kernels() {
  using enum GroupedForm;
#define RUNG_TILES(form, planes) \
  { nullptr, tile<form, 1, planes>, tile<form, 2, planes>, tile<form, 3, planes>, tile<form, 4, planes> }
  return {.lanes = kLanes,
          .x_bytes = sizeof(ByteRun),
          .copy_rows = copy_runs,
          .tiles = {{RUNG_TILES(bits_4, 2), RUNG_TILES(bits_4, 3)},
                    {RUNG_TILES(bits_8, 2), RUNG_TILES(bits_8, 3)},
                    {RUNG_TILES(bits_4_f32, 2), RUNG_TILES(bits_4_f32, 3)}},
          .finish = finish};
#undef RUNG_TILES
}

}  // namespace
}  // namespace rung::cpu::avx512_vnni

namespace rung::cpu::gemm {

const GroupedKernels kGroupedAvx512Vnni = avx512_vnni::grouped_kernels();

}  // namespace rung::cpu::gemm
