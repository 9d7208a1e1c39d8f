// Parts shared by memory instructions: registers of a wave's lanes, their addresses, and values as they are in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "amdgpu/run/access/access_lanes.hpp"
#include "amdgpu/run/global_races.hpp"
#include "amdgpu/run/group.hpp"

namespace rung::amdgpu {

// Calls body(lane) for each lane of the mask, from the lowest on.
template <class Body>
inline void for_lanes(uint64_t lanes, Body body) {
  if (lanes == ~uint64_t{0}) {
    for (int lane = 0; lane < kWaveLanes; ++lane) body(lane);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) body(__builtin_ctzll(lanes));
}

inline Lanes* registers_of(Wave& wave, const InstructionOperand& operand) { return &wave.v[Wave::place_of(operand)]; }

// M0, a register that some instructions read without naming it.
inline constexpr InstructionOperand kM0Itself{.kind = OperandKind::scalar, .registers = 1, .number = kM0};

// Returns whether the operand may be read now. If not, the wave has failed: nobody wrote it, or a load has yet to.
bool readable(Wave& wave, const Instruction& instruction, const InstructionOperand& operand, uint64_t lanes);
// Returns whether the operand may be written now: no earlier load will still write it.
bool writable(Wave& wave, const Instruction& instruction, const InstructionOperand& operand);
inline void mark_written(Wave& wave, const InstructionOperand& operand, uint64_t lanes) {
  for (unsigned k = 0, first = Wave::place_of(operand); k < operand.registers; ++k) wave.written[first + k] |= lanes;
}

// Returns a scalar or constant operand of 32 or 64 bits, unchecked.
uint32_t scalar_value(const Wave& wave, const InstructionOperand& operand);
inline uint64_t scalar_pair(const Wave& wave, const InstructionOperand& operand) {
  return wave.s[operand.number] | uint64_t{wave.s[operand.number + 1]} << 32;
}

// Checks and counts accesses of `bytes` at each address, which must be in bounds, aligned, and, for reads, written
// before. If they are not, the wave has failed, and the pattern is null.
const LanePattern* check_global(Wave& wave, const Instruction& instruction, const Addresses& addresses,
                                GlobalAccess access);

// Does the same in LDS, whose addresses are offsets.
struct LocalAccess {
  unsigned bytes;
  LdsUse use;
};
const LanePattern* check_local(Wave& wave, const Instruction& instruction, const Addresses& addresses,
                               LocalAccess access);

// Does the same in scratch, whose addresses are offsets in a lane's part.
bool check_scratch(Wave& wave, const Instruction& instruction, const Addresses& addresses, unsigned bytes);
inline size_t scratch_place(uint64_t offset, int lane) {
  return (offset / 4 * kWaveLanes + static_cast<unsigned>(lane)) * 4 + offset % 4;
}

// Notes that `destination`, and the LDS bytes of the Scoreboard's write `lds`, will be there when s_waitcnt says so. It
// is a defect if another instruction on its way may write the destination after this one.
enum class Counter : uint8_t { vector, local, both };
void in_flight(Wave& wave, const Instruction& instruction, const InstructionOperand* destination, Counter counter,
               int16_t lds = -1);
// Does the same for an instruction that writes LDS at `to`.
void write_in_flight(Wave& wave, const Instruction& instruction, const Addresses& to, const LdsPlaces& places,
                     Counter counter = Counter::local);

// The form in registers of a value of 1 to 16 bytes in memory.
enum class Half : uint8_t { all, low, high };
template <unsigned kBytesOf, bool kSignedOf = false, Half kHalfOf = Half::all>
struct Format {
  static constexpr unsigned kBytes = kBytesOf;

  static void put(Lanes* registers, int lane, const std::byte* from) {
    if constexpr (kBytes >= 4) {
      for (unsigned k = 0; k < kBytes / 4; ++k) std::memcpy(&registers[k].at[lane], from + 4 * k, 4);
    } else {
      uint32_t value = 0;
      std::memcpy(&value, from, kBytes);
      if constexpr (kSignedOf)
        value = static_cast<uint32_t>(static_cast<int32_t>(value << (32 - 8 * kBytes)) >> (32 - 8 * kBytes));
      uint32_t& to = registers->at[lane];
      if constexpr (kHalfOf == Half::all) to = value;
      if constexpr (kHalfOf == Half::low) to = (to & 0xffff0000u) | (value & 0xffffu);
      if constexpr (kHalfOf == Half::high) to = (to & 0xffffu) | value << 16;
    }
  }
  static void get(const Lanes* registers, int lane, std::byte* to) {
    if constexpr (kBytes >= 4) {
      for (unsigned k = 0; k < kBytes / 4; ++k) std::memcpy(to + 4 * k, &registers[k].at[lane], 4);
    } else {
      const uint32_t value = registers->at[lane] >> (kHalfOf == Half::high ? 16 : 0);
      std::memcpy(to, &value, kBytes);
    }
  }
};

// Moves the values of all lanes of `addresses`, which have this pattern, and count from the host address `base`.
template <class F>
void load_lanes(Lanes* to, uint64_t base, const Addresses& addresses, const LanePattern& pattern) {
  const auto place = [&](int lane) { return reinterpret_cast<const std::byte*>(base + addresses.at[lane]); };
  if constexpr (F::kBytes >= 4) {
    if (pattern.in_row) return access_lanes().spread(place(0), to, F::kBytes / 4);
    if (addresses.lanes == ~uint64_t{0}) return access_lanes().gather(base, addresses.at, to, F::kBytes / 4);
  }
  for_lanes(addresses.lanes, [&](int lane) { F::put(to, lane, place(lane)); });
}
template <class F>
void store_lanes(const Lanes* from, uint64_t base, const Addresses& addresses, const LanePattern& pattern) {
  const auto place = [&](int lane) { return reinterpret_cast<std::byte*>(base + addresses.at[lane]); };
  if constexpr (F::kBytes >= 4) {
    if (pattern.in_row) return access_lanes().collect(from, place(0), F::kBytes / 4);
    if (addresses.lanes == ~uint64_t{0}) return access_lanes().scatter(from, base, addresses.at, F::kBytes / 4);
  }
  for_lanes(addresses.lanes, [&](int lane) { F::get(from, lane, place(lane)); });
}

}  // namespace rung::amdgpu
