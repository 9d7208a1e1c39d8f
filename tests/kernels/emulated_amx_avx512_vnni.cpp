// AMX's instructions as plain code, below the kernel that is written with them.
// SPDX-License-Identifier: Apache-2.0
#include "emulated_amx.hpp"
#include "kernels/cpu/simd.hpp"

namespace rung::cpu::emulated {
namespace {

// A tile has 16 rows of 64 bytes.
struct TileRegister {
  int8_t bytes[16][64];
};
thread_local TileRegister tiles[8];

void load(int tile, const void* from, int64_t stride) {
  for (int row = 0; row < 16; ++row)
    __builtin_memcpy(tiles[tile].bytes[row], static_cast<const char*>(from) + row * stride, 64);
}
void store(int tile, void* to, int64_t stride) {
  for (int row = 0; row < 16; ++row)
    __builtin_memcpy(static_cast<char*>(to) + row * stride, tiles[tile].bytes[row], 64);
}
void zero(int tile) { __builtin_memset(&tiles[tile], 0, sizeof tiles[tile]); }

// Row r and column c gain the products of x's row r and of the fours of bytes that w's rows have at c.
void multiply_bytes(int sums, int x, int w) {
  for (int r = 0; r < 16; ++r)
    for (int c = 0; c < 16; ++c) {
      int32_t sum;
      __builtin_memcpy(&sum, tiles[sums].bytes[r] + 4 * c, sizeof sum);
      for (int k = 0; k < 64; ++k) sum += tiles[x].bytes[r][k] * tiles[w].bytes[k / 4][4 * c + k % 4];
      __builtin_memcpy(tiles[sums].bytes[r] + 4 * c, &sum, sizeof sum);
    }
}

}  // namespace
}  // namespace rung::cpu::emulated

#undef _tile_loadd
#undef _tile_stored
#undef _tile_zero
#define _tile_loadd(tile, from, stride) emulated::load(tile, from, stride)
#define _tile_stored(tile, to, stride) emulated::store(tile, to, stride)
#define _tile_zero(tile) emulated::zero(tile)
#define _tile_loadconfig(config) static_cast<void>(config)
#define _tile_release() static_cast<void>(0)
#define RUNG_TILE_PRODUCT(sums, x, w) emulated::multiply_bytes(sums, x, w)
#include "kernels/cpu/linear/amx.hpp"

namespace rung::cpu::gemm {

const MicroKernels kEmulatedAmxInt8 = avx512_vnni::amx_kernels<int8_t>(DType::i8);

}  // namespace rung::cpu::gemm
