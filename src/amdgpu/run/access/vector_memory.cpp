// Executes loads and stores of flat, global and scratch instructions.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/access/vector_memory.hpp"

namespace rung::amdgpu {
namespace {

template <class F>
void global_load(Wave& wave, const Instruction& instruction) {
  Addresses addresses;
  if (wave.exec() != 0 &&
      (!global_addresses(wave, instruction, 1, addresses) || !load_global<F>(wave, instruction, addresses)))
    return;
  in_flight(wave, instruction, &instruction.destination, Counter::vector);
}

template <class F>
void global_store(Wave& wave, const Instruction& instruction) {
  Addresses addresses;
  if (wave.exec() != 0 &&
      (!global_addresses(wave, instruction, 2, addresses) || !store_global<F>(wave, instruction, addresses)))
    return;
  in_flight(wave, instruction, nullptr, Counter::vector);
}

template <class F>
void scratch_load(Wave& wave, const Instruction& instruction) {
  Addresses addresses;
  if (wave.exec() != 0 &&
      (!scratch_addresses(wave, instruction, 1, addresses) || !load_scratch<F>(wave, instruction, addresses)))
    return;
  in_flight(wave, instruction, &instruction.destination, Counter::vector);
}

template <class F>
void scratch_store(Wave& wave, const Instruction& instruction) {
  Addresses addresses;
  if (wave.exec() != 0 &&
      (!scratch_addresses(wave, instruction, 2, addresses) || !store_scratch<F>(wave, instruction, addresses)))
    return;
  in_flight(wave, instruction, nullptr, Counter::vector);
}

template <class F>
void flat_load(Wave& wave, const Instruction& instruction) {
  Addresses addresses;
  if (wave.exec() != 0) {
    if (!global_addresses(wave, instruction, 1, addresses)) return;
    Spaces spaces;
    split_spaces(addresses, spaces);
    if (spaces.global.lanes != 0 && !load_global<F>(wave, instruction, spaces.global)) return;
    if (spaces.local.lanes != 0 && !load_local<F>(wave, instruction, spaces.local)) return;
    if (spaces.scratch.lanes != 0 && !load_scratch<F>(wave, instruction, spaces.scratch)) return;
  }
  in_flight(wave, instruction, &instruction.destination, Counter::both);
}

template <class F>
void flat_store(Wave& wave, const Instruction& instruction) {
  Addresses addresses;
  if (wave.exec() != 0) {
    if (!global_addresses(wave, instruction, 2, addresses)) return;
    Spaces spaces;
    split_spaces(addresses, spaces);
    if (spaces.global.lanes != 0 && !store_global<F>(wave, instruction, spaces.global)) return;
    if (spaces.local.lanes != 0 && !store_local<F>(wave, instruction, spaces.local)) return;
    if (spaces.scratch.lanes != 0 && !store_scratch<F>(wave, instruction, spaces.scratch)) return;
    if (spaces.local.lanes != 0)
      return write_in_flight(wave, instruction, spaces.local, {.bytes = F::kBytes}, Counter::both);
  }
  in_flight(wave, instruction, nullptr, Counter::both);
}

}  // namespace

bool global_addresses(Wave& wave, const Instruction& instruction, int base, Addresses& addresses) {
  const InstructionOperand &vector = instruction.sources[0], &scalar = instruction.sources[base];
  addresses.lanes = wave.exec();
  if (!readable(wave, instruction, vector, addresses.lanes) || !readable(wave, instruction, scalar, addresses.lanes))
    return false;
  const auto offset = static_cast<uint64_t>(int64_t{instruction.memory.offset});
  if (scalar.kind == OperandKind::scalar) {
    const uint64_t from = scalar_pair(wave, scalar) + offset;
    const Lanes* index = registers_of(wave, vector);
    for (int lane = 0; lane < kWaveLanes; ++lane) addresses.at[lane] = from + index->at[lane];
  } else {
    const Lanes* index = registers_of(wave, vector);
    for (int lane = 0; lane < kWaveLanes; ++lane)
      addresses.at[lane] = (index[0].at[lane] | uint64_t{index[1].at[lane]} << 32) + offset;
  }
  addresses.close();
  return true;
}

bool scratch_addresses(Wave& wave, const Instruction& instruction, int base, Addresses& addresses) {
  const InstructionOperand &vector = instruction.sources[0], &scalar = instruction.sources[base];
  addresses.lanes = wave.exec();
  if (!readable(wave, instruction, vector, addresses.lanes) || !readable(wave, instruction, scalar, addresses.lanes))
    return false;
  const uint32_t from = scalar_value(wave, scalar) + static_cast<uint32_t>(instruction.memory.offset);
  const Lanes* index = is_vector(vector) ? registers_of(wave, vector) : nullptr;
  for (int lane = 0; lane < kWaveLanes; ++lane) addresses.at[lane] = from + (index != nullptr ? index->at[lane] : 0);
  addresses.close();
  return true;
}

void split_spaces(const Addresses& addresses, Spaces& spaces) {
  for (Addresses* part : {&spaces.global, &spaces.local, &spaces.scratch}) part->lanes = 0;
  for_lanes(addresses.lanes, [&](int lane) {
    const uint64_t at = addresses.at[lane], above = at >> 32 << 32;
    Addresses& part = above == kSharedAperture    ? spaces.local
                      : above == kPrivateAperture ? spaces.scratch
                                                  : spaces.global;
    part.at[lane] = &part == &spaces.global ? at : at - above;
    part.lanes |= uint64_t{1} << lane;
  });
  for (Addresses* part : {&spaces.global, &spaces.local, &spaces.scratch})
    if (part->lanes != 0) part->close();
}

Handler flat_handler(const Instruction& instruction) {
  switch (instruction.opcode) {
#define RUNG_AMD_LOAD(name, bytes, is_signed, half)            \
  case Opcode::global_load_##name:                             \
    return global_load<Format<bytes, is_signed, Half::half>>;  \
  case Opcode::scratch_load_##name:                            \
    return scratch_load<Format<bytes, is_signed, Half::half>>; \
  case Opcode::flat_load_##name:                               \
    return flat_load<Format<bytes, is_signed, Half::half>>;
#define RUNG_AMD_STORE(name, bytes, half)                   \
  case Opcode::global_store_##name:                         \
    return global_store<Format<bytes, false, Half::half>>;  \
  case Opcode::scratch_store_##name:                        \
    return scratch_store<Format<bytes, false, Half::half>>; \
  case Opcode::flat_store_##name:                           \
    return flat_store<Format<bytes, false, Half::half>>;
#include "amdgpu/run/access/memory_formats.inc"
#undef RUNG_AMD_LOAD
#undef RUNG_AMD_STORE
    default:
      return nullptr;
  }
}

}  // namespace rung::amdgpu
