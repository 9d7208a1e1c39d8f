// The cut of streamed layers, and the arguments of their kernels, which do one of them or several in a launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/linear/linear_stream_groups.hpp"
#include "kernels/gpu/occupancy.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

constexpr uint32_t kStreamLeastStages = 3;  // with fewer, weights do not come as fast as the memory gives them

// The cut of a layer into tiles, and of their K into stages.
//
// Blocks of a layer that feeds a norm are small, and those of others large. In a decoder the two kinds take turns:
// q/k/v and the attention's output, gate and down. So each multiprocessor has room for a block of the next kernel,
// which asks for its weights early, but never for two large ones, which would leave another multiprocessor without; and
// where a large one is, there is not room for two small ones.
struct StreamCut {
  static constexpr uint32_t kRoomForAttention = 24 << 10;  // bytes

  StreamOrder order;
  StreamShared shared;
  uint32_t most_stages;
  uint32_t least_bytes;  // of shared memory
  uint32_t blocks;

  StreamCut(const Problem& problem, const GpuInfo& gpu)
      : order(problem), shared{order.chunks, static_cast<uint32_t>(LinearShape(problem).m), order.config} {
    const bool small = order.config.end == StreamEnd::norm;
    const auto all = static_cast<uint32_t>(gpu.shared_bytes_per_block);
    least_bytes = small ? 0 : shared_bytes_apart(gpu);
    const uint32_t most = small ? all - std::min(all, shared_bytes_apart(gpu) + kRoomForAttention) : least_bytes;
    most_stages = std::min((most - std::min(most, shared.ring())) / shared.stage_bytes(), kStreamMostStages);
    blocks = std::min(order.tiles, static_cast<uint32_t>(std::max(gpu.multiprocessors, 1)));
  }
  uint32_t stages(const Problem& problem) const {
    return static_cast<uint32_t>(std::clamp<int64_t>(problem.param("stages", most_stages), 2, most_stages));
  }
  uint32_t shared_bytes(uint32_t stages) const { return std::max(shared.bytes(stages), least_bytes); }
};

// Sets the arguments of one layer, for a launch of its own. Errors: w cannot be described.
Status fill_stream_arguments(const Call& call, LinearStreamArguments& a);

extern const Joining stream_joining;

}  // namespace rung::gpu
