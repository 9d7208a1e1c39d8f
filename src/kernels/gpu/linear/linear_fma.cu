// Linear layers of few tokens in f32; one block computes each tile.
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

#define RUNG_VARIANT(entry, ...)                                                                                 \
  RUNG_KERNEL((FmaTile{__VA_ARGS__}.threads()), 1) entry(const __grid_constant__ LinearFmaArguments a) {         \
    extern __shared__ __align__(16) float shared_memory[];                                                       \
    LinearFma<FmaTile{__VA_ARGS__}>(a, shared_memory).run(Alone{});                                              \
  }
#include "kernels/gpu/linear/linear_fma.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
