// A matrix product as all tuning files of all stacks describe it: tuning key, row of a list, part of a message.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "stacks/files/element_type.hpp"

namespace rung::stacks {

// Layouts in BLAS's words, which store column by column and put the weights first: the first letter is w's, the second
// x's. TN is a linear layer, whose weights are stored as [n, k].
enum class GemmLayout : uint8_t { tn, nn, nt, tt };
inline constexpr std::array<std::string_view, 4> kLayoutWords{"TN", "NN", "NT", "TT"};
constexpr std::string_view name_of(GemmLayout layout) { return kLayoutWords[static_cast<size_t>(layout)]; }
constexpr bool transposes_w(GemmLayout layout) { return layout != GemmLayout::nn && layout != GemmLayout::nt; }
constexpr bool transposes_x(GemmLayout layout) { return layout == GemmLayout::nt || layout == GemmLayout::tt; }
std::optional<GemmLayout> layout_named(std::string_view word);  // upper or lower case

enum class Epilogue : uint8_t { none, relu, gelu, silu };
inline constexpr std::array<std::string_view, 4> kEpilogueWords{"none", "relu", "gelu", "silu"};
constexpr std::string_view name_of(Epilogue epilogue) { return kEpilogueWords[static_cast<size_t>(epilogue)]; }

// The scaling of operands of 8 bits and fewer: one factor for each operand, for each row and column, or for each block.
enum class Scaling : uint8_t { none, tensor, row, block };
inline constexpr std::array<std::string_view, 4> kScalingWords{"none", "tensor", "row", "block"};
constexpr std::string_view name_of(Scaling scaling) { return kScalingWords[static_cast<size_t>(scaling)]; }

// out[m, n] = sum over k of x[m, k] w[k, n], for each of `batch`. Operands are stored row by row: x as [m, k], or [k,
// m] if the layout transposes x; w as [n, k] if the layout transposes w, else [k, n]; out as [m, n].
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1;
  ElementType x = ElementType::bf16, w = ElementType::bf16, out = ElementType::bf16;
  GemmLayout layout = GemmLayout::tn;
  int64_t x_stride = 0, w_stride = 0, out_stride = 0;  // elements from row to row in memory; 0: no gap
  std::optional<ElementType> bias;                     // one value for each column of n
  Epilogue epilogue = Epilogue::none;
  Scaling scaling = Scaling::none;
  int64_t count = 1;  // calls in a run; not part of the product's identity

  auto operator<=>(const GemmShape&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 on any <=>
  int64_t dense_x_stride() const { return transposes_x(layout) ? m : k; }
  int64_t dense_w_stride() const { return transposes_w(layout) ? k : n; }
  int64_t dense_out_stride() const { return n; }
};

// The same product in BLAS's column-by-column terms: A is w, B is x, m and n are swapped, strides are leading
// dimensions and always given.
struct BlasShape {
  char trans_a = 'T', trans_b = 'N';
  int64_t m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldc = 0;
};
BlasShape blas_of(const GemmShape& shape);
// Errors, in BLAS's words: a leading dimension below its column. 0 means none, and a single column allows any value.
Status check_leading(const BlasShape& blas);
// Takes sizes, layout and strides from `blas`; strides without a gap become 0. Takes the rest from `other`.
GemmShape shape_of(const BlasShape& blas, GemmShape other = {});

// Return the flops of one call, and its bytes: operands read once and the result written once.
double flops_of(const GemmShape& shape);
double bytes_of(const GemmShape& shape);
// Returns whether they are equal except for the count.
bool same_product(const GemmShape& a, const GemmShape& b);
// Errors: a size below 1, a stride too small for its rows, more elements than an address reaches.
Status check(const GemmShape& shape);
// Returns "m=51 n=1024 k=1024 bf16 TN bias=bf16"; names only properties that differ from a dense product of one type.
std::string text_of(const GemmShape& shape);

}  // namespace rung::stacks
