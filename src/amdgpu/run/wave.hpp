// The state of one wave of 64 lanes while it runs, and its links to the rest of its work-group.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "amdgpu/isa/instruction.hpp"
#include "amdgpu/isa/isa.hpp"
#include "amdgpu/run/defect.hpp"
#include "amdgpu/run/lanes.hpp"
#include "amdgpu/run/mode.hpp"

namespace rung::amdgpu {

struct Group;       // group.hpp: LDS, memory, counts, checks
class DecodedCode;  // program.hpp
class Lds;          // lds.hpp

// The reason why a wave does not go on to the next instruction by itself.
enum class Pause : uint8_t { none, barrier, ended, failed };

struct Wave {
  // VGPRs 0..255, then AGPRs 256..511, then room for operands of many registers that begin at the last ones.
  static constexpr uint32_t kFirstAgpr = 256, kVectorRegisters = 512 + 32, kScalarRegisters = 128 + 16;
  std::unique_ptr<Lanes[]> v;                  // kVectorRegisters of them
  std::array<uint32_t, kScalarRegisters> s{};  // by the number in the encoding: SGPRs, VCC, M0, EXEC
  bool scc = false;
  uint32_t mode = Mode::kUsual;
  uint32_t next = 0;  // index in the code of the next instruction; s_getpc and branches ask the code for addresses
  Pause pause = Pause::none;
  Isa isa = Isa::gfx942;
  // For the checks: the lanes in which each register was written, and written scalar registers. All ones: unchecked.
  std::array<uint64_t, kVectorRegisters> written{};
  std::array<bool, kScalarRegisters> scalar_written{};
  // For each register, the number of outstanding memory instructions that will write it.
  std::array<uint8_t, kVectorRegisters> pending{};
  std::array<uint8_t, kScalarRegisters> scalar_pending{};
  // The values of kSharedBase, kSharedLimit, kPrivateBase and kPrivateLimit, by which generic pointers find LDS and
  // scratch.
  std::array<uint64_t, 4> apertures{};
  uint32_t number = 0;  // in its group
  Group* group = nullptr;
  const DecodedCode* code = nullptr;
  std::vector<std::byte> scratch;  // swizzled by lane: dword d of lane l at (d * 64 + l) * 4
  // The defect that ended this wave. Its kind, lane, detail and wave are filled here, the rest by the runner, which
  // has the program.
  Defect defect;

  Wave() : v(std::make_unique<Lanes[]>(kVectorRegisters)) {}

  uint64_t exec() const { return s[kExec] | uint64_t{s[kExec + 1]} << 32; }
  uint64_t vcc() const { return s[kVcc] | uint64_t{s[kVcc + 1]} << 32; }
  void set_exec(uint64_t mask) {
    s[kExec] = static_cast<uint32_t>(mask), s[kExec + 1] = static_cast<uint32_t>(mask >> 32);
  }
  void set_vcc(uint64_t mask) {
    s[kVcc] = static_cast<uint32_t>(mask), s[kVcc + 1] = static_cast<uint32_t>(mask >> 32);
  }
  // Returns the place of a vector operand's first register in `v`, `written` and `pending`.
  static uint32_t place_of(const InstructionOperand& operand) {
    return operand.number + (operand.kind == OperandKind::agpr ? kFirstAgpr : 0);
  }
  // The functions below stand in group.cpp, as they need the group.
  Lds& lds() const;
  // Reports a defect at `instruction`, the one before `next`. The first one ends this wave, unless its group goes on
  // and the defect leaves values; then it is only told. `pause` says which.
  void fail(DefectKind kind, const Instruction& instruction, int lane, std::string detail);
};

}  // namespace rung::amdgpu
