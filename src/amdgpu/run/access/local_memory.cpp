// Executes reads and writes of LDS by the DS instructions.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/access/vector_memory.hpp"

namespace rung::amdgpu {
namespace {

unsigned first_offset(const Instruction& i) { return static_cast<unsigned>(i.memory.offset) & 0xff; }
unsigned second_offset(const Instruction& i) { return static_cast<unsigned>(i.memory.offset) >> 8 & 0xff; }

// Computes addresses: each active lane's register plus `offset`, modulo 2^32.
bool local_addresses(Wave& wave, const Instruction& instruction, uint32_t offset, Addresses& to) {
  to.lanes = wave.exec();
  if (!readable(wave, instruction, instruction.sources[0], to.lanes)) return false;
  const Lanes* from = registers_of(wave, instruction.sources[0]);
  for (int lane = 0; lane < kWaveLanes; ++lane) to.at[lane] = from->at[lane] + offset;
  to.close();
  return true;
}

// Computes each lane's own place behind M0.
bool lane_addresses(Wave& wave, const Instruction& instruction, Addresses& to) {
  if (!readable(wave, instruction, kM0Itself, 0)) return false;
  to.lanes = wave.exec();
  const uint32_t base = (wave.s[kM0] & 0xffff) + static_cast<uint32_t>(instruction.memory.offset);
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) to.at[lane] = base + 4 * lane;
  to.close();
  return true;
}

template <class F>
void read(Wave& wave, const Instruction& instruction) {
  Addresses addresses;
  if (wave.exec() != 0 &&
      (!local_addresses(wave, instruction, static_cast<uint32_t>(instruction.memory.offset), addresses) ||
       !load_local<F>(wave, instruction, addresses)))
    return;
  in_flight(wave, instruction, &instruction.destination, Counter::local);
}

template <class F>
void write(Wave& wave, const Instruction& instruction) {
  if (wave.exec() == 0) return in_flight(wave, instruction, nullptr, Counter::local);
  Addresses addresses;
  if (!local_addresses(wave, instruction, static_cast<uint32_t>(instruction.memory.offset), addresses) ||
      !store_local<F>(wave, instruction, addresses))
    return;
  write_in_flight(wave, instruction, addresses, {.bytes = F::kBytes});
}

void read_by_lane(Wave& wave, const Instruction& instruction) {
  Addresses addresses;
  if (wave.exec() != 0) {
    if (!lane_addresses(wave, instruction, addresses) || !load_local<Format<4>>(wave, instruction, addresses)) return;
  }
  in_flight(wave, instruction, &instruction.destination, Counter::local);
}

void write_by_lane(Wave& wave, const Instruction& instruction) {
  if (wave.exec() == 0) return in_flight(wave, instruction, nullptr, Counter::local);
  Addresses addresses;
  if (!lane_addresses(wave, instruction, addresses) || !store_local<Format<4>>(wave, instruction, addresses)) return;
  write_in_flight(wave, instruction, addresses, {.bytes = 4});
}

// Returns how many places two offsets access: equal offsets are one place, which has the first datum alone.
int place_count(const Instruction& i) { return first_offset(i) == second_offset(i) ? 1 : 2; }

// Reads up to two places per lane, at offsets in units of kBytes * kStride.
template <unsigned kBytes, unsigned kStride>
void read_two(Wave& wave, const Instruction& instruction) {
  const int places = place_count(instruction);
  InstructionOperand destination = instruction.destination;
  destination.registers = static_cast<uint8_t>(kBytes / 4 * static_cast<unsigned>(places));
  if (wave.exec() != 0) {
    Addresses base;
    if (!local_addresses(wave, instruction, 0, base)) return;
    Lanes* to = registers_of(wave, destination);
    const unsigned offsets[] = {first_offset(instruction), second_offset(instruction)};
    for (int k = 0; k < places; ++k, to += kBytes / 4) {
      Addresses addresses = base;
      for (uint64_t& at : addresses.at) at = static_cast<uint32_t>(at + offsets[k] * kBytes * kStride);
      addresses.close();
      const LanePattern* pattern = check_local(wave, instruction, addresses, {kBytes, LdsUse::read});
      if (pattern == nullptr) return;
      load_lanes<Format<kBytes>>(to, wave.group->lds.address(), addresses, *pattern);
    }
    mark_written(wave, destination, base.lanes);
  }
  in_flight(wave, instruction, &destination, Counter::local);
}

template <unsigned kBytes, unsigned kStride>
void write_two(Wave& wave, const Instruction& instruction) {
  if (wave.exec() == 0) return in_flight(wave, instruction, nullptr, Counter::local);
  Addresses base;
  if (!local_addresses(wave, instruction, 0, base)) return;
  const unsigned offsets[2] = {first_offset(instruction) * kBytes * kStride,
                               second_offset(instruction) * kBytes * kStride};
  const int places = place_count(instruction);
  for (int k = 0; k < places; ++k) {
    const InstructionOperand& data = instruction.sources[1 + k];
    if (!readable(wave, instruction, data, base.lanes)) return;
    Addresses addresses = base;
    for (uint64_t& at : addresses.at) at = static_cast<uint32_t>(at + offsets[k]);
    addresses.close();
    const LanePattern* pattern = check_local(wave, instruction, addresses, {kBytes, LdsUse::write});
    if (pattern == nullptr) return;
    store_lanes<Format<kBytes>>(registers_of(wave, data), wave.group->lds.address(), addresses, *pattern);
  }
  write_in_flight(wave, instruction, base,
                  {.first = offsets[0], .second = offsets[1], .bytes = kBytes, .places = static_cast<uint8_t>(places)});
}

// On gfx950 sixteen lanes read a matrix whose rows are 16 elements of kBits; each lane gets a column.
template <unsigned kBits>
void read_transposed(Wave& wave, const Instruction& instruction) {
  constexpr unsigned kBytes = kBits == 6 ? 12 : 8, kElements = kBytes * 8 / kBits, kLanesOfRow = 16 / kElements;
  if (wave.exec() != 0) {
    Addresses addresses;
    if (!local_addresses(wave, instruction, static_cast<uint32_t>(instruction.memory.offset), addresses) ||
        !check_local(wave, instruction, addresses, {kBytes, LdsUse::read}))
      return;
    const auto element = [&](unsigned lane, unsigned index) {
      const std::byte* from = wave.group->lds.data() + addresses.at[lane];
      unsigned value = 0;
      for (unsigned bit = 0, at = index * kBits; bit < kBits; ++bit, ++at)
        value |= (static_cast<unsigned>(from[at / 8]) >> (at % 8) & 1) << bit;
      return value;
    };
    Lanes* to = registers_of(wave, instruction.destination);
    for_lanes(addresses.lanes, [&](int lane) {
      const auto column = static_cast<unsigned>(lane) % 16, first = static_cast<unsigned>(lane) / 16 * 16;
      uint32_t value[3] = {};
      for (unsigned row = 0; row < kElements; ++row) {
        const uint64_t got = element(first + row * kLanesOfRow + column / kElements, column % kElements);
        const unsigned at = row * kBits;
        value[at / 32] |= static_cast<uint32_t>(got << at % 32);
        if (at % 32 + kBits > 32) value[at / 32 + 1] |= static_cast<uint32_t>(got >> (32 - at % 32));
      }
      for (unsigned k = 0; k < kBytes / 4; ++k) to[k].at[lane] = value[k];
    });
    mark_written(wave, instruction.destination, addresses.lanes);
  }
  in_flight(wave, instruction, &instruction.destination, Counter::local);
}

Handler read_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::ds_read_u8:
      return read<Format<1>>;
    case Opcode::ds_read_i8:
      return read<Format<1, true>>;
    case Opcode::ds_read_u16:
      return read<Format<2>>;
    case Opcode::ds_read_i16:
      return read<Format<2, true>>;
    case Opcode::ds_read_u8_d16:
      return read<Format<1, false, Half::low>>;
    case Opcode::ds_read_u8_d16_hi:
      return read<Format<1, false, Half::high>>;
    case Opcode::ds_read_i8_d16:
      return read<Format<1, true, Half::low>>;
    case Opcode::ds_read_i8_d16_hi:
      return read<Format<1, true, Half::high>>;
    case Opcode::ds_read_u16_d16:
      return read<Format<2, false, Half::low>>;
    case Opcode::ds_read_u16_d16_hi:
      return read<Format<2, false, Half::high>>;
    case Opcode::ds_read_b32:
      return read<Format<4>>;
    case Opcode::ds_read_b64:
      return read<Format<8>>;
    case Opcode::ds_read_b96:
      return read<Format<12>>;
    case Opcode::ds_read_b128:
      return read<Format<16>>;
    case Opcode::ds_read2_b32:
      return read_two<4, 1>;
    case Opcode::ds_read2_b64:
      return read_two<8, 1>;
    case Opcode::ds_read2st64_b32:
      return read_two<4, 64>;
    case Opcode::ds_read2st64_b64:
      return read_two<8, 64>;
    case Opcode::ds_read_addtid_b32:
      return read_by_lane;
    case Opcode::ds_read_b64_tr_b4:
      return read_transposed<4>;
    case Opcode::ds_read_b96_tr_b6:
      return read_transposed<6>;
    case Opcode::ds_read_b64_tr_b8:
      return read_transposed<8>;
    case Opcode::ds_read_b64_tr_b16:
      return read_transposed<16>;
    default:
      return nullptr;
  }
}

