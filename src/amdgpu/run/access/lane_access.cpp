// Checks and counts the accesses of the lanes of a memory instruction.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/access/lane_access.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "amdgpu/run/memory.hpp"

namespace rung::amdgpu {
namespace {

std::string name_of_register(unsigned index) {
  return index < Wave::kFirstAgpr ? fmt::format("v{}", index) : fmt::format("a{}", index - Wave::kFirstAgpr);
}

bool scalar_readable(Wave& wave, const Instruction& instruction, const InstructionOperand& operand) {
  for (unsigned n = operand.number; n < unsigned{operand.number} + operand.registers && n < 128; ++n) {
    if (wave.scalar_pending[n] != 0)
      fail_pending(wave, instruction, {n, true}, fmt::format("s{} is still being loaded", n));
    else if (!wave.scalar_written[n])
      wave.fail(DefectKind::uninitialised, instruction, -1, fmt::format("nobody wrote s{}", n));
  }
  return wave.pause == Pause::none;
}

void count_global(Wave& wave, const LanePattern& pattern, GlobalAccess access) {
  Counts& counts = wave.group->counts;
  const uint64_t bytes = uint64_t{access.bytes} * static_cast<unsigned>(__builtin_popcountll(pattern.lanes));
  if (access.read) counts.global_bytes_read += bytes;
  if (access.write) counts.global_bytes_written += bytes;
  counts.bytes_by_width[access.bytes <= 2 ? 0 : access.bytes / 4] += bytes;
  counts.cache_lines += pattern.lines;
}

const Region* region_of(Wave& wave, uint64_t address, size_t bytes) {
  const Region*& last = wave.group->of(wave).last;
  if (last == nullptr || !last->holds(address, bytes)) last = wave.group->memory->find(address, bytes);
  return last;
}

// Checks one lane's access, or the access of all lanes from `address` on.
bool check_region(Wave& wave, const Instruction& instruction, int lane, uint64_t address, GlobalAccess access) {
  const Region* region = region_of(wave, address, access.bytes);
  if (region == nullptr || (access.write && !region->writable)) {
    wave.fail(DefectKind::out_of_bounds, instruction, lane,
              fmt::format("{} bytes at {:#x} are {}", access.bytes, address,
                          region ? "not to be written" : "in no allocation"));
    return false;
  }
  if (access.read && wave.group->checks.uninitialised && !region->all_written(address, access.bytes)) {
    wave.fail(DefectKind::uninitialised, instruction, lane,
              fmt::format("nobody wrote some of {} bytes at {:#x}, {} into an allocation of {}", access.bytes, address,
                          address - region->address(), region->bytes));
    if (wave.pause != Pause::none) return false;
  }
  if (access.write) region->mark(address, access.bytes);
  return true;
}

// HSA runtimes allow global memory to be accessed at any address (unaligned-access-mode), and compilers rely on it.
unsigned wanted_alignment(GlobalAccess access) { return access.atomic ? access.bytes : 1; }

void refuse_misaligned(Wave& wave, const Instruction& instruction, const Addresses& addresses, unsigned wanted) {
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (addresses.lanes >> lane & 1 && addresses.at[lane] % wanted != 0) {
      wave.fail(DefectKind::misaligned, instruction, lane,
                fmt::format("{:#x} is no multiple of {}", addresses.at[lane], wanted));
      return;
    }
}

bool aligned(Wave& wave, const Instruction& instruction, const Addresses& addresses, const LanePattern& pattern,
             unsigned wanted) {
  if ((addresses.at[0] | pattern.bits) % wanted == 0) return true;
  refuse_misaligned(wave, instruction, addresses, wanted);
  return false;
}

// Returns whether a load or store has the scope of the device or the system, as compilers write atomic and volatile
// ones. On gfx90a nothing tells such stores from others.
bool is_atomic(const Wave& wave, const Instruction& instruction, GlobalAccess access) {
  if (wave.isa != Isa::gfx90a) return instruction.memory.sc1;
  return instruction.memory.sc0 && !access.write;
}

// Checks the bytes of all lanes as runs. Returns false, with nothing marked as written, if any is not allowed.
bool check_runs(Wave& wave, uint64_t lowest, const LanePattern& pattern, GlobalAccess access) {
  const bool wants_written = access.read && wave.group->checks.uninitialised;
  for (const ByteRun& run : pattern.runs) {
    const Region* region = region_of(wave, lowest + run.begin, run.count);
    if (region == nullptr || (access.write && !region->writable)) return false;
    if (wants_written && !region->all_written(lowest + run.begin, run.count)) return false;
  }
  if (!access.write) return true;
  for (const ByteRun& run : pattern.runs)
    region_of(wave, lowest + run.begin, run.count)->mark(lowest + run.begin, run.count);
  return true;
}

}  // namespace

bool readable(Wave& wave, const Instruction& instruction, const InstructionOperand& operand, uint64_t lanes) {
  if (operand.kind == OperandKind::scalar) return scalar_readable(wave, instruction, operand);
  if (!is_vector(operand)) return true;
  const unsigned first = Wave::place_of(operand);
  uint64_t wrong = 0;
  for (unsigned r = first; r < first + operand.registers; ++r) wrong |= wave.pending[r] | (lanes & ~wave.written[r]);
  if (wrong == 0) [[likely]]
    return true;
  for (unsigned r = first; r < first + operand.registers; ++r) {
    const uint64_t missing = lanes & ~wave.written[r];
    if (wave.pending[r] != 0)
      fail_pending(wave, instruction, {r, false}, name_of_register(r) + " is still being loaded");
    else if (missing != 0)
      wave.fail(DefectKind::uninitialised, instruction, __builtin_ctzll(missing),
                "nobody wrote " + name_of_register(r));
  }
  return wave.pause == Pause::none;
}

bool writable(Wave& wave, const Instruction& instruction, const InstructionOperand& operand) {
  if (!is_vector(operand)) return true;
  const unsigned first = Wave::place_of(operand);
  for (unsigned r = first; r < first + operand.registers; ++r)
    if (wave.pending[r] != 0)
      fail_pending(wave, instruction, {r, false}, name_of_register(r) + " is still being loaded");
  return wave.pause == Pause::none;
}

uint32_t scalar_value(const Wave& wave, const InstructionOperand& operand) {
  switch (operand.kind) {
    case OperandKind::constant:
      return static_cast<uint32_t>(operand.bits);
    case OperandKind::scalar:
      return operand.number < 128 ? wave.s[operand.number] : 0;
    default:
      return 0;
  }
}

const LanePattern* check_global(Wave& wave, const Instruction& instruction, const Addresses& addresses,
                                GlobalAccess access) {
  const LanePattern& pattern = wave.group->patterns.of(addresses, access.bytes, LanePatterns::kLineBytes);
  if (!aligned(wave, instruction, addresses, pattern, wanted_alignment(access))) return nullptr;
  count_global(wave, pattern, access);
  const uint64_t lowest = addresses.at[0] + static_cast<uint64_t>(pattern.lowest);
  if (!check_runs(wave, lowest, pattern, access)) {
    bool fine = true;
    for_lanes(addresses.lanes, [&](int lane) {
      if (fine) fine = check_region(wave, instruction, lane, addresses.at[lane], access);
    });
    if (!fine) return nullptr;
  }
  if (wave.group->races == nullptr) return &pattern;
  GlobalAccess seen = access;
  seen.atomic = access.atomic || is_atomic(wave, instruction, access);
  wave.group->races->touch(wave, addresses, pattern, seen);
  return &pattern;
}

const LanePattern* check_local(Wave& wave, const Instruction& instruction, const Addresses& addresses,
                               LocalAccess access) {
  Group& group = *wave.group;
  const LanePattern& pattern = group.patterns.of(addresses, access.bytes, LanePatterns::kDwordBytes);
  const uint64_t lowest = addresses.at[0] + static_cast<uint64_t>(pattern.lowest);
  if (lowest + pattern.span > group.lds.size()) {
    for (int lane = 0; lane < kWaveLanes; ++lane)
      if (addresses.at[lane] + access.bytes > group.lds.size() && addresses.lanes >> lane & 1) {
        wave.fail(DefectKind::out_of_bounds, instruction, lane,
                  fmt::format("{} bytes at {:#x} of {} of LDS", access.bytes, addresses.at[lane], group.lds.size()));
        return nullptr;
      }
  }
  const unsigned wanted = access.use == LdsUse::atomic ? access.bytes : std::min(access.bytes, 4u);
  if (!aligned(wave, instruction, addresses, pattern, wanted)) return nullptr;
  group.counts.lds_bytes += uint64_t{access.bytes} * static_cast<unsigned>(__builtin_popcountll(addresses.lanes));
  group.counts.bank_conflict_cycles += pattern.bank_conflicts;
  if (!group.lds.watched()) return &pattern;
  LdsFault fault;
  const Lds::Access touched{addresses.at, &pattern, access.bytes, wave.number, access.use};
  const int lane = group.lds.touch(touched, fault);
  if (lane < 0) return &pattern;
  wave.fail(fault.kind, instruction, lane,
            fault.other < 0 ? fmt::format("byte {:#x} of LDS", fault.byte)
                            : fmt::format("byte {:#x} of LDS, with wave {}", fault.byte, fault.other));
  if (wave.pause != Pause::none) return nullptr;
  group.lds.settle(touched);
  return &pattern;
}

bool check_scratch(Wave& wave, const Instruction& instruction, const Addresses& addresses, unsigned bytes) {
  const size_t size = wave.scratch.size() / kWaveLanes;
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (addresses.lanes >> lane & 1 && (addresses.at[lane] > size || bytes > size - addresses.at[lane])) {
      wave.fail(DefectKind::out_of_bounds, instruction, lane,
                fmt::format("{} bytes at {:#x} of {} of scratch", bytes, addresses.at[lane], size));
      return false;
    }
  const unsigned wanted = std::min(bytes, 4u);
  uint64_t bits = 0;
  for (const uint64_t at : addresses.at) bits |= at;
  if (bits % wanted != 0) refuse_misaligned(wave, instruction, addresses, wanted);
  return bits % wanted == 0;
}

// Reports a defect of registers that an earlier instruction may write after this one; returns whether the wave ended.
static bool overtakes(Wave& wave, const Instruction& instruction, const InFlight& work, Counter counter) {
  const Scoreboard& board = wave.group->of(wave).in_flight;
  for (unsigned r = work.first; r < unsigned{work.first} + work.registers; ++r) {
    if (wave.pending[r] == 0) [[likely]]
      continue;
    if (counter == Counter::both || board.may_be_overtaken(static_cast<uint16_t>(r), counter == Counter::vector))
      fail_pending(wave, instruction, {r, false}, name_of_register(r) + " is still being loaded");
  }
  return wave.pause != Pause::none;
}

void in_flight(Wave& wave, const Instruction& instruction, const InstructionOperand* destination, Counter counter,
               int16_t lds) {
  if (!wave.group->checks.waits) return;
  InFlight work;
  work.ordered = counter != Counter::both;
  if (destination != nullptr && is_vector(*destination)) {
    work.first = static_cast<uint16_t>(Wave::place_of(*destination));
    work.registers = destination->registers;
    if (overtakes(wave, instruction, work, counter)) return;
  }
  Scoreboard& board = wave.group->of(wave).in_flight;
  if (counter == Counter::both) board.issue_vector(wave, work);
  work.lds = lds;
  counter == Counter::vector ? board.issue_vector(wave, work) : board.issue_local(wave, work);
}

void write_in_flight(Wave& wave, const Instruction& instruction, const Addresses& to, const LdsPlaces& places,
                     Counter counter) {
  if (!wave.group->checks.waits) return;
  const InstructionOperand* result = is_vector(instruction.destination) ? &instruction.destination : nullptr;
  Scoreboard& board = wave.group->of(wave).in_flight;
  const int16_t index = board.new_write(places, to.at, to.lanes);
  in_flight(wave, instruction, result, counter, index);
  if (places.direct) board.mark_direct(wave.group->lds, index);
}

}  // namespace rung::amdgpu
