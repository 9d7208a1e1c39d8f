// Computes occupancy on AMD and NVIDIA.
// SPDX-License-Identifier: Apache-2.0
#include "predict/resident_blocks.hpp"

#include "amdgpu/analysis/occupancy.hpp"
#include "kernels/gpu/occupancy.hpp"

namespace rung {
namespace {

// Limits of a multiprocessor, from the CUDA programming guide's table for compute capability 9.0.
constexpr uint32_t kThreads = 2048, kBlockSlots = 32;

Resident resident_on_nvidia(const gpu::Launch& shape, uint32_t threads, const gpu::GpuInfo& info) {
  const auto all = static_cast<uint32_t>(info.shared_bytes_per_block) + gpu::kReservedSharedBytes;
  const uint32_t by_memory = all / (shape.shared_bytes + gpu::kReservedSharedBytes);
  const uint32_t by_threads = std::min(kThreads / threads, kBlockSlots);
  if (by_memory < by_threads) return {static_cast<double>(by_memory), "shared memory"};
  return {static_cast<double>(by_threads), "threads"};
}

}  // namespace

Result<Resident> resident_blocks(const gpu::RecordedLaunch& launch, const gpu::GpuInfo& info) {
  const uint32_t threads = launch.shape.block.x * launch.shape.block.y * launch.shape.block.z;
  if (!launch.kernel) return resident_on_nvidia(launch.shape, threads, info);
  const amdgpu::KernelInfo& kernel = *launch.kernel;
  const amdgpu::Resources taken{kernel.vgprs, kernel.sgprs, kernel.lds_bytes + launch.shape.shared_bytes, threads};
  for (const amdgpu::IsaInfo& isa : amdgpu::kIsas) {
    if (static_cast<int>(isa.number) != info.architecture) continue;
    RUNG_TRY(const auto occupancy, amdgpu::occupancy_of(taken, isa.isa, amdgpu::OccupancyFormula::exact));
    if (occupancy.groups == 0) return fail("{}: no compute unit of {} holds a block", launch.function, info.name);
    return Resident{static_cast<double>(occupancy.groups), amdgpu::kLimitWords[static_cast<size_t>(occupancy.limit)]};
  }
  return fail("{}: occupancy is not known for {}", launch.function, info.name);
}

}  // namespace rung