Handler write_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::ds_write_b8:
      return write<Format<1>>;
    case Opcode::ds_write_b8_d16_hi:
      return write<Format<1, false, Half::high>>;
    case Opcode::ds_write_b16:
      return write<Format<2>>;
    case Opcode::ds_write_b16_d16_hi:
      return write<Format<2, false, Half::high>>;
    case Opcode::ds_write_b32:
      return write<Format<4>>;
    case Opcode::ds_write_b64:
      return write<Format<8>>;
    case Opcode::ds_write_b96:
      return write<Format<12>>;
    case Opcode::ds_write_b128:
      return write<Format<16>>;
    case Opcode::ds_write2_b32:
      return write_two<4, 1>;
    case Opcode::ds_write2_b64:
      return write_two<8, 1>;
    case Opcode::ds_write2st64_b32:
      return write_two<4, 64>;
    case Opcode::ds_write2st64_b64:
      return write_two<8, 64>;
    case Opcode::ds_write_addtid_b32:
      return write_by_lane;
    default:
      return nullptr;
  }
}

}  // namespace

Handler local_handler(const Instruction& instruction) {
  const Handler handler = read_handler(instruction.opcode);
  return handler != nullptr ? handler : write_handler(instruction.opcode);
}

}  // namespace rung::amdgpu
