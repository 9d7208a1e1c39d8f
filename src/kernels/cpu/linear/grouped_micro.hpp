// Micro-kernels of weights in groups of columns, which multiply few rows of x by a panel: plain tables of functions,
// one for each instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/cpu/linear/micro.hpp"

namespace rung::cpu::gemm {

// A panel has `lanes` columns of w's transpose, in runs of kRun values of k. In a run stands word after word of each
// column: a word has four bytes, one value of 8 bits each, 128 above its number; or eight values of 4 bits, 8 above
// their numbers, four in the lower halves of the bytes and the next four in the upper ones.
inline constexpr int64_t kRun = 32;

// A run of a row of x for micro-kernels that multiply bytes: each x is `step` times a number of several bytes, of which
// plane 0 holds the lowest; all bytes are signed.
struct alignas(64) ByteRun {
  static constexpr int kMostPlanes = 3;
  int8_t planes[kMostPlanes][kRun];
  int32_t sums[kMostPlanes];  // of a plane
  float step;
  float sum;  // of the numbers
};
// The same for micro-kernels that multiply f32.
struct alignas(64) FloatRun {
  float x[kRun];
  float sum;
};

// Runs of rows of x. Row by row they become ByteRun or FloatRun, `runs` each.
struct GroupedRows {
  DType type = DType::f32;
  const void* from = nullptr;
  int64_t from_stride = 0;
  int64_t runs = 0;
  int64_t begin = 0, end = 0;  // the wanted ones of all runs of all rows
  void* to = nullptr;
};

// sums[rows][lanes] = x[rows][k] times one panel, without the scales of its columns.
struct GroupedTile {
  const void* x = nullptr;
  int64_t runs = 0;
  const uint8_t* w = nullptr;
  const void* scales = nullptr;     // [runs][lanes], i8 or f32
  const int8_t* offsets = nullptr;  // the same, i8; of 4 bits alone
  float* sums = nullptr;
};

// The numbers of a panel: of 4 bits, with scales and offsets of i8; of 8 bits, with scales of i8; of 4 bits, with
// scales of f32, which multiply the offsets, too.
enum class GroupedForm : uint8_t { bits_4, bits_8, bits_4_f32 };
constexpr int bits_of(GroupedForm form) { return form == GroupedForm::bits_8 ? 8 : 4; }

struct GroupedKernels {
  static constexpr int kMostRows = 4;
  using TileOf = void (*)(const GroupedTile&);
  int lanes;
  int64_t x_bytes;  // of a run of x
  void (*copy_rows)(const GroupedRows&);
  // By form, by whether x is f32, by rows.
  TileOf tiles[3][2][kMostRows + 1];
  void (*finish)(const Finish&);
};
extern const GroupedKernels kGroupedAvx512Vnni, kGroupedAvx512, kGroupedAvx2;

}  // namespace rung::cpu::gemm
