// Checks of what the lanes of a memory instruction access, and the counts of it.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/lane_access.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "amdgpu/global_races.hpp"
#include "amdgpu/memory.hpp"

namespace rung::amdgpu {
namespace {

std::string name_of_register(unsigned index) {
  return index < Wave::kFirstAgpr ? fmt::format("v{}", index) : fmt::format("a{}", index - Wave::kFirstAgpr);
}

bool scalar_readable(Wave& wave, const Instruction& instruction, const Operand& operand) {
  for (unsigned n = operand.number; n < unsigned{operand.number} + operand.registers && n < 128; ++n) {
    if (wave.scalar_pending[n] != 0)
      return wave.fail(FindingKind::missing_wait, instruction, -1, fmt::format("s{} is still being loaded", n)), false;
    if (n < kFlatScratch && !wave.scalar_written[n])
      return wave.fail(FindingKind::uninitialised, instruction, -1, fmt::format("nobody wrote s{}", n)), false;
  }
  return true;
}

// Distinct lines of 128 bytes that the accesses touch.
uint64_t lines_of(const Addresses& addresses, unsigned bytes) {
  constexpr int kShift = 7;
  if (addresses.low >> kShift == (addresses.high + bytes - 1) >> kShift) return 1;
  uint64_t lines[2 * kWaveLanes], last = ~uint64_t{0};
  int count = 0;
  bool sorted = true;
  for (const uint64_t at : addresses.at) {
    for (uint64_t line = at >> kShift; line <= (at + bytes - 1) >> kShift; ++line) {
      if (line == last) continue;
      sorted &= count == 0 || line > last;
      lines[count++] = last = line;
    }
  }
  if (sorted) return count;
  std::sort(lines, lines + count);
  return std::unique(lines, lines + count) - lines;
}

void count_global(Wave& wave, const Addresses& addresses, GlobalAccess access) {
  Counts& counts = wave.group->counts;
  const uint64_t bytes = uint64_t{access.bytes} * static_cast<unsigned>(__builtin_popcountll(addresses.lanes));
  if (access.read) counts.global_bytes_read += bytes;
  if (access.write) counts.global_bytes_written += bytes;
  counts.bytes_by_width[access.bytes <= 2 ? 0 : access.bytes / 4] += bytes;
  counts.cache_lines += lines_of(addresses, access.bytes);
}

const Region* region_of(Wave& wave, uint64_t address, size_t bytes) {
  const Region*& last = wave.group->of(wave).last;
  if (last == nullptr || !last->holds(address, bytes)) last = wave.group->memory->find(address, bytes);
  return last;
}

// One lane's access, or that of all from `address` on.
bool check_region(Wave& wave, const Instruction& instruction, int lane, uint64_t address, GlobalAccess access) {
  const Region* region = region_of(wave, address, access.bytes);
  if (region == nullptr || (access.write && !region->writable)) {
    wave.fail(FindingKind::out_of_bounds, instruction, lane,
              fmt::format("{} bytes at {:#x} are {}", access.bytes, address,
                          region ? "not to be written" : "in no allocation"));
    return false;
  }
  if (access.read && wave.group->checks.uninitialised && !region->all_written(address, access.bytes)) {
    wave.fail(FindingKind::uninitialised, instruction, lane,
              fmt::format("nobody wrote some of {} bytes at {:#x}, {} into an allocation of {}", access.bytes, address,
                          address - region->address(), region->bytes));
    return false;
  }
  if (access.write) region->mark(address, access.bytes);
  return true;
}

// The HSA runtimes let global memory be accessed at any address (unaligned-access-mode), and compilers rely on it.
unsigned wanted_alignment(GlobalAccess access) { return access.atomic ? access.bytes : 1; }

bool aligned(Wave& wave, const Instruction& instruction, const Addresses& addresses, unsigned wanted) {
  uint64_t bits = 0;
  for (const uint64_t at : addresses.at) bits |= at;
  if (bits % wanted == 0) return true;
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (addresses.lanes >> lane & 1 && addresses.at[lane] % wanted != 0) {
      wave.fail(FindingKind::misaligned, instruction, lane,
                fmt::format("{:#x} is no multiple of {}", addresses.at[lane], wanted));
      break;
    }
  return false;
}

// Cycles that lanes of one phase wait for each other: the most dwords wanted of one of 32 banks, less one.
unsigned conflicts_of_phase(const Addresses& addresses, int first, int lanes, unsigned dwords) {
  uint64_t wanted[32][kWaveLanes];
  uint8_t count[32] = {};
  unsigned most = 1;
  for (int lane = first; lane < first + lanes; ++lane) {
    if (!(addresses.lanes >> lane & 1)) continue;
    for (uint64_t dword = addresses.at[lane] / 4, end = dword + dwords; dword < end; ++dword) {
      uint64_t* bank = wanted[dword % 32];
      uint8_t& held = count[dword % 32];
      if (std::find(bank, bank + held, dword) != bank + held) continue;
      bank[held++] = dword;
      most = std::max<unsigned>(most, held);
    }
  }
  return most - 1;
}

}  // namespace

uint64_t bank_conflicts(const Addresses& addresses, unsigned bytes) {
  if (addresses.high - addresses.low < 128) return 0;
  bool consecutive = bytes >= 4;
  for (int lane = 1; lane < kWaveLanes && consecutive; ++lane)
    consecutive = addresses.at[lane] == addresses.at[0] + uint64_t{bytes} * static_cast<unsigned>(lane);
  if (consecutive) return 0;
  const unsigned dwords = std::max(1u, bytes / 4);
  const int lanes = dwords == 1 ? 32 : dwords == 2 ? 16 : 8;
  uint64_t cycles = 0;
  for (int first = 0; first < kWaveLanes; first += lanes) cycles += conflicts_of_phase(addresses, first, lanes, dwords);
  return cycles;
}

bool readable(Wave& wave, const Instruction& instruction, const Operand& operand, uint64_t lanes) {
  if (operand.kind == OperandKind::scalar) return scalar_readable(wave, instruction, operand);
  if (!is_vector(operand)) return true;
  const unsigned first = Wave::place_of(operand);
  for (unsigned r = first; r < first + operand.registers; ++r) {
    if (wave.pending[r] != 0) {
      wave.fail(FindingKind::missing_wait, instruction, -1, name_of_register(r) + " is still being loaded");
      return false;
    }
    const uint64_t missing = lanes & ~wave.written[r];
    if (missing != 0) {
      wave.fail(FindingKind::uninitialised, instruction, __builtin_ctzll(missing),
                "nobody wrote " + name_of_register(r));
      return false;
    }
  }
  return true;
}

bool writable(Wave& wave, const Instruction& instruction, const Operand& operand) {
  if (!is_vector(operand)) return true;
  const unsigned first = Wave::place_of(operand);
  for (unsigned r = first; r < first + operand.registers; ++r)
    if (wave.pending[r] != 0) {
      wave.fail(FindingKind::missing_wait, instruction, -1, name_of_register(r) + " is still being loaded");
      return false;
    }
  return true;
}

uint32_t scalar_value(const Wave& wave, const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::constant:
      return static_cast<uint32_t>(operand.bits);
    case OperandKind::scalar:
      return operand.number < 128 ? wave.s[operand.number] : 0;
    default:
      return 0;
  }
}

