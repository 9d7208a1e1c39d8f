// Computes how many waves of a kernel a compute unit holds at a time, what limits them, and how far the next step is.
// SPDX-License-Identifier: Apache-2.0
// Sources: LLVM's "User Guide for AMDGPU Backend" (units of allocation) and AMD's "Instruction Set Architecture"
// reference guides for CDNA 2, 3 and 4 (sizes of files).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "amdgpu/isa/isa.hpp"
#include "base/status.hpp"

namespace rung::amdgpu {

// Resources of a kernel. `vgprs` counts accumulation registers, too: both kinds share one file.
struct Resources {
  uint32_t vgprs = 0, sgprs = 0;  // per wave
  uint32_t lds_bytes = 0;         // per work-group
  uint32_t threads = 64;          // per work-group
};

enum class Limit : uint8_t { vgprs, sgprs, lds, wave_slots, group_slots };
inline constexpr std::array<const char*, 5> kLimitWords{"vector registers", "scalar registers", "LDS", "wave slots",
                                                        "work-group slots"};

// `guide`: the formula that AMD's MI300X tuning guide publishes: units of 16 vector registers, 64 KB of LDS without a
// unit, and no other limit. `exact`: units of allocation as each architecture has them, and all limits.
enum class OccupancyFormula : uint8_t { exact, guide };

struct Occupancy {
  uint32_t groups = 0;        // work-groups that a compute unit holds; 0: the kernel cannot be launched
  double waves_per_simd = 0;  // on average over the four SIMDs
  Limit limit = Limit::wave_slots;
  std::array<uint32_t, 5> groups_by_limit{};  // by Limit: as many as it alone would allow
  std::array<double, 5> waves_by_limit{};     // per SIMD, by Limit
  // The amount by which a kernel must take less of the limiting resource for one more group: registers per wave, or
  // bytes. 0: taking less makes no room, or slots are the limit.
  uint32_t excess = 0;
  double next_waves_per_simd = 0;  // after that step
};

// Errors (ErrorKind::usage): no threads, or more than 1,024.
Result<Occupancy> occupancy_of(const Resources& resources, Isa isa, OccupancyFormula formula);

// Returns "4 vector registers above 3 waves"; "" if there is no such step.
std::string step_text(const Occupancy& occupancy);

}  // namespace rung::amdgpu
