// Writes the 16 bits of SOPP and SOPK instructions by their meaning, as an assembler does.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/isa/decode.hpp"
#include "amdgpu/isa/text_parts.hpp"

namespace rung::amdgpu {
namespace {

std::string counters(uint32_t value) {
  constexpr uint32_t kMostVm = 63, kMostExp = 7, kMostLgkm = 15;
  const uint32_t vm = (value & 15) | (value >> 14 & 3) << 4, exp = value >> 4 & 7, lgkm = value >> 8 & 15;
  const bool all = vm == kMostVm && exp == kMostExp && lgkm == kMostLgkm;
  std::string text;
  if (all || vm != kMostVm) text += " vmcnt(" + std::to_string(vm) + ")";
  if (all || exp != kMostExp) text += " expcnt(" + std::to_string(exp) + ")";
  if (all || lgkm != kMostLgkm) text += " lgkmcnt(" + std::to_string(lgkm) + ")";
  return text;
}

std::string hardware_register(uint32_t value, Isa isa) {
  static constexpr const char* kNames[] = {"",
                                           "MODE",
                                           "STATUS",
                                           "TRAPSTS",
                                           "HW_ID",
                                           "GPR_ALLOC",
                                           "LDS_ALLOC",
                                           "IB_STS",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "SH_MEM_BASES",
                                           "TBA_LO",
                                           "TBA_HI",
                                           "TMA_LO",
                                           "TMA_HI",
                                           "XCC_ID",
                                           "SQ_PERF_SNAPSHOT_DATA",
                                           "SQ_PERF_SNAPSHOT_DATA1",
                                           "SQ_PERF_SNAPSHOT_PC_LO",
                                           "SQ_PERF_SNAPSHOT_PC_HI"};
  const uint32_t known = isa == Isa::gfx90a ? 20 : 25, id = value & 63;
  const uint32_t first = value >> 6 & 31, count = (value >> 11 & 31) + 1;
  const std::string name = id < known ? kNames[id] : "";
  std::string text = "hwreg(" + (name.empty() ? std::to_string(id) : "HW_REG_" + name);
  if (first != 0 || count != 32) text += ", " + std::to_string(first) + ", " + std::to_string(count);
  return text + ")";
}

std::string message(uint32_t value) {
  switch (value) {
    case 1:
      return " sendmsg(MSG_INTERRUPT)";
    case 4:
      return " sendmsg(MSG_SAVEWAVE)";
    default:
      return " " + std::to_string(value);
  }
}

std::string index_modes(uint32_t value) {
  static constexpr const char* kNames[] = {"SRC0", "SRC1", "SRC2", "DST"};
  if (value > 15) return " " + hex(value);
  std::string text;
  for (int i = 0; i < 4; ++i)
    if (value >> i & 1) text += (text.empty() ? "" : ",") + std::string(kNames[i]);
  return " gpr_idx(" + text + ")";
}

std::string literal_or_register(const InstructionOperand& operand) {
  if (operand.kind != OperandKind::constant) return register_text(operand);
  InstructionOperand plain = operand;
  plain.literal = false;
  return register_text(plain);
}

std::string sopk_text(const Instruction& made, uint32_t value, Isa isa) {
  switch (made.opcode) {
    case Opcode::s_getreg_b32:
      return " " + register_text(made.destination) + ", " + hardware_register(value, isa);
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:
      return " " + hardware_register(value, isa) + ", " + literal_or_register(made.sources[0]);
    default:
      break;
  }
  const InstructionOperand& operand = made.source_count ? made.sources[0] : made.destination;
  const bool is_branch = made.opcode == Opcode::s_call_b64 || made.opcode == Opcode::s_cbranch_i_fork;
  return " " + register_text(operand) + ", " + (is_branch ? std::to_string(value) : hex(value));
}

}  // namespace

std::string scalar_immediate(const Instruction& made, Isa isa) {
  const uint32_t value = static_cast<uint16_t>(made.immediate);
  switch (made.opcode) {
    case Opcode::s_waitcnt:
      return counters(value);
    case Opcode::s_set_gpr_idx_on:
    case Opcode::s_set_gpr_idx_mode:
      return index_modes(value);
    case Opcode::s_barrier:
    case Opcode::s_wakeup:
    case Opcode::s_icache_inv:
    case Opcode::s_ttracedata:
    case Opcode::s_endpgm_saved:
    case Opcode::s_set_gpr_idx_off:
    case Opcode::s_endpgm_ordered_ps_done:
      return "";
    case Opcode::s_endpgm:
      return value ? " " + std::to_string(value) : "";
    case Opcode::s_sendmsg:
    case Opcode::s_sendmsghalt:
      return message(value);
    default:
      break;
  }
  if (made.encoding == Encoding::sopk) return sopk_text(made, value, isa);
  const bool is_branch = name_of(made.opcode).starts_with("s_cbranch") || made.opcode == Opcode::s_branch;
  return " " + (is_branch ? std::to_string(value) : small_or_hex(value));
}

}  // namespace rung::amdgpu
