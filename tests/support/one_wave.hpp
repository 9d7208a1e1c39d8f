// A wave alone in its group, for tests of single instructions: registers are set, one instruction runs, others are
// read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <initializer_list>

#include "amdgpu/run/access/memory_handlers.hpp"
#include "amdgpu/run/alu/alu.hpp"
#include "amdgpu/run/group.hpp"
#include "amdgpu/run/memory.hpp"

namespace rung::amdgpu::testing {

inline InstructionOperand vector_operand(unsigned number, unsigned registers = 1) {
  return {
      .kind = OperandKind::vgpr, .registers = static_cast<uint8_t>(registers), .number = static_cast<uint16_t>(number)};
}
inline InstructionOperand accumulator(unsigned number, unsigned registers = 1) {
  InstructionOperand made = vector_operand(number, registers);
  made.kind = OperandKind::agpr;
  return made;
}
inline InstructionOperand scalar_operand(unsigned number, unsigned registers = 1) {
  InstructionOperand made = vector_operand(number, registers);
  made.kind = OperandKind::scalar;
  return made;
}
inline InstructionOperand constant_operand(uint64_t bits) { return {.kind = OperandKind::constant, .bits = bits}; }

// Destination, then sources.
inline Instruction make_instruction(Opcode opcode, Encoding encoding, const InstructionOperand& destination,
                                    std::initializer_list<InstructionOperand> sources) {
  Instruction made{.opcode = opcode, .encoding = encoding, .bytes = 8, .destination = destination};
  for (const InstructionOperand& source : sources) made.sources[made.source_count++] = source;
  return made;
}

class OneWave {
 public:
  explicit OneWave(Isa isa = Isa::gfx942, size_t lds_bytes = 4096, Checks checks = {}) {
    group_.memory = &memory_;
    group_.checks = checks;
    group_.lds.reset(lds_bytes, checks);
    group_.waves.resize(1);
    group_.memory_of.resize(1);
    wave().group = &group_;
    wave().isa = isa;
    wave().set_exec(~uint64_t{0});
    wave().written.fill(~uint64_t{0});
    wave().scalar_written.fill(true);
  }

  Wave& wave() { return group_.waves[0]; }
  Group& group() { return group_; }
  Memory& memory() { return memory_; }
  uint32_t& v(unsigned number, int lane) { return wave().v[number].at[lane]; }
  uint32_t& s(unsigned number) { return wave().s[number]; }
  void set_pair(unsigned number, int lane, uint64_t value) {
    v(number, lane) = static_cast<uint32_t>(value), v(number + 1, lane) = static_cast<uint32_t>(value >> 32);
  }
  void set_scalar_pair(unsigned number, uint64_t value) {
    s(number) = static_cast<uint32_t>(value), s(number + 1) = static_cast<uint32_t>(value >> 32);
  }
  template <class T>
  T* make(const std::vector<T>& values) {
    const uint64_t address = memory_.allocate(values.size() * sizeof(T)).value();
    std::memcpy(reinterpret_cast<void*>(address), values.data(), values.size() * sizeof(T));
    memory_.mark_written(address, values.size() * sizeof(T));
    return reinterpret_cast<T*>(address);
  }
  template <class T>
  T local(uint32_t address) {
    T value;
    std::memcpy(&value, group_.lds.data() + address, sizeof value);
    return value;
  }
  template <class T>
  void set_local(uint32_t address, T value) {
    group_.lds.touch(address, {.count = sizeof value, .use = LdsUse::write});
    std::memcpy(group_.lds.data() + address, &value, sizeof value);
  }

  // Runs it; what it finds wrong fails the test.
  void run(const Instruction& instruction) {
    try_run(instruction);
    EXPECT_EQ(wave().pause, Pause::none) << wave().defect.text();
  }
  // Runs it and tells whether the wave goes on.
  bool try_run(const Instruction& instruction) {
    Handler handler = memory_handler(instruction, wave().isa);
    if (handler == nullptr) handler = matrix_handler(instruction, wave().isa);
    if (handler == nullptr) handler = alu_handler(instruction, wave().isa);
    if (handler == nullptr) {
      ADD_FAILURE() << "nothing executes it";
      return false;
    }
    handler(wave(), instruction);
    return wave().pause == Pause::none;
  }
  // The defect of an instruction that must have one.
  Defect find(const Instruction& instruction) {
    EXPECT_FALSE(try_run(instruction));
    wave().pause = Pause::none;
    return std::exchange(wave().defect, {});
  }
  void wait() {
    Instruction all{.opcode = Opcode::s_waitcnt, .encoding = Encoding::sopp};
    run(all);
  }

 private:
  Memory memory_;
  Group group_;
};

}  // namespace rung::amdgpu::testing
