// The AMD architectures whose machine code is read and executed here, and their differences as data.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung::amdgpu {

enum class Target : uint8_t { gfx90a, gfx942, gfx950 };

struct TargetInfo {
  Target target;
  std::string_view name;   // "gfx942"
  uint32_t number;         // 0x942, same as GpuInfo::architecture
  uint32_t elf_machine;    // EF_AMDGPU_MACH in the flags of a code object
  uint32_t lds_bytes;      // per compute unit, and the most that a work-group may have
  uint32_t compute_units;  // of the emulated product: MI250X (one die), MI300X, MI355X
  bool ocp_f8;             // FP8 as the Open Compute Project defines it; else FNUZ
  bool executed;           // by the emulated device; else only read
};

inline constexpr TargetInfo kTargets[] = {
    {Target::gfx90a, "gfx90a", 0x90a, 0x3f, 64 * 1024, 110, false, false},
    {Target::gfx942, "gfx942", 0x942, 0x4c, 64 * 1024, 304, false, true},
    {Target::gfx950, "gfx950", 0x950, 0x4f, 160 * 1024, 256, true, true},
};
constexpr const TargetInfo& info_of(Target target) { return kTargets[static_cast<int>(target)]; }
constexpr std::optional<Target> target_named(std::string_view name) {
  for (const TargetInfo& info : kTargets)
    if (info.name == name) return info.target;
  return std::nullopt;
}
constexpr std::optional<Target> target_of_elf_machine(uint32_t machine) {
  for (const TargetInfo& info : kTargets)
    if (info.elf_machine == machine) return info.target;
  return std::nullopt;
}

inline constexpr int kWaveLanes = 64;

}  // namespace rung::amdgpu
