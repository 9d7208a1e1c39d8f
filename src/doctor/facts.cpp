// Finds facts in the captured files; versions of libraries come from their file names.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/facts.hpp"

#include <fmt/format.h>

#include "doctor/checks.hpp"
#include "doctor/nvidia_settings.hpp"
#include "doctor/told_versions.hpp"

namespace rung::doctor {
namespace {

struct Library {
  std::string_view fact, pattern;
};
constexpr Library kLibraries[] = {
    {"HIP runtime", "opt/rocm/lib/libamdhip64.so*"},
    {"hipBLASLt", "opt/rocm/lib/libhipblaslt.so*"},
    {"rocBLAS", "opt/rocm/lib/librocblas.so*"},
    {"MIOpen", "opt/rocm/lib/libMIOpen.so*"},
    {"RCCL", "opt/rocm/lib/librccl.so*"},
    {"cuBLASLt", "usr/local/cuda/lib64/libcublasLt.so*"},
    {"cuBLASLt (system)", "usr/lib/x86_64-linux-gnu/libcublasLt.so*"},
    {"cuDNN", "usr/lib/x86_64-linux-gnu/libcudnn.so*"},
    {"NCCL", "usr/lib/x86_64-linux-gnu/libnccl.so*"},
};

// Returns "4.4.60401" of librocblas.so, librocblas.so.4 and librocblas.so.4.2.60300.
std::optional<std::string> version_of(const Snapshot& machine, std::string_view pattern) {
  std::string longest;
  for (const std::string& path : machine.matches(pattern)) {
    const size_t end = path.rfind(".so.");
    if (end != path.npos && path.size() - end - 4 > longest.size()) longest = path.substr(end + 4);
  }
  return longest.empty() ? std::nullopt : std::optional(longest);
}

// Returns the value after the last ": " of a line, without quotes and commas.
std::optional<std::string> value_of(std::optional<std::string> line) {
  if (!line) return line;
  if (const size_t colon = line->rfind(':'); colon != line->npos) line->erase(0, colon + 1);
  std::erase_if(*line, [](char c) { return c == '"' || c == ',' || c == '\t'; });
  line->erase(0, std::min(line->find_first_not_of(' '), line->size()));
  return line;
}

// Returns the power limit and the clocks of an NVIDIA GPU, as far as they are told.
std::string nvidia_fact(const Snapshot& machine, const Gpu& gpu) {
  std::string fact;
  for (const NvidiaGpu& told : read_nvidia_settings(machine.read(kNvidiaSettings).value_or("")).gpus) {
    if (told.address != gpu.address) continue;
    if (const auto watts = told.number("GPU Power Readings/Current Power Limit"))
      fact += fmt::format(", {:g} W", *watts);
    const auto now = told.number("Clocks/SM"), most = told.number("Max Clocks/SM");
    if (now && most) fact += fmt::format(", {:g} of {:g} MHz", *now, *most);
  }
  return fact;
}

std::string gpu_fact(const Snapshot& machine, const Gpu& gpu) {
  std::string fact = fmt::format("{}{}{}", gpu.vendor, gpu.device.empty() ? "" : " ", gpu.device);
  if (const auto model = value_of(machine.read("proc/driver/nvidia/gpus/" + gpu.address + "/information")))
    fact += ", " + *model;
  fact += nvidia_fact(machine, gpu);
  const auto compute = machine.read(gpu.folder + "current_compute_partition"),
             memory = machine.read(gpu.folder + "current_memory_partition");
  if (compute) fact += ", " + *compute;
  if (memory) fact += ", " + *memory;
  for (const std::string& path : machine.matches(gpu.folder + "hwmon/*/power1_cap"))
    if (const std::string microwatts = *machine.read(path); microwatts.size() > 6)
      fact += fmt::format(", {} W", microwatts.substr(0, microwatts.size() - 6));
  return fact;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> facts_of(const Snapshot& machine) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](std::string_view name, std::optional<std::string> value) {
    if (value && !value->empty()) facts.emplace_back(name, std::move(*value));
  };
  add("processor", value_of(machine.read("proc/cpuinfo")));
  add("NUMA nodes", machine.read("sys/devices/system/node/online"));
  add("kernel", machine.read("proc/sys/kernel/osrelease"));
  add("amdgpu driver", machine.read("sys/module/amdgpu/version"));
  add("nvidia driver", machine.read("sys/module/nvidia/version"));
  add("ROCm", machine.read("opt/rocm/.info/version"));
  add("CUDA", value_of(machine.read("usr/local/cuda/version.json")));
  for (const Library& library : kLibraries) add(library.fact, version_of(machine, library.pattern));
  for (const Gpu& gpu : gpus_of(machine)) add("GPU " + gpu.address, gpu_fact(machine, gpu));
  const std::vector<KfdGpu> gpus = kfd_gpus_of(machine);
  for (size_t i = 0; i < gpus.size(); ++i) {
    std::string links = gpus[i].links < 0 ? "" : fmt::format(", linked with {}", gpus[i].links);
    add(fmt::format("GPU node {}", i),
        fmt::format("{}, {} compute units{}", gpus[i].architecture, gpus[i].compute_units, links));
  }
  for (auto& [name, value] : read_versions(machine.read(kVersions).value_or(""))) add(name, std::move(value));
  return facts;
}

}  // namespace rung::doctor
