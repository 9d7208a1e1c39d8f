// The tile of the result that one block of a product's kernel computes, from the kernel's name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung::trace {

// The library decides which side holds the product's rows: some compute the transposed product.
struct KernelTile {
  int64_t first = 0, second = 0;
  int64_t narrower() const { return first < second ? first : second; }
};

// Reads names of Tensile ("MT128x128x64"), cuDNN ("tilesize128x128x32"), CUTLASS ("..gemm_bf16_128x128_32x4",
// "GemmShape<128, 128, 32>") and cuBLAS ("nvjet_sm90_tst_128x256_64x4"). None: the name has no tile in these forms.
std::optional<KernelTile> tile_of(std::string_view kernel);

// Tiles of at least 128 rows and columns; a product of at most 16 rows fills an eighth of one.
inline constexpr int64_t kWideTile = 128, kFewRowsOfTile = 16;
bool is_wide_tile(std::string_view kernel);

// Returns whether the inner dimension is split over blocks: then their number does not show the number of tiles.
bool splits_inner_dimension(std::string_view kernel);

}  // namespace rung::trace
