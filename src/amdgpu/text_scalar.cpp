// What the 16 bits of SOPP and SOPK instructions mean, as an assembler writes it.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/text_parts.hpp"

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

std::string hardware_register(uint32_t value) {
  static constexpr const char* kNames[] = {"",
                                           "HW_REG_MODE",
                                           "HW_REG_STATUS",
                                           "HW_REG_TRAPSTS",
                                           "HW_REG_HW_ID",
                                           "HW_REG_GPR_ALLOC",
                                           "HW_REG_LDS_ALLOC",
                                           "HW_REG_IB_STS"};
  const uint32_t id = value & 63, first = value >> 6 & 31, count = (value >> 11 & 31) + 1;
  std::string text = "hwreg(" + (id > 0 && id < std::size(kNames) ? kNames[id] : std::to_string(id));
  if (first != 0 || count != 32) text += ", " + std::to_string(first) + ", " + std::to_string(count);
  return text + ")";
}

std::string index_modes(uint32_t value) {
  static constexpr const char* kNames[] = {"SRC0", "SRC1", "SRC2", "DST"};
  if (value > 15) return " " + hex(value);
  std::string text;
  for (int i = 0; i < 4; ++i)
    if (value >> i & 1) text += (text.empty() ? "" : ",") + std::string(kNames[i]);
  return " gpr_idx(" + text + ")";
}

std::string sopk_text(const Instruction& made, uint32_t value) {
  switch (made.opcode) {
    case Opcode::s_getreg_b32:
      return " " + register_text(made.destination) + ", " + hardware_register(value);
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:
      return " " + hardware_register(value) + ", " + register_text(made.sources[0]);
    default:
      break;
  }
  const Operand& operand = made.source_count ? made.sources[0] : made.destination;
  const bool is_branch = made.opcode == Opcode::s_call_b64 || made.opcode == Opcode::s_cbranch_i_fork;
  return " " + register_text(operand) + ", " + (is_branch ? std::to_string(value) : hex(value));
}

}  // namespace

std::string scalar_immediate(const Instruction& made) {
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
    default:
      break;
  }
  return made.encoding == Encoding::sopk ? sopk_text(made, value) : " " + std::to_string(value);
}

}  // namespace rung::amdgpu
