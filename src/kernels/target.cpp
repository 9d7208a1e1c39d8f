// Looks up rows, and opens the targets of the processor and of GPUs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/target.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/log.hpp"
#include "device/cpu/isa_cap.hpp"
#include "device/gpu/compilers/compiler.hpp"
#include "device/gpu/emulated.hpp"
#include "device/gpu/gemm_library.hpp"
#include "device/gpu/gpu.hpp"
#include "device/gpu/modules.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/gpu/cache_line.hpp"
#include "kernels/gpu/kernel.hpp"

namespace rung {

// The rows of one family stand together in the table.
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

const Kernel* Target::library_row(std::string_view family) const {
  if (!gpu) return row_of(family, Role::library);
  const gpu::GemmLibrary* library = machine.gpu.preferred_library();
  if (!library) return nullptr;
  const auto rows = kernels_for(family);
  auto it = std::find_if(rows.begin(), rows.end(), [&](const Kernel* row) { return row->library == library->name; });
  return it == rows.end() ? nullptr : *it;
}

Verdict Target::supports(const Kernel& kernel, const Problem& problem) const {
  if (kernel.source)
    if (const auto compiler = gpu::compiler_for(machine.gpu); !compiler) return reject(compiler.error().message);
  return kernel.supports(problem, machine);
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

// The fingerprint includes the libraries' versions, because a plan was tuned for them, too.
std::string fingerprint_of(std::string_view kind, const gpu::GpuInfo& info) {
  std::vector<std::string> versions;
  for (const gpu::GemmLibrary* library : info.gemm_libraries) versions.push_back(library->version());
  return fmt::format("{} {} {} driver {} {}", kind, info.name, gpu::architecture_name(info.architecture),
                     info.driver_version, fmt::join(versions, ", "));
}

std::vector<const gpu::GemmLibrary*> open_libraries(const gpu::Runtime& runtime) {
  std::vector<const gpu::GemmLibrary*> libraries;
  for (const gpu::GemmLibraryOpener open : runtime.gemm_libraries)
    if (auto library = open())
      libraries.push_back(*library);
    else
      log(1, "{}: its products are left out", library.error().message);
  return libraries;
}

struct DriverKind {
  gpu::Vendor vendor;
  Result<const gpu::Runtime*> (*runtime)();
};
DriverKind driver_of(std::string_view kind) {
  return kind == "hip" ? DriverKind{gpu::Vendor::amd, gpu::hip_runtime}
                       : DriverKind{gpu::Vendor::nvidia, gpu::cuda_runtime};
}

Result<const Target*> open_gpu(const DeviceWord& word) {
  const DriverKind driver = driver_of(word.kind);
  if (auto missing = gpu::missing_modules_reason(driver.vendor); !missing.empty())
    return no_device("no GPU kernels: {}", missing);
  RUNG_TRY(const gpu::Runtime* runtime, driver.runtime());
  RUNG_TRY(auto card, gpu::Gpu::open(*runtime, word.index));
  gpu::GpuInfo info = card->info();
  if (auto verdict = gpu::has_kernels_for(info.architecture); !verdict)
    return no_device("{} is {}; {}", info.name, gpu::architecture_name(info.architecture), verdict.reason);
  info.gemm_libraries = open_libraries(*runtime);
  // The target is never destroyed: static plans and sessions may outlive any order of destruction, and the driver
  // cleans up.
  return new Target{.kind = word.kind,
                    .name = fmt::format("{}:{}", word.kind, word.index),
                    .index = word.index,
                    .fingerprint = fingerprint_of(word.kind, info),
                    .machine = Machine(cpu::cpu_info(), info),
                    .row_bytes = gpu::kCacheLine,
                    .kernels = gpu::all_kernels(),
                    .gpu = std::move(card)};
}

// Opens an AMD GPU that this processor emulates; its fingerprint begins with its word.
Result<const Target*> open_emulated(const DeviceWord& word) {
  const auto emulated = word.emulated();
  if (auto verdict = gpu::has_kernels_for(static_cast<int>(info_of(*emulated).number)); !verdict)
    return no_device("{}: {}", word.kind, verdict.reason);
  RUNG_TRY(auto card, gpu::Gpu::open(gpu::emulated_runtime(*emulated), word.index));
  const gpu::GpuInfo info = card->info();
  return new Target{.kind = word.kind,
                    .name = word.kind,
                    .fingerprint = fmt::format("{} of {} compute units", word.kind, info.multiprocessors),
                    .machine = Machine(cpu::cpu_info(), info),
                    .row_bytes = gpu::kCacheLine,
                    .kernels = gpu::all_kernels(),
                    .gpu = std::move(card)};
}

}  // namespace

Result<const Target*> open_target(const DeviceWord& word) {
  if (const auto cap = cpu::isa_cap(); !cap) return tl::unexpected(cap.error());
  if (word.kind == "cpu") return &cpu_target();
  static std::mutex mutex;
  static std::map<std::pair<std::string, int>, const Target*> open;
  std::lock_guard lock(mutex);
  const auto key = std::pair(word.kind, word.index);
  if (auto it = open.find(key); it != open.end()) {
    RUNG_CHECK(it->second->gpu->check_process());
    return it->second;
  }
  RUNG_TRY(const Target* target, word.emulated() ? open_emulated(word) : open_gpu(word));
  return open[key] = target;
}

}  // namespace rung
