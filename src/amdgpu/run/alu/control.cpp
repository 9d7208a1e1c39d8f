// Executes branches, calls and ends, accesses to the MODE register, and hints that change nothing here.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "amdgpu/run/alu/handlers.hpp"
#include "amdgpu/run/alu/scalar_operand.hpp"
#include "amdgpu/run/program.hpp"

namespace rung::amdgpu {
namespace {

void do_nothing(Wave&, const Instruction&) {}
void end(Wave& w, const Instruction&) { w.pause = Pause::ended; }
// A kernel that traps has found an error of its own.
void trap(Wave& w, const Instruction& i) { w.fail(DefectKind::trapped, i, -1, "the kernel ends itself"); }

// Returns the address of the instruction behind this one.
uint64_t next_address(const Wave& w, const Instruction& i) { return w.code->address_of(w.next - 1) + i.bytes; }

void go_to(Wave& w, const Instruction& i, uint64_t address) {
  const uint32_t index = w.code->index_at(address);
  if (index == DecodedCode::kNone)
    return w.fail(DefectKind::bad_instruction, i, -1, fmt::format("no instruction begins at {:#x}", address));
  w.next = index;
}
void branch(Wave& w, const Instruction& i) { go_to(w, i, next_address(w, i) + int64_t{i.immediate} * 4); }

template <bool (*kIf)(Wave&, const Instruction&)>
void branch_if(Wave& w, const Instruction& i) {
  if (kIf(w, i) && w.pause == Pause::none) branch(w, i);
}
uint64_t read_vcc(Wave& w, const Instruction& i) {
  return read_scalar64(w, i, {.kind = OperandKind::scalar, .number = kVcc});
}
bool is_scc0(Wave& w, const Instruction&) { return !w.scc; }
bool is_scc1(Wave& w, const Instruction&) { return w.scc; }
bool is_vccz(Wave& w, const Instruction& i) { return read_vcc(w, i) == 0; }
bool is_vccnz(Wave& w, const Instruction& i) { return read_vcc(w, i) != 0; }
bool is_execz(Wave& w, const Instruction&) { return w.exec() == 0; }
bool is_execnz(Wave& w, const Instruction&) { return w.exec() != 0; }

void get_pc(Wave& w, const Instruction& i) { write_scalar64(w, i, i.destination, next_address(w, i)); }
void set_pc(Wave& w, const Instruction& i) {
  const uint64_t to = read_scalar64(w, i, i.sources[0]);
  if (w.pause == Pause::none) go_to(w, i, to);
}
void swap_pc(Wave& w, const Instruction& i) {
  const uint64_t to = read_scalar64(w, i, i.sources[0]), back = next_address(w, i);
  if (w.pause != Pause::none) return;
  write_scalar64(w, i, i.destination, back);
  go_to(w, i, to);
}
void call(Wave& w, const Instruction& i) {
  write_scalar64(w, i, i.destination, next_address(w, i));
  branch(w, i);
}

// The field of a hardware register. Only MODE has an effect here; other registers read as 0.
struct HardwareField {
  static constexpr uint32_t kMode = 1;
  uint32_t number, offset, width;
  explicit HardwareField(const Instruction& i)
      : number(i.immediate & 63), offset(i.immediate >> 6 & 31), width((i.immediate >> 11 & 31) + 1) {}
  uint32_t mask() const { return width == 32 ? ~uint32_t{0} : (uint32_t{1} << width) - 1; }
};
void get_register(Wave& w, const Instruction& i) {
  const HardwareField field(i);
  const uint32_t value = field.number == HardwareField::kMode ? w.mode >> field.offset & field.mask() : 0;
  write_scalar32(w, i, i.destination, value);
}
void set_register(Wave& w, const Instruction& i) {
  const HardwareField field(i);
  const InstructionOperand& from = i.source_count > 0 ? i.sources[0] : i.destination;
  const uint32_t value = read_scalar32(w, i, from);
  if (w.pause != Pause::none || field.number != HardwareField::kMode) return;
  const uint32_t mask = field.mask() << field.offset;
  w.mode = (w.mode & ~mask) | (value << field.offset & mask);
}

}  // namespace

Handler control_handler(const Instruction& instruction) {
  switch (instruction.opcode) {
    using enum Opcode;
    case s_endpgm:
    case s_endpgm_saved:
      return end;
    case s_trap:
      return trap;
    case s_branch:
      return branch;
    case s_cbranch_scc0:
      return branch_if<is_scc0>;
    case s_cbranch_scc1:
      return branch_if<is_scc1>;
    case s_cbranch_vccz:
      return branch_if<is_vccz>;
    case s_cbranch_vccnz:
      return branch_if<is_vccnz>;
    case s_cbranch_execz:
      return branch_if<is_execz>;
    case s_cbranch_execnz:
      return branch_if<is_execnz>;
    case s_getpc_b64:
      return get_pc;
    case s_setpc_b64:
      return set_pc;
    case s_swappc_b64:
      return swap_pc;
    case s_call_b64:
      return call;
    case s_getreg_b32:
      return get_register;
    case s_setreg_b32:
    case s_setreg_imm32_b32:
      return set_register;
    case s_nop:
    case s_sleep:
    case s_setprio:
    case s_sethalt:
    case s_wakeup:
    case s_sendmsg:
    case s_icache_inv:
    case s_incperflevel:
    case s_decperflevel:
    case s_ttracedata:
    case s_setkill:
    case v_nop:
    case v_clrexcp:
      return do_nothing;
    // Only a debugger sets the flags that these branches read.
    case s_cbranch_cdbgsys:
    case s_cbranch_cdbguser:
    case s_cbranch_cdbgsys_or_user:
    case s_cbranch_cdbgsys_and_user:
      return do_nothing;
    default:
      return nullptr;
  }
}

}  // namespace rung::amdgpu
