// Executes DS instructions that move values between lanes and touch no memory: ds_bpermute, ds_permute, ds_swizzle.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/access/vector_memory.hpp"

namespace rung::amdgpu {
namespace {

bool active(uint64_t lanes, unsigned lane) { return lanes >> lane & 1; }

void finish(Wave& wave, const Instruction& instruction, const Lanes& result) {
  const uint64_t lanes = wave.exec();
  Lanes* to = registers_of(wave, instruction.destination);
  for_lanes(lanes, [&](int lane) { to->at[lane] = result.at[lane]; });
  mark_written(wave, instruction.destination, lanes);
  in_flight(wave, instruction, &instruction.destination, Counter::local);
}

// A lane reads the value of the lane at its address / 4, or 0 if that lane is off.
void bpermute(Wave& wave, const Instruction& instruction) {
  const uint64_t lanes = wave.exec();
  const InstructionOperand &index = instruction.sources[0], &data = instruction.sources[1];
  if (!readable(wave, instruction, index, lanes) || !readable(wave, instruction, data, lanes)) return;
  const Lanes *from = registers_of(wave, index), *values = registers_of(wave, data);
  Lanes result;
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    const unsigned other = (from->at[lane] + static_cast<uint32_t>(instruction.memory.offset)) / 4 % kWaveLanes;
    result.at[lane] = active(lanes, other) ? values->at[other] : 0;
  }
  finish(wave, instruction, result);
}

// A lane gives its value to the lane at its address / 4; of several, the last one counts. A lane that gets none has 0.
void permute(Wave& wave, const Instruction& instruction) {
  const uint64_t lanes = wave.exec();
  const InstructionOperand &index = instruction.sources[0], &data = instruction.sources[1];
  if (!readable(wave, instruction, index, lanes) || !readable(wave, instruction, data, lanes)) return;
  const Lanes *to = registers_of(wave, index), *values = registers_of(wave, data);
  Lanes result{};
  for_lanes(lanes, [&](int lane) {
    const unsigned other = (to->at[lane] + static_cast<uint32_t>(instruction.memory.offset)) / 4 % kWaveLanes;
    result.at[other] = values->at[lane];
  });
  finish(wave, instruction, result);
}

// Returns the lane whose number within 32 is `lane`'s with its bits backwards, except for the bits of `kept`, which
// stay in place: the steps of a Fourier transform need this.
unsigned fourier_lane(unsigned lane, unsigned kept) {
  unsigned backwards = 0;
  for (unsigned bit = 0; bit < 5; ++bit) backwards |= (lane >> bit & 1) << (4 - bit);
  return (lane & 0x20) | (backwards >> __builtin_popcount(kept)) | (lane & kept);
}

// Returns the lane that `lane` reads, by the offset's pattern: four lanes in any order, a rotation of 32 lanes, a
// number with its bits backwards, or masks that keep, set and flip bits of the number within 32.
unsigned swizzled(unsigned lane, unsigned pattern) {
  if (pattern >= 0xe000) return fourier_lane(lane, pattern & 0x1f);
  if ((pattern & 0xe000) == 0xc000) {
    const unsigned by = pattern >> 5 & 0x1f, kept = pattern & 0x1f, low = lane & 0x1f;
    const unsigned turned = pattern & 0x400 ? low - by : low + by;
    return (lane & 0x20) | (low & kept) | (turned & 0x1f & ~kept);
  }
  if (pattern & 0x8000) return (lane & ~3u) | (pattern >> 2 * (lane & 3) & 3);
  const unsigned keep = pattern & 0x1f, set = pattern >> 5 & 0x1f, flip = pattern >> 10 & 0x1f;
  return (lane & 0x20) | (((lane & keep) | set) ^ flip);
}

void swizzle(Wave& wave, const Instruction& instruction) {
  const uint64_t lanes = wave.exec();
  if (!readable(wave, instruction, instruction.sources[0], lanes)) return;
  const Lanes* values = registers_of(wave, instruction.sources[0]);
  Lanes result;
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    const unsigned other = swizzled(lane, static_cast<unsigned>(instruction.memory.offset));
    result.at[lane] = active(lanes, other) ? values->at[other] : 0;
  }
  finish(wave, instruction, result);
}

void nothing(Wave& wave, const Instruction& instruction) { in_flight(wave, instruction, nullptr, Counter::local); }

}  // namespace

Handler local_lanes_handler(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::ds_bpermute_b32:
      return bpermute;
    case Opcode::ds_permute_b32:
      return permute;
    case Opcode::ds_swizzle_b32:
      return swizzle;
    case Opcode::ds_nop:
      return nothing;
    default:
      return nullptr;
  }
}

}  // namespace rung::amdgpu
