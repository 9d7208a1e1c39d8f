// Micro-kernels of the packed matrix product: plain tables of functions, one per instruction set and tile shape, so
// that the driver is compiled once for any x86-64 and only the inner loops for their instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "ir/dtype.hpp"
#include "ir/op.hpp"
#include "kernels/clipped_line.hpp"

namespace rung::cpu::gemm {

// sums[rows][width] (+)= x[rows][depth] times one packed panel w[depth][width]. The panel has groups of `grain`
// consecutive k; a group has column after column, each with its `grain` values. Grain 1 is f32, grain 2 is pairs of
// bf16, grain 4 is i8. k can be several lines of x: every row has `depth` values in each, and the panel has the lines'
// values in turn. Sums of products of bytes are i32.
struct Tile {
  const void* x = nullptr;
  int64_t x_stride = 0;  // elements from row to row
  const void* w = nullptr;
  int64_t depth = 0;              // values of k in a line, a multiple of the micro-kernel's depth_grain
  int64_t lines = 1, x_line = 0;  // x_line: elements from line to line
  int64_t x_run = 0;              // of a pair: elements from the first run of rows to the second
  float* sums = nullptr;
  bool accumulate = false;         // add to the old values of sums
  const void* prefetch = nullptr;  // memory to prefetch meanwhile; null: none
  int64_t rate = 4;                // lines to prefetch for each four steps of depth_grain, at most 4 prefetch_lines
  // A tile of one row, which waits for the memory that its weights come from: prefetch every line of them shortly
  // before its use, and ignore `prefetch`. What follows the panel in memory is what is read next.
  bool streams = false;
};

// The last step of a tile: out = factor (activation(s sums + bias) + residual), or with a gate
// out = factor (activation(s gate + gate_bias) (s sums + bias) + residual). Pointers point to the tile's first row and
// column. With outliers, s sums is s sums + x_outliers w_outliers.
struct Finish {
  const float* sums = nullptr;
  const float* gate = nullptr;
  bool sums_are_integers = false;  // the bits of sums and gate are i32
  // s is the scale of the column times that of the row, or the scale of the column; there is none where scale is null.
  const float* scale = nullptr;
  const float* gate_scale = nullptr;
  const float* x_scale = nullptr;     // may be null
  int64_t outliers = 0;               // columns of x that are multiplied beside those of 8 bits
  const float* x_outliers = nullptr;  // [rows][outliers]
  const void* w_outliers = nullptr;   // [outliers][width], f32 or bf16
  const void* gate_outliers = nullptr;
  DType outliers_type = DType::f32;
  float factor = 1;
  int64_t width = 0;  // elements from row to row of sums and gate
  int64_t rows = 0, columns = 0;
  const void* bias = nullptr;  // may be null
  const void* gate_bias = nullptr;
  const void* residual = nullptr;  // may be null
  int64_t residual_stride = 0;
  void* out = nullptr;
  int64_t out_stride = 0;
  // f32, bf16 or f16. A bias of i32 is added to sums that are integers, before they are scaled.
  DType bias_type = DType::f32, residual_type = DType::f32, out_type = DType::f32;
  Activation activation = Activation::none;
  const ClippedLine* tail = nullptr;  // over all of that, where there is no activation and no gate; may be null
};

// A copy of rows of f32, bf16, f16 or i8, which widens, rounds or keeps them and fills each row up to `padded` with
// what weights of zero multiply. u8 are i8 plus 128.
struct CopyRows {
  const void* from = nullptr;
  int64_t from_stride = 0;
  int64_t from_column = 1;  // elements from column to column; only gather_rows() takes another number
  DType from_type = DType::f32;
  void* to = nullptr;
  int64_t to_stride = 0;
  DType to_type = DType::f32;
  int64_t rows = 0, columns = 0, padded = 0;
};

// to = a_factor a + b_factor b over runs of f32; `to` may be a or b.
struct RunSum {
  float* to = nullptr;
  const float *a = nullptr, *b = nullptr;
  float a_factor = 1, b_factor = 1;
  int64_t count = 0;
};

inline constexpr int kMaxTileRows = 32;

// How a tile comes by its weights: as w stands, or as the sum or difference of w and w_second, which it keeps in w_sum.
enum class QuarterWeights : uint8_t { plain, sum, difference };

// sums[rows][width] = x[rows][depth] times a panel of weights, then added to one or two quarters of a result.
struct QuarterTile {
  const float* x = nullptr;
  int64_t x_stride = 0;  // elements from row to row
  const float *w = nullptr, *w_second = nullptr;
  float* w_sum = nullptr;
  int64_t depth = 0;
  const void* prefetch = nullptr;  // as Tile has them
  int64_t rate = 0;
  struct Result {
    float* sums = nullptr;  // [rows][width]; null: there is none
    bool begins = false;    // there is nothing to add to
    bool subtracts = false;
  } results[2];
};

// The functions that products of sums of quarters need (strassen.hpp).
struct QuarterKernels {
  int max_rows;  // of a tile
  void (*sum)(const RunSum&);
  void (*scale)(float* to, const float* from, float factor, int64_t count);
  float (*largest)(const float* x, int64_t count);         // size; a NaN is above an infinity
  void (*tiles[kMaxTileRows + 1][3])(const QuarterTile&);  // by rows and weights
};

struct MicroKernels {
  DType x_type, w_type;
  int width;           // columns of a panel
  int max_rows;        // of a tile
  int row_grain;       // rows of a tile are a multiple of this
  int depth_grain;     // k is padded to a multiple of this
  int pack_grain;      // values of k side by side in a panel
  int prefetch_lines;  // the most for each step; where they are several, a tile always prefetches as many
  // Bytes of x are so much above their numbers. Then a panel begins with what its sums start from, i32 [width]: minus
  // that much times the sums of its columns.
  int x_offset;
  void (*tiles[kMaxTileRows + 1])(const Tile&);  // by rows; null where row_grain excludes the number
  // The same for a panel with at most `narrow` columns, whose other columns of sums they leave alone; 0: there are
  // none.
  int narrow;
  void (*narrow_tiles[kMaxTileRows + 1])(const Tile&);
  // Two runs of at most `most_paired` rows each, by the rows of a run; 0: there are none.
  int most_paired;
  void (*pair_tiles[kMaxTileRows / 2 + 1])(const Tile&);
  // Returns the tile of `rows` rows for a panel of `columns` columns.
  auto tile_for(int64_t rows, int64_t columns) const { return (columns <= narrow ? narrow_tiles : tiles)[rows]; }
  bool sums_are_integers() const { return x_type == DType::i8 || x_type == DType::u8; }
  int64_t head_bytes() const { return x_offset ? width * 4 : 0; }  // of a panel, before its weights
  void (*finish)(const Finish&);
  void (*copy_rows)(const CopyRows&);
  bool (*gather_rows)(const CopyRows&);      // of f32 into dense f32 without padding; false: there are too many columns
  void (*enter)();                           // called before a thread's first tile; may be null
  void (*leave)();                           // called after its last tile; may be null
  const QuarterKernels* quarters = nullptr;  // null: there are none
};

// Names end in the columns of a panel: AVX2 has 24 and 16, AVX-512 32 and 48.
extern const MicroKernels kAvx2F32x24, kAvx2F32x16, kAvx2Bf16x16;
extern const MicroKernels kAvx512F32x32, kAvx512F32x48, kAvx512Bf16x32, kAvx512Bf16x48;
extern const MicroKernels kAvx512DotBf16x32, kAvx512DotBf16x48;
extern const MicroKernels kAmxBf16x32;
// These have i8 weights: the first row's multiply f32, the second's i8.
extern const MicroKernels kAvx2Int8x16, kAvx512Int8x32, kAvx512Int8x48;
extern const MicroKernels kAvx512DotInt8x32, kAvx512DotInt8x48, kAmxInt8x32;

}  // namespace rung::cpu::gemm