void Addresses::close() {
  if (lanes != ~uint64_t{0}) {
    const uint64_t first = at[__builtin_ctzll(lanes)];
    for (int lane = 0; lane < kWaveLanes; ++lane)
      if (!(lanes >> lane & 1)) at[lane] = first;
  }
  low = high = at[0];
  for (const uint64_t address : at) low = std::min(low, address), high = std::max(high, address);
}

bool check_global(Wave& wave, const Instruction& instruction, const Addresses& addresses, GlobalAccess access) {
  if (!aligned(wave, instruction, addresses, wanted_alignment(access))) return false;
  count_global(wave, addresses, access);
  // Lanes that together cover a range are checked as one.
  const uint64_t span = addresses.high - addresses.low + access.bytes;
  const bool dense = span <= uint64_t{access.bytes} * kWaveLanes;
  const Region* region = dense ? region_of(wave, addresses.low, span) : nullptr;
  const bool known = region != nullptr && (region->writable || !access.write) &&
                     (!access.read || !wave.group->checks.uninitialised || region->all_written(addresses.low, span));
  if (!known || access.write) {
    bool fine = true;
    for_lanes(addresses.lanes, [&](int lane) {
      if (fine) fine = check_region(wave, instruction, lane, addresses.at[lane], access);
    });
    if (!fine) return false;
  }
  if (wave.group->races != nullptr) wave.group->races->touch(wave, addresses, access);
  return true;
}

