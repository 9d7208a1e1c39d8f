// The tile of the result that one block of a product's kernel computes, by the kernel's name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung::trace {

// Which side holds the product's rows depends on the library: some compute the transposed product.
struct KernelTile {
  int64_t first = 0, second = 0;
  int64_t narrower() const { return first < second ? first : second; }
};

// As Tensile ("MT128x128x64"), cuDNN ("tilesize128x128x32"), CUTLASS ("..gemm_bf16_128x128_32x4", "GemmShape<128, 128,
// 32>") and cuBLAS ("nvjet_sm90_tst_128x256_64x4") write it. None: the name does not say, or says it otherwise.
std::optional<KernelTile> tile_of(std::string_view kernel);

// Tiles of at least 128 rows and columns, of which a product of at most 16 rows fills an eighth.
inline constexpr int64_t kWideTile = 128, kFewRowsOfTile = 16;
bool is_wide_tile(std::string_view kernel);

// The inner dimension is split over blocks: their number says nothing of the tiles.
bool splits_inner_dimension(std::string_view kernel);

}  // namespace rung::trace
