// Two work-groups of two waves that run single instructions, for tests of what is told of waves and groups together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "amdgpu/run/global_races.hpp"
#include "memory_form.hpp"

namespace rung::amdgpu::testing {

class Team {
 public:
  static constexpr uint32_t kBytes = 1 << 16;  // of memory
  explicit Team(size_t lds_bytes = 1 << 16, uint64_t lanes = ~uint64_t{0}) {
    races_.begin(2);
    for (uint32_t g = 0; g < 2; ++g) {
      Group& group = groups_[g];
      group.memory = &memory_, group.races = &races_, group.number = g;
      group.lds.reset(lds_bytes, group.checks);
      group.waves.resize(2), group.memory_of.resize(2);
      for (uint32_t n = 0; n < 2; ++n) begin(group, n, lanes);
    }
    memory_at_ = memory_.allocate(kBytes).value();
    memory_.mark_written(memory_at_, kBytes);
    std::memset(reinterpret_cast<void*>(memory_at_), 0, kBytes);
  }

  Group& group(int g) { return groups_[static_cast<size_t>(g)]; }
  Wave& wave(int g, int n) { return group(g).waves[static_cast<size_t>(n)]; }
  Memory& memory() { return memory_; }
  uint64_t data() const { return memory_at_; }

  // What is told of it.
  std::optional<DefectKind> run(int g, int n, const Instruction& i) {
    Wave& w = wave(g, n);
    ++w.next;
    Handler handler = memory_handler(i, w.isa);
    if (handler == nullptr) handler = alu_handler(i, w.isa);
    handler(w, i);
    std::optional<DefectKind> told;
    if (!group(g).found.empty()) told = group(g).found.front().kind;
    if (w.pause == Pause::failed) told = w.defect.kind;
    group(g).found.clear();
    w.pause = Pause::none, w.defect = {};
    return told;
  }
  std::optional<DefectKind> use(int g, int n, const InstructionOperand& from) {
    Instruction move =
        make_instruction(Opcode::v_cmp_eq_u32, Encoding::vop3, scalar_operand(60, 2), {from, constant_operand(0)});
    if (from.kind == OperandKind::scalar)
      move = make_instruction(Opcode::s_add_u32, Encoding::sop2, scalar_operand(60), {from, constant_operand(0)});
    return run(g, n, move);
  }
  void wait(int g, int n, unsigned vector = 0, unsigned local = 0) {
    Instruction i{.opcode = Opcode::s_waitcnt, .encoding = Encoding::sopp};
    i.immediate = static_cast<int32_t>((vector & 15) | (vector >> 4) << 14 | local << 8 | 0x70);
    run(g, n, i);
  }
  // Of both waves; what is on its way stays on its way.
  void barrier(int g) {
    for (int n = 0; n < 2; ++n) run(g, n, {.opcode = Opcode::s_barrier, .encoding = Encoding::sopp});
    group(g).lds.barrier();
  }
  // All of LDS is written by the first wave, and may be read by both.
  void fill_lds(int g) {
    Lds& lds = group(g).lds;
    lds.touch(0, {.count = static_cast<uint32_t>(lds.size()), .wave = 0, .use = LdsUse::write});
    barrier(g);
  }
  // Where the lanes go: 16 bytes apart from `place` on, of a buffer, memory, LDS or scratch; M0 is there, too.
  void point(int g, int n, const Form& form, uint32_t place) {
    Wave& w = wave(g, n);
    const bool absolute =
        form.counts_vector() && form.space == Space::memory && form.encoding != Encoding::mubuf && !form.by_base;
    for (uint32_t lane = 0; lane < kWaveLanes; ++lane) {
      const uint64_t at = place + 16 * lane;
      const uint64_t address = absolute ? memory_at_ + at : form.is_flat() ? kSharedAperture + at : at;
      w.v[kAddress].at[lane] = static_cast<uint32_t>(address),
      w.v[kAddress + 1].at[lane] = static_cast<uint32_t>(address >> 32);
    }
    const uint64_t base = memory_at_ + (form.is_scalar() ? place : 0);
    for (const unsigned s : {kBase, kResource})
      w.s[s] = static_cast<uint32_t>(base), w.s[s + 1] = static_cast<uint32_t>(base >> 32);
    w.s[kResource + 2] = 0x7fffffff, w.s[kResource + 3] = 0;
    w.s[kM0] = place;
  }

 private:
  static void begin(Group& group, uint32_t n, uint64_t lanes) {
    Wave& w = group.waves[n];
    w.group = &group, w.number = n, w.isa = Isa::gfx950;
    w.set_exec(lanes);
    w.written.fill(~uint64_t{0}), w.scalar_written.fill(true);
    w.scratch.assign(4096 * kWaveLanes, std::byte{0});
    group.memory_of[n].scratch_written.assign(4096 * kWaveLanes, true);
  }
  Memory memory_;
  GlobalRaces races_;
  std::array<Group, 2> groups_;
  uint64_t memory_at_ = 0;
};

// One byte, by lane 0 alone or all.
inline Instruction byte_access(const Form& like, bool store) {
  const bool lds = like.space == Space::lds || like.direct;
  Form form{.encoding = lds ? Encoding::ds : Encoding::global, .space = lds ? Space::lds : Space::memory};
  form.opcode = lds ? (store ? Opcode::ds_write_b8 : Opcode::ds_read_u8)
                    : (store ? Opcode::global_store_byte : Opcode::global_load_ubyte);
  form.results = store ? 0 : 1;
  if (store) form.data = {1};
  return instruction_of(form);
}

}  // namespace rung::amdgpu::testing
