// A fault that an execution found in a kernel: its kind, and where.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rung::amdgpu {

enum class DefectKind : uint8_t {
  out_of_bounds,  // an address that no allocation holds, or beyond the work-group's LDS or scratch
  misaligned,
  uninitialised,      // a register, LDS byte or byte of memory that nobody wrote
  lds_race,           // two waves touch a byte of LDS between barriers, and one of them writes
  global_race,        // two work-groups of a launch touch a byte of memory, one of them writes, not both by atomics
  missing_wait,       // a register or LDS byte used before s_waitcnt made sure of it
  divergent_barrier,  // some waves of a group wait at a barrier that others never reach
  bad_instruction,    // it does not decode, or is not executed here
  trapped,            // the kernel ended itself by s_trap
  endless,            // more instructions than the launch may take
};
// Returns whether a wave can go on after it: registers and bytes hold a value, though nobody wrote it or waited for it.
inline bool leaves_values(DefectKind kind) {
  return kind == DefectKind::uninitialised || kind == DefectKind::lds_race || kind == DefectKind::missing_wait;
}
inline constexpr std::array<const char*, 10> kDefectWords{
    "out of bounds", "misaligned",        "uninitialised",   "LDS race", "global race",
    "missing wait",  "divergent barrier", "bad instruction", "trap",     "endless"};

struct Defect {
  DefectKind kind{};
  std::string kernel;
  uint64_t offset = 0;      // the instruction's, in bytes from the kernel's entry
  std::string instruction;  // as an assembler writes it
  int lane = -1;            // the first at fault; -1: all, or none in particular
  std::array<uint32_t, 3> group{};
  int wave = 0;
  std::string detail;        // addresses and sizes, registers
  std::string text() const;  // one line
};
// Returns all defects in one line, in their order.
std::string text_of(const std::vector<Defect>& defects);

}  // namespace rung::amdgpu
