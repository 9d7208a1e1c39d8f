// Executes loads of scalar registers, clocks, and instructions that empty caches, of which there are none here.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "amdgpu/run/access/vector_memory.hpp"
#include "amdgpu/run/global_races.hpp"
#include "amdgpu/run/memory.hpp"

namespace rung::amdgpu {
namespace {

void nothing(Wave&, const Instruction&) {}

void scalar_in_flight(Wave& wave, const InstructionOperand& destination) {
  if (!wave.group->checks.waits) return;
  InFlight work;
  work.first = destination.number;
  work.registers = destination.registers;
  work.scalar = true;
  work.ordered = false;
  wave.group->of(wave).in_flight.issue_local(wave, work);
}

// Scalar loads overtake each other, so a load must not write a register that another one still writes.
bool destination_free(Wave& wave, const Instruction& instruction) {
  const InstructionOperand& to = instruction.destination;
  for (unsigned n = to.number; n < unsigned{to.number} + to.registers; ++n)
    if (wave.scalar_pending[n] != 0)
      fail_pending(wave, instruction, {n, true}, fmt::format("s{} is still being loaded", n));
  return wave.pause == Pause::none;
}

uint64_t offset_of(const Wave& wave, const Instruction& instruction) {
  const auto offset = static_cast<uint64_t>(int64_t{instruction.memory.offset});
  return offset + scalar_value(wave, instruction.sources[1]);
}

bool check(Wave& wave, const Instruction& instruction, uint64_t address, size_t bytes) {
  if (address % 4 != 0) {
    wave.fail(DefectKind::misaligned, instruction, -1, fmt::format("{:#x} is no multiple of 4", address));
    return false;
  }
  const Region* region = wave.group->memory->find(address, bytes);
  if (region == nullptr) {
    wave.fail(DefectKind::out_of_bounds, instruction, -1,
              fmt::format("{} bytes at {:#x} are in no allocation", bytes, address));
    return false;
  }
  if (wave.group->checks.uninitialised && !region->all_written(address, bytes))
    wave.fail(DefectKind::uninitialised, instruction, -1,
              fmt::format("nobody wrote some of {} bytes at {:#x}", bytes, address));
  if (wave.group->races != nullptr && region->written != nullptr)
    wave.group->races->touch_scalar(wave, address, bytes);  // code and arguments are left out, as nobody writes them
  return wave.pause == Pause::none;
}

void finish(Wave& wave, const InstructionOperand& to) {
  for (unsigned k = 0; k < to.registers; ++k) wave.scalar_written[to.number + k] = true;
  scalar_in_flight(wave, to);
}

void load(Wave& wave, const Instruction& instruction) {
  const InstructionOperand& to = instruction.destination;
  if (!readable(wave, instruction, instruction.sources[0], 0) ||
      !readable(wave, instruction, instruction.sources[1], 0) || !destination_free(wave, instruction))
    return;
  const uint64_t address = scalar_pair(wave, instruction.sources[0]) + offset_of(wave, instruction);
  const size_t bytes = size_t{to.registers} * 4;
  if (!check(wave, instruction, address, bytes)) return;
  std::memcpy(&wave.s[to.number], reinterpret_cast<const void*>(address), bytes);
  finish(wave, to);
}

// Loads through a resource; dwords behind its end read as 0.
void buffer_load(Wave& wave, const Instruction& instruction) {
  const InstructionOperand &to = instruction.destination, &resource = instruction.sources[0];
  if (!readable(wave, instruction, resource, 0) || !readable(wave, instruction, instruction.sources[1], 0) ||
      !destination_free(wave, instruction))
    return;
  const uint64_t base = scalar_pair(wave, resource) & 0xffffffffffffull;
  const uint64_t stride = wave.s[resource.number + 1] >> 16 & 0x3fff, records = wave.s[resource.number + 2];
  const uint64_t end = stride == 0 ? records : stride * records, offset = offset_of(wave, instruction) & ~uint64_t{3};
  for (unsigned k = 0; k < to.registers; ++k) {
    const uint64_t at = offset + 4 * k;
    wave.s[to.number + k] = 0;
    if (at + 4 > end) continue;
    if (!check(wave, instruction, base + at, 4)) return;
    std::memcpy(&wave.s[to.number + k], reinterpret_cast<const void*>(base + at), 4);
  }
  finish(wave, to);
}

// The emulator has no time: its clock counts the group's instructions.
void clock(Wave& wave, const Instruction& instruction) {
  if (!destination_free(wave, instruction)) return;
  const uint64_t now = ++wave.group->instructions;
  wave.s[instruction.destination.number] = static_cast<uint32_t>(now);
  wave.s[instruction.destination.number + 1] = static_cast<uint32_t>(now >> 32);
  finish(wave, instruction.destination);
}

}  // namespace

Handler scalar_memory_handler(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::s_load_dword:
    case Opcode::s_load_dwordx2:
    case Opcode::s_load_dwordx4:
    case Opcode::s_load_dwordx8:
    case Opcode::s_load_dwordx16:
      return load;
    case Opcode::s_buffer_load_dword:
    case Opcode::s_buffer_load_dwordx2:
    case Opcode::s_buffer_load_dwordx4:
    case Opcode::s_buffer_load_dwordx8:
    case Opcode::s_buffer_load_dwordx16:
      return buffer_load;
    case Opcode::s_memtime:
    case Opcode::s_memrealtime:
      return clock;
    case Opcode::s_dcache_inv:
    case Opcode::s_dcache_inv_vol:
    case Opcode::s_dcache_wb:
    case Opcode::s_dcache_wb_vol:
      return nothing;
    default:
      return nullptr;
  }
}

}  // namespace rung::amdgpu
