// The AMD architectures whose machine code is read and executed here, and their differences as data.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung::amdgpu {

enum class Isa : uint8_t { gfx90a, gfx942, gfx950 };

struct IsaInfo {
  Isa isa;
  std::string_view name;   // "gfx942"
  uint32_t number;         // 0x942, same as GpuInfo::architecture
  uint32_t elf_machine;    // EF_AMDGPU_MACH in the flags of a code object
  uint32_t lds_bytes;      // per compute unit, and the most that a work-group may have
  uint32_t compute_units;  // of the emulated product: MI250X (one die), MI300X, MI355X
  bool ocp_f8;             // FP8 as the Open Compute Project defines it; else FNUZ
  bool executed;           // by the emulated device; else only read
};

inline constexpr IsaInfo kIsas[] = {
    {Isa::gfx90a, "gfx90a", 0x90a, 0x3f, 64 * 1024, 110, false, false},
    {Isa::gfx942, "gfx942", 0x942, 0x4c, 64 * 1024, 304, false, true},
    {Isa::gfx950, "gfx950", 0x950, 0x4f, 160 * 1024, 256, true, true},
};
constexpr const IsaInfo& info_of(Isa isa) { return kIsas[static_cast<int>(isa)]; }
constexpr std::optional<Isa> isa_named(std::string_view name) {
  for (const IsaInfo& info : kIsas)
    if (info.name == name) return info.isa;
  return std::nullopt;
}
constexpr std::optional<Isa> isa_of_elf_machine(uint32_t machine) {
  for (const IsaInfo& info : kIsas)
    if (info.elf_machine == machine) return info.isa;
  return std::nullopt;
}

inline constexpr int kWaveLanes = 64;

}  // namespace rung::amdgpu
