// Row look-up, and the target of this process's processor.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/log.hpp"
#include "device/gpu/cublaslt.hpp"
#include "device/gpu/gpu.hpp"
#include "device/gpu/modules.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/device_word.hpp"
#include "kernels/gpu/kernel.hpp"

namespace rung {

// Rows of one family stand together in the table.
std::span<const Kernel* const> Target::kernels_for(std::string_view family) const {
  auto of_family = [&](const Kernel* row) { return row->op == family; };
  auto first = std::find_if(kernels.begin(), kernels.end(), of_family);
  return {first, std::find_if_not(first, kernels.end(), of_family)};
}

const Kernel* Target::kernel_named(std::string_view row_name) const {
  auto it = std::find_if(kernels.begin(), kernels.end(), [&](const Kernel* row) { return row->name == row_name; });
  return it == kernels.end() ? nullptr : *it;
}

const Kernel* Target::row_of(std::string_view family, Role role) const {
  const auto rows = kernels_for(family);
  auto it = std::find_if(rows.begin(), rows.end(), [&](const Kernel* row) { return row->role == role; });
  return it == rows.end() ? nullptr : *it;
}

const Target& cpu_target() {
  static const Target target = [] {
    const auto& info = cpu::cpu_info();
    return Target{.kind = "cpu",
                  .name = "cpu",
                  .fingerprint = fmt::format("cpu {} [{}]", info.name, info.isa_text()),
                  .machine = info,
                  .kernels = cpu::all_kernels()};
  }();
  return target;
}

namespace {

constexpr int64_t kCacheLine = 128;

Result<const Target*> open_cuda(int device) {
  if (auto missing = gpu::missing_modules_reason(gpu::Vendor::nvidia); !missing.empty())
    return no_device("no GPU kernels: {}", missing);
  RUNG_TRY(const gpu::Runtime* runtime, gpu::cuda_runtime());
  RUNG_TRY(auto card, gpu::Gpu::open(*runtime, device));
  gpu::GpuInfo info = card->info();
  if (auto verdict = gpu::has_kernels_for(info.architecture); !verdict)
    return no_device("{} is {}; {}", info.name, gpu::architecture_name(info.architecture), verdict.reason);
  Verdict library = gpu::library_gemm_available();
  if (!library) log(1, "{}: own GEMM kernels only", library.reason);
  info.library_gemm = library.yes;
  // Never destroyed: static plans and sessions may outlive any order of destruction, and the driver cleans up.
  return new Target{.kind = "cuda",
                    .name = fmt::format("cuda:{}", device),
                    .fingerprint = fmt::format("cuda {} sm_{} driver {} {}", info.name, info.architecture,
                                               info.driver_version, gpu::library_gemm_version()),
                    .machine = Machine(cpu::cpu_info(), info),
                    .row_bytes = kCacheLine,
                    .kernels = gpu::all_kernels(),
                    .gpu = std::move(card)};
}

}  // namespace

Result<const Target*> open_target(const std::string& device) {
  RUNG_TRY(DeviceWord word, parse_device(device));
  if (word.kind == "cpu") return &cpu_target();
  static std::mutex mutex;
  static std::map<int, const Target*> open;
  std::lock_guard lock(mutex);
  if (auto it = open.find(word.index); it != open.end()) {
    RUNG_CHECK(it->second->gpu->check_process());
    return it->second;
  }
  RUNG_TRY(const Target* target, open_cuda(word.index));
  return open[word.index] = target;
}

}  // namespace rung
