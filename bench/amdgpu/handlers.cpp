// What one emulated instruction costs, by class: wave instructions a second on one core, all checks on.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <string_view>

#include "amdgpu/isa/decode.hpp"
#include "amdgpu/isa/opcode_rows.hpp"
#include "amdgpu/run/alu/alu.hpp"
#include "amdgpu/run/wave.hpp"

using namespace rung::amdgpu;

namespace {

// Registers 8 and up are sources, 2 and up the destination.
Instruction instruction_of(Opcode opcode) {
  const Row& row = row_of(opcode);
  Instruction made;
  made.opcode = opcode, made.encoding = row.encoding, made.source_count = row.source_count;
  const auto operand = [&](const Spec& spec, int number) {
    const bool scalar = row.encoding <= Encoding::sopp || spec.form == Spec::Form::mask;
    return InstructionOperand{.kind = scalar ? OperandKind::scalar : OperandKind::vgpr,
                              .registers = spec.registers,
                              .op_sel_hi = row.encoding == Encoding::vop3p,
                              .number = static_cast<uint16_t>(number)};
  };
  made.destination = operand(row.destination, 2);
  for (int s = 0; s < row.source_count; ++s) made.sources[s] = operand(row.sources[s], 8 + 4 * s);
  if (row.destination.carry) made.carry_out = {.kind = OperandKind::scalar, .registers = 2, .number = kVcc};
  return made;
}

double nanoseconds_of(const Instruction& i, uint64_t exec) {
  Wave w;
  w.written.fill(~uint64_t{0});
  w.scalar_written.fill(true);
  for (uint32_t r = 0; r < 64; ++r)
    for (uint32_t l = 0; l < 64; ++l) w.v[r].at[l] = 0x3f800000 + 977 * r + 131 * l;
  w.set_exec(exec);
  const Handler handler = alu_handler(i, Isa::gfx942);
  if (!handler) return 0;
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {  // the least: others share the machine
    constexpr int kTimes = 40000;
    const auto start = Clock::now();
    for (int k = 0; k < kTimes; ++k) handler(w, i);
    const double each = std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kTimes;
    if (each < best) best = each;
  }
  return w.pause == Pause::none ? best : 0;
}

}  // namespace

int main() {
  using enum Opcode;
  constexpr Opcode kClasses[] = {
      s_add_u32,     s_and_b64,    v_mov_b32,       v_add_u32,     v_lshl_add_u64, v_cndmask_b32, v_add_f32,
      v_fma_f32,     v_fmac_f32,   v_max_f32,       v_pk_fma_f32,  v_cmp_lt_f32,   v_exp_f32,     v_log_f32,
      v_rcp_f32,     v_sin_f32,    v_cvt_f16_f32,   v_cvt_f32_f16, v_pk_add_f16,   v_fma_f16,     v_perm_b32,
      v_mad_i64_i32, v_mul_lo_u32, v_div_scale_f32, v_fma_f64,     v_dot2_f32_f16, v_bfe_u32,     v_ldexp_f32};
  std::printf("%-18s %10s %14s   (with half of the lanes off)\n", "instruction", "ns", "million/s");
  for (const Opcode opcode : kClasses) {
    const Instruction i = instruction_of(opcode);
    const double all = nanoseconds_of(i, ~uint64_t{0}), half = nanoseconds_of(i, 0x00ff00ff0f0f3333);
    std::printf("%-18s %10.1f %14.1f   %10.1f ns\n", std::string(name_of(opcode)).c_str(), all, 1e3 / all, half);
  }
  Instruction moved = instruction_of(v_add_f32);
  moved.is_dpp = true, moved.dpp = {.control = 0x101, .bound_ctrl = true};
  std::printf("%-18s %10.1f ns\n", "v_add_f32_dpp", nanoseconds_of(moved, ~uint64_t{0}));
}
