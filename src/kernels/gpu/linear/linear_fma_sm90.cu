// Linear layers of few tokens in f32 on Hopper: the blocks of a cluster share a tile's K, and add up their sums through
// each other's shared memory in the order of their ranks.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_fma.cuh"
#include "kernels/gpu/sm90/send.cuh"

namespace rung::gpu {
namespace {

// The blocks finish tokens in turns: block t % split finishes token t, and has a slot for each block's sums of t.
template <class Block>
struct Cluster {
  using Quad = typename Block::Quad;
  uint32_t split_bits, inbox, received;  // shared addresses: the slots, and the barrier that counts received bytes

  __device__ Cluster(const LinearFmaArguments& a, const float* memory) : split_bits(a.split_bits) {
    const FmaShared all{Block::kTile, kLanes, 1u << a.depth_bits, a.stages, 1u << a.split_bits};
    inbox = shared_address(memory) + all.ring_floats() * 4;
    received = inbox + all.inbox_floats() * 4;
  }
  __device__ uint32_t own_tokens(const Block& block) const {
    return (block.tokens() + block.split - 1 - block.rank) >> split_bits;
  }
  __device__ void begin(const Block& block) const {
    if (threadIdx.x == 0) {
      barrier_init(received, 1);
      barrier_expect(received, own_tokens(block) * block.split * Block::kColumns * 4);
      barrier_init_fence();
    }
    sync_block();
    cluster_arrive();  // the barrier can be used
  }

  __device__ uint32_t slot(Quad quad, uint32_t from) const {
    return inbox + (((quad.token >> split_bits << split_bits) + from) * Block::kColumns + quad.column) * 4;
  }
  __device__ void send(const Block& block, Quad quad) const {
    const uint32_t to = quad.token & (block.split - 1);
    send4({peer_address(slot(quad, block.rank), to), peer_address(received, to)}, block.sum(quad));
  }
  __device__ float4 sum(Quad quad, uint32_t split) const {
    float4 y{};
    for (uint32_t from = 0; from < split; ++from) {
      const float4 part = received4(slot(quad, from));
      y = from == 0 ? part : y + part;
    }
    return y;
  }
  __device__ void finish(const Block& block) const {
    cluster_wait();  // all blocks have begun
    block.for_each_quad(block.tokens(), [&](Quad quad) { send(block, quad); });
    bool waits = true;
    block.for_each_quad(own_tokens(block), [&](Quad quad) {
      quad.token = (quad.token << split_bits) + block.rank;
      const auto epilogue = block.epilogue(quad);
      if (waits) barrier_wait(received, 0);
      waits = false;
      block.store(quad, sum(quad, block.split), epilogue);
    });
    if (waits) barrier_wait(received, 0);  // a block stays as long as others write to it
  }
};

}  // namespace

#define RUNG_VARIANT(entry, ...)                                                                         \
  RUNG_KERNEL((FmaTile{__VA_ARGS__}.threads()), 1) entry(const __grid_constant__ LinearFmaArguments a) { \
    extern __shared__ __align__(16) float shared_memory[];                                               \
    using Block = LinearFma<FmaTile{__VA_ARGS__}>;                                                       \
    Block(a, shared_memory).run(Cluster<Block>(a, shared_memory));                                       \
  }
#include "kernels/gpu/linear/linear_fma_sm90.inc"
#undef RUNG_VARIANT

}  // namespace rung::gpu
