// Executes atomic instructions on memory and on LDS.
// SPDX-License-Identifier: Apache-2.0
// Lanes act in their order, and float atomics round as additions do; hardware has an order of its own.
#include "amdgpu/run/access/atomic_operations.hpp"
#include "amdgpu/run/access/vector_memory.hpp"

namespace rung::amdgpu {
namespace {

template <class T>
T value_of(const Lanes* registers, int lane) {
  T value;
  Format<sizeof(T)>::get(registers, lane, reinterpret_cast<std::byte*>(&value));
  return value;
}

// The lanes' targets: `act(word, lane, place)` changes a word and returns the old one.
struct Targets {
  Wave& wave;
  const Instruction& instruction;
  const InstructionOperand* result;  // takes the old value; null: nothing does
};

template <class T, class Act>
void act_on(const Targets& targets, const Addresses& addresses, bool in_lds, Act act) {
  Lanes* to = targets.result != nullptr ? registers_of(targets.wave, *targets.result) : nullptr;
  std::byte* const base = in_lds ? targets.wave.group->lds.data() : nullptr;
  const atomic::Place place{in_lds, targets.wave.mode};
  for_lanes(addresses.lanes, [&](int lane) {
    const T old = act(base + addresses.at[lane], lane, place);
    if (to != nullptr) Format<sizeof(T)>::put(to, lane, reinterpret_cast<const std::byte*>(&old));
  });
  if (to != nullptr) mark_written(targets.wave, *targets.result, addresses.lanes);
}

template <class T, class Act>
bool act_global(const Targets& targets, const Addresses& addresses, Act act) {
  if (!check_global(targets.wave, targets.instruction, addresses, {sizeof(T), true, true, true})) return false;
  act_on<T>(targets, addresses, false, act);
  if (targets.result != nullptr) targets.wave.group->synchronised = true;
  return true;
}

template <class T, class Act>
bool act_local(const Targets& targets, const Addresses& addresses, Act act) {
  if (!check_local(targets.wave, targets.instruction, addresses, {sizeof(T), LdsUse::atomic})) return false;
  act_on<T>(targets, addresses, true, act);
  return true;
}

// Executes flat_atomic_* and global_atomic_*: address, data, base.
template <class T, class Act>
void at_address(Wave& wave, const Instruction& instruction, Act act) {
  const InstructionOperand* result = is_vector(instruction.destination) ? &instruction.destination : nullptr;
  const bool flat = instruction.encoding == Encoding::flat;
  if (wave.exec() != 0) {
    Addresses addresses;
    if (!global_addresses(wave, instruction, 2, addresses) ||
        !readable(wave, instruction, instruction.sources[1], addresses.lanes))
      return;
    const Targets targets{wave, instruction, result};
    Spaces spaces;
    if (flat) split_spaces(addresses, spaces);
    if (!flat) {
      if (!act_global<T>(targets, addresses, act)) return;
    } else {
      if (spaces.global.lanes != 0 && !act_global<T>(targets, spaces.global, act)) return;
      if (spaces.local.lanes != 0 && !act_local<T>(targets, spaces.local, act)) return;
      if (spaces.scratch.lanes != 0)
        return wave.fail(DefectKind::bad_instruction, instruction, -1, "an atomic on scratch is not executed here");
      if (spaces.local.lanes != 0)
        return write_in_flight(wave, instruction, spaces.local, {.bytes = sizeof(T)}, Counter::both);
    }
  }
  in_flight(wave, instruction, result, flat ? Counter::both : Counter::vector);
}

template <unsigned kBytes, class Operation>
void memory_atomic(Wave& wave, const Instruction& instruction) {
  using T = atomic::Word<kBytes>;
  const Lanes* data = registers_of(wave, instruction.sources[1]);
  at_address<T>(wave, instruction, [data](std::byte* word, int lane, const atomic::Place& place) {
    const T value = value_of<T>(data, lane);
    return atomic::exchange<T>(word, [&](T old) { return atomic::applied<Operation>(old, value, place); });
  });
}

// The data are the new value, then the value that the old one must have.
template <unsigned kBytes>
void memory_compare(Wave& wave, const Instruction& instruction) {
  using T = atomic::Word<kBytes>;
  const Lanes* data = registers_of(wave, instruction.sources[1]);
  at_address<T>(wave, instruction, [data](std::byte* word, int lane, const atomic::Place&) {
    const T value = value_of<T>(data, lane), wanted = value_of<T>(data + kBytes / 4, lane);
    return atomic::exchange<T>(word, [=](T old) { return old == wanted ? value : old; });
  });
}

// Executes DS atomics: address, data, more data.
template <class T, class Act>
void in_lds(Wave& wave, const Instruction& instruction, Act act) {
  const InstructionOperand* result = is_vector(instruction.destination) ? &instruction.destination : nullptr;
  Addresses addresses;
  addresses.lanes = wave.exec();
  if (addresses.lanes != 0) {
    for (const InstructionOperand& source : instruction.sources)
      if (!readable(wave, instruction, source, addresses.lanes)) return;
    const Lanes* from = registers_of(wave, instruction.sources[0]);
    for (int lane = 0; lane < kWaveLanes; ++lane)
      addresses.at[lane] = from->at[lane] + static_cast<uint32_t>(instruction.memory.offset);
    addresses.close();
    if (!act_local<T>({wave, instruction, result}, addresses, act)) return;
    return write_in_flight(wave, instruction, addresses, {.bytes = sizeof(T)});
  }
  in_flight(wave, instruction, result, Counter::local);
}

template <unsigned kBytes, class Operation>
void local_atomic(Wave& wave, const Instruction& instruction) {
  using T = atomic::Word<kBytes>;
  const Lanes* data = registers_of(wave, instruction.sources[1]);
  in_lds<T>(wave, instruction, [data](std::byte* word, int lane, const atomic::Place& place) {
    const T value = value_of<T>(data, lane);
    return atomic::exchange<T>(word, [&](T old) { return atomic::applied<Operation>(old, value, place); });
  });
}

// The data are the value that the old one must have, then the new one; they are compared as bits or as numbers.
template <class Compared>
void local_compare(Wave& wave, const Instruction& instruction) {
  using T = atomic::Word<sizeof(Compared)>;
  const Lanes *wanted = registers_of(wave, instruction.sources[1]), *data = registers_of(wave, instruction.sources[2]);
  in_lds<T>(wave, instruction, [=](std::byte* word, int lane, const atomic::Place& place) {
    const T value = value_of<T>(data, lane), key = value_of<T>(wanted, lane);
    return atomic::exchange<T>(word, [&](T old) {
      if constexpr (std::is_floating_point_v<Compared>)
        return atomic::compared<Compared>(old, key, value, place.mode);
      else
        return old == key ? value : old;
    });
  });
}

// The data are the bits of a mask, then the value that these bits become.
template <unsigned kBytes>
void local_mask(Wave& wave, const Instruction& instruction) {
  using T = atomic::Word<kBytes>;
  const Lanes *mask = registers_of(wave, instruction.sources[1]), *data = registers_of(wave, instruction.sources[2]);
  in_lds<T>(wave, instruction, [=](std::byte* word, int lane, const atomic::Place&) {
    const T bits = value_of<T>(mask, lane), value = value_of<T>(data, lane);
    return atomic::exchange<T>(word, [=](T old) { return (old & ~bits) | value; });
  });
}

// Counts in one counter for all active lanes, at M0 plus the offset; each of them gets the old value.
template <bool kAppend>
void local_counter(Wave& wave, const Instruction& instruction) {
  const uint64_t lanes = wave.exec();
  if (lanes != 0) {
    Addresses addresses;
    if (!readable(wave, instruction, kM0Itself, 0)) return;
    addresses.lanes = 1;
    addresses.at[0] = (wave.s[kM0] & 0xffff) + static_cast<uint32_t>(instruction.memory.offset);
    addresses.close();
    if (!check_local(wave, instruction, addresses, {4, LdsUse::atomic})) return;
    const auto count = static_cast<uint32_t>(__builtin_popcountll(lanes));
    const uint32_t old = atomic::exchange<uint32_t>(wave.group->lds.data() + addresses.at[0], [=](uint32_t before) {
      return kAppend ? before + count : before - count;
    });
    Lanes* to = registers_of(wave, instruction.destination);
    for_lanes(lanes, [&](int lane) { to->at[lane] = old; });
    mark_written(wave, instruction.destination, lanes);
    return write_in_flight(wave, instruction, addresses, {.bytes = 4});
  }
  in_flight(wave, instruction, &instruction.destination, Counter::local);
}

}  // namespace

Handler atomic_handler(const Instruction& instruction) {
  switch (instruction.opcode) {
#define RUNG_AMD_ATOMIC(name, bytes, operation) \
  case Opcode::global_atomic_##name:            \
  case Opcode::flat_atomic_##name:              \
    return memory_atomic<bytes, atomic::operation>;
#include "amdgpu/run/access/atomics.inc"
#undef RUNG_AMD_ATOMIC
    case Opcode::global_atomic_cmpswap:
    case Opcode::flat_atomic_cmpswap:
      return memory_compare<4>;
    case Opcode::global_atomic_cmpswap_x2:
    case Opcode::flat_atomic_cmpswap_x2:
      return memory_compare<8>;
    default:
      return nullptr;
  }
}

Handler local_atomic_handler(const Instruction& instruction) {
  switch (instruction.opcode) {
#define RUNG_AMD_LOCAL_ATOMIC(name, returning, bytes, operation) \
  case Opcode::ds_##name:                                        \
  case Opcode::ds_##returning:                                   \
    return local_atomic<bytes, atomic::operation>;
#include "amdgpu/run/access/atomics.inc"
#undef RUNG_AMD_LOCAL_ATOMIC
    case Opcode::ds_wrxchg_rtn_b32:
      return local_atomic<4, atomic::Swap>;
    case Opcode::ds_wrxchg_rtn_b64:
      return local_atomic<8, atomic::Swap>;
    case Opcode::ds_cmpst_b32:
    case Opcode::ds_cmpst_rtn_b32:
      return local_compare<uint32_t>;
    case Opcode::ds_cmpst_b64:
    case Opcode::ds_cmpst_rtn_b64:
      return local_compare<uint64_t>;
    case Opcode::ds_cmpst_f32:
    case Opcode::ds_cmpst_rtn_f32:
      return local_compare<float>;
    case Opcode::ds_cmpst_f64:
    case Opcode::ds_cmpst_rtn_f64:
      return local_compare<double>;
    case Opcode::ds_mskor_b32:
    case Opcode::ds_mskor_rtn_b32:
      return local_mask<4>;
    case Opcode::ds_mskor_b64:
    case Opcode::ds_mskor_rtn_b64:
      return local_mask<8>;
    case Opcode::ds_append:
      return local_counter<true>;
    case Opcode::ds_consume:
      return local_counter<false>;
    default:
      return nullptr;
  }
}

}  // namespace rung::amdgpu