bool check_local(Wave& wave, const Instruction& instruction, const Addresses& addresses, LocalAccess access) {
  Group& group = *wave.group;
  if (addresses.high + access.bytes > group.lds.size()) {
    for (int lane = 0; lane < kWaveLanes; ++lane)
      if (addresses.at[lane] + access.bytes > group.lds.size() && addresses.lanes >> lane & 1) {
        wave.fail(FindingKind::out_of_bounds, instruction, lane,
                  fmt::format("{} bytes at {:#x} of {} of LDS", access.bytes, addresses.at[lane], group.lds.size()));
        return false;
      }
  }
  const unsigned wanted = access.use == LdsUse::atomic ? access.bytes : std::min(access.bytes, 4u);
  if (!aligned(wave, instruction, addresses, wanted)) return false;
  group.counts.lds_bytes += uint64_t{access.bytes} * static_cast<unsigned>(__builtin_popcountll(addresses.lanes));
  group.counts.bank_conflict_cycles += bank_conflicts(addresses, access.bytes);
  if (!group.lds.watched()) return true;
  LdsFault fault;
  const int lane = group.lds.touch({addresses.at, addresses.lanes, access.bytes, wave.number, access.use}, fault);
  if (lane < 0) return true;
  wave.fail(fault.kind, instruction, lane,
            fault.other < 0 ? fmt::format("byte {:#x} of LDS", fault.byte)
                            : fmt::format("byte {:#x} of LDS, with wave {}", fault.byte, fault.other));
  return false;
}

bool check_scratch(Wave& wave, const Instruction& instruction, const Addresses& addresses, unsigned bytes) {
  const size_t size = wave.scratch.size() / kWaveLanes;
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (addresses.lanes >> lane & 1 && (addresses.at[lane] > size || bytes > size - addresses.at[lane])) {
      wave.fail(FindingKind::out_of_bounds, instruction, lane,
                fmt::format("{} bytes at {:#x} of {} of scratch", bytes, addresses.at[lane], size));
      return false;
    }
  return aligned(wave, instruction, addresses, std::min(bytes, 4u));
}

void in_flight(Wave& wave, const Operand* destination, Counter counter, int16_t lds) {
  if (!wave.group->checks.waits) return;
  InFlight work;
  work.lds = lds;
  work.ordered = counter != Counter::both;
  if (destination != nullptr && is_vector(*destination)) {
    work.first = static_cast<uint16_t>(Wave::place_of(*destination));
    work.registers = destination->registers;
  }
  Scoreboard& board = wave.group->of(wave).in_flight;
  if (counter != Counter::local) board.issue_vector(wave, work);
  work.lds = -1;
  if (counter != Counter::vector) {
    if (counter == Counter::local) work.lds = lds;
    board.issue_local(wave, work);
  }
}

}  // namespace rung::amdgpu
