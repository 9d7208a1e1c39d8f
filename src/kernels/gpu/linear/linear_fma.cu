// Linear layers of few tokens in f32, each tile by one block.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_fma.cuh"

namespace rung::gpu {
namespace {

struct Alone {
  template <class Block>
  __device__ void begin(const Block&) const {}
  template <class Block>
  __device__ void finish(const Block& block) const {
    block.for_each_quad(block.tokens(), [&](typename Block::Quad quad) {
      const auto epilogue = block.epilogue(quad);
      block.store(quad, block.sum(quad), epilogue);
    });
  }
};

}  // namespace
}  // namespace rung::gpu

#define RUNG_LINEAR_FMA(rows, column_warps)                                                                  \
  RUNG_KERNEL((rung::gpu::kFmaTile<rows, column_warps>.threads()), 1)                                        \
      linear_fma_##rows##_##column_warps(const __grid_constant__ rung::gpu::LinearFmaArguments a) {          \
    extern __shared__ __align__(16) float shared_memory[];                                                   \
    rung::gpu::LinearFma<rung::gpu::kFmaTile<rows, column_warps>>(a, shared_memory).run(rung::gpu::Alone{}); \
  }
RUNG_FMA_TILES(RUNG_LINEAR_FMA)
