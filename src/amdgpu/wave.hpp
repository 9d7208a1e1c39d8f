// The state of one wave of 64 lanes while it runs, and what its instructions share with the rest of its work-group.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "amdgpu/execute.hpp"
#include "amdgpu/program.hpp"

namespace rung::amdgpu {

struct Group;  // group.hpp: LDS, memory, counts, checks

struct alignas(64) Lanes {
  uint32_t at[kWaveLanes];
};

// Why a wave does not go on to the next instruction by itself.
enum class Pause : uint8_t { none, barrier, ended, failed };

struct Wave {
  // VGPRs 0..255, then AGPRs 256..511; as many of each as the kernel has.
  static constexpr uint32_t kFirstAgpr = 256;
  std::unique_ptr<Lanes[]> v;
  uint32_t s[128] = {};  // by the number in the encoding: SGPRs, VCC, M0, EXEC
  bool scc = false;
  uint32_t mode = 0;  // rounding in 3:0, denormals in 7:4, as the MODE register
  uint64_t pc = 0;    // address of the next instruction
  uint32_t next = 0;  // its index in the program
  Pause pause = Pause::none;
  // For the checks: lanes in which each register was written, and scalar registers that were.
  std::array<uint64_t, 512> written{};
  std::array<bool, 128> scalar_written{};
  // Registers that an outstanding memory instruction will write; zero: none of this register.
  std::array<uint8_t, 512> pending{};
  std::array<uint8_t, 128> scalar_pending{};
  uint32_t number = 0;  // in its group
  Group* group = nullptr;
  std::vector<std::byte> scratch;  // swizzled by lane: dword d of lane l at (d * 64 + l) * 4

  uint64_t exec() const { return s[kExec] | uint64_t{s[kExec + 1]} << 32; }
  uint64_t vcc() const { return s[kVcc] | uint64_t{s[kVcc + 1]} << 32; }
  void set_exec(uint64_t mask) {
    s[kExec] = static_cast<uint32_t>(mask), s[kExec + 1] = static_cast<uint32_t>(mask >> 32);
  }
  void set_vcc(uint64_t mask) {
    s[kVcc] = static_cast<uint32_t>(mask), s[kVcc + 1] = static_cast<uint32_t>(mask >> 32);
  }
  // Ends this wave with a finding at `instruction`; the first of a launch counts.
  void fail(FindingKind kind, const Instruction& instruction, int lane, std::string detail);
};

}  // namespace rung::amdgpu
