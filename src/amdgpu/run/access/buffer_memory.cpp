// Executes loads, stores and atomics through a buffer resource; dwords out of its bounds read as 0 and are not written.
// SPDX-License-Identifier: Apache-2.0
// Source: the chapter on vector memory buffer instructions of AMD's CDNA guides. Their range check of a raw buffer
// takes a dword's first byte, without the scalar offset; the check here is stricter: with it, and all bytes.
#include <algorithm>

#include "amdgpu/run/access/atomic_operations.hpp"
#include "amdgpu/run/access/vector_memory.hpp"

namespace rung::amdgpu {
namespace {

struct Resource {
  uint64_t base = 0;
  uint32_t stride = 0, records = 0;
  bool swizzled = false, adds_lane = false;
  uint32_t element_bytes = 4, index_stride = 8;  // for swizzled addresses
};

Resource resource_of(const Wave& wave, const InstructionOperand& operand) {
  const uint32_t* words = &wave.s[operand.number];
  Resource made;
  made.base = words[0] | uint64_t{words[1] & 0xffff} << 32;
  made.stride = words[1] >> 16 & 0x3fff;
  made.swizzled = words[1] >> 31;
  made.records = words[2];
  made.element_bytes = 2u << (words[3] >> 19 & 3);
  made.index_stride = 8u << (words[3] >> 21 & 3);
  made.adds_lane = words[3] >> 23 & 1;
  if (made.adds_lane) made.stride |= (words[3] >> 15 & 0xf) << 14;
  return made;
}

// The place of each lane in the buffer: an element and a byte in it.
struct BufferPlaces {
  Resource resource;
  uint32_t scalar_offset = 0;
  uint64_t lanes = 0;
  bool indexed = false;  // the instruction names an index
  uint32_t index[kWaveLanes], offset[kWaveLanes];

  // Returns whether the bytes [at, at + bytes) of a lane's access are inside. In a buffer of records the instruction's
  // index counts; a buffer indexed by the lane alone is private, and has no bounds of its own.
  bool holds(int lane, unsigned at, unsigned bytes) const {
    if (indexed && resource.stride != 0) return index[lane] < resource.records;
    if (!indexed && resource.adds_lane) return true;
    return uint64_t{offset[lane]} + scalar_offset + at + bytes <= resource.records;
  }
  uint64_t address(int lane, unsigned at) const {
    const uint64_t begin = resource.base + scalar_offset;
    const uint64_t byte = uint64_t{offset[lane]} + at, n = index[lane];
    if (!resource.swizzled || resource.stride == 0) return begin + n * resource.stride + byte;
    const uint64_t major = n / resource.index_stride, minor = n % resource.index_stride;
    return begin +
           (major * resource.stride + byte / resource.element_bytes * resource.element_bytes) * resource.index_stride +
           minor * resource.element_bytes + byte % resource.element_bytes;
  }
};

// `resource` is its index among the sources; the scalar offset stands behind it.
bool find_places(Wave& wave, const Instruction& instruction, int resource, BufferPlaces& places) {
  const InstructionOperand& vector = instruction.sources[0];
  places.lanes = wave.exec();
  for (const InstructionOperand* operand :
       {&vector, &instruction.sources[resource], &instruction.sources[resource + 1]})
    if (!readable(wave, instruction, *operand, places.lanes)) return false;
  places.resource = resource_of(wave, instruction.sources[resource]);
  places.scalar_offset = scalar_value(wave, instruction.sources[resource + 1]);
  const Lanes* from = is_vector(vector) ? registers_of(wave, vector) : nullptr;
  const MemoryModifiers& memory = instruction.memory;
  places.indexed = memory.idxen;
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    places.index[lane] = memory.idxen ? from[0].at[lane] : 0;
    if (places.resource.adds_lane) places.index[lane] += static_cast<uint32_t>(lane);
    places.offset[lane] = memory.offen ? from[memory.idxen ? 1 : 0].at[lane] : 0;
    places.offset[lane] += static_cast<uint32_t>(memory.offset);
  }
  return true;
}

// Returns the lanes whose whole access, in one piece, is inside; the other lanes go dword by dword.
uint64_t whole_lanes(const BufferPlaces& places, unsigned bytes, Addresses& addresses) {
  addresses.lanes = 0;
  const bool pieces = places.resource.swizzled && bytes > places.resource.element_bytes;
  for_lanes(places.lanes, [&](int lane) {
    if (pieces || !places.holds(lane, 0, bytes)) return;
    addresses.at[lane] = places.address(lane, 0);
    addresses.lanes |= uint64_t{1} << lane;
  });
  if (addresses.lanes != 0) addresses.close();
  return addresses.lanes;
}

// Makes one lane's access, dword by dword.
struct Pieces {
  Wave& wave;
  const Instruction& instruction;
  const BufferPlaces& places;
  GlobalAccess access;

  // Calls body(offset, bytes, memory) for each dword that is inside; returns false if the wave has failed.
  template <class Body>
  bool each(int lane, Body body) const {
    const unsigned piece = std::min(access.bytes, 4u);
    for (unsigned at = 0; at < access.bytes; at += piece) {
      if (!places.holds(lane, at, piece)) continue;
      Addresses one;
      one.lanes = uint64_t{1} << lane;
      one.at[lane] = places.address(lane, at);
      one.close();
      if (!check_global(wave, instruction, one, {piece, access.read, access.write})) return false;
      body(at, piece, reinterpret_cast<std::byte*>(one.at[lane]));
    }
    return true;
  }
};

template <class F>
void load(Wave& wave, const Instruction& instruction) {
  BufferPlaces places;
  if (wave.exec() != 0) {
    if (!find_places(wave, instruction, 1, places)) return;
    Addresses addresses;
    uint64_t rest = places.lanes & ~whole_lanes(places, F::kBytes, addresses);
    if (addresses.lanes != 0 && !load_global<F>(wave, instruction, addresses)) return;
    for (; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctzll(rest);
      std::byte value[16] = {};
      if (!Pieces{wave, instruction, places, {F::kBytes, true, false}}.each(
              lane, [&](unsigned at, unsigned bytes, const std::byte* from) { std::memcpy(value + at, from, bytes); }))
        return;
      F::put(registers_of(wave, instruction.destination), lane, value);
    }
    mark_written(wave, instruction.destination, places.lanes);
  }
  in_flight(wave, instruction, &instruction.destination, Counter::vector);
}

template <class F>
void store(Wave& wave, const Instruction& instruction) {
  BufferPlaces places;
  if (wave.exec() != 0) {
    if (!find_places(wave, instruction, 2, places) ||
        !readable(wave, instruction, instruction.sources[1], places.lanes))
      return;
    Addresses addresses;
    uint64_t rest = places.lanes & ~whole_lanes(places, F::kBytes, addresses);
    if (addresses.lanes != 0 && !store_global<F>(wave, instruction, addresses)) return;
    for (; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctzll(rest);
      std::byte value[16];
      F::get(registers_of(wave, instruction.sources[1]), lane, value);
      if (!Pieces{wave, instruction, places, {F::kBytes, false, true}}.each(
              lane, [&](unsigned at, unsigned bytes, std::byte* to) { std::memcpy(to, value + at, bytes); }))
        return;
    }
  }
  in_flight(wave, instruction, nullptr, Counter::vector);
}

// Lanes that are outside do nothing and get 0.
template <class T, class Act>
void act(Wave& wave, const Instruction& instruction, Act act_on) {
  const InstructionOperand* result = is_vector(instruction.destination) ? &instruction.destination : nullptr;
  BufferPlaces places;
  if (wave.exec() != 0) {
    if (!find_places(wave, instruction, 2, places) ||
        !readable(wave, instruction, instruction.sources[1], places.lanes))
      return;
    Addresses addresses;
    const uint64_t inside = whole_lanes(places, sizeof(T), addresses);
    if (inside != 0 && !check_global(wave, instruction, addresses, {sizeof(T), true, true, true})) return;
    const Lanes* data = registers_of(wave, instruction.sources[1]);
    for_lanes(places.lanes, [&](int lane) {
      const T old = inside >> lane & 1 ? act_on(reinterpret_cast<std::byte*>(addresses.at[lane]), data, lane) : T{0};
      if (result != nullptr)
        Format<sizeof(T)>::put(registers_of(wave, *result), lane, reinterpret_cast<const std::byte*>(&old));
    });
    if (result != nullptr) {
      mark_written(wave, *result, places.lanes);
      wave.group->synchronised = true;
    }
  }
  in_flight(wave, instruction, result, Counter::vector);
}

template <class T>
T buffer_value(const Lanes* registers, int lane) {
  T value;
  Format<sizeof(T)>::get(registers, lane, reinterpret_cast<std::byte*>(&value));
  return value;
}

template <unsigned kBytes, class Operation>
void buffer_atomic(Wave& wave, const Instruction& instruction) {
  using T = atomic::Word<kBytes>;
  act<T>(wave, instruction, [](std::byte* place, const Lanes* data, int lane) {
    const T value = buffer_value<T>(data, lane);
    constexpr atomic::Place kMemory{.in_lds = false, .mode = 0};  // MODE does not count there
    return atomic::exchange<T>(place, [=](T old) { return atomic::applied<Operation>(old, value, kMemory); });
  });
}

template <unsigned kBytes>
void buffer_compare(Wave& wave, const Instruction& instruction) {
  using T = atomic::Word<kBytes>;
  act<T>(wave, instruction, [](std::byte* place, const Lanes* data, int lane) {
    const T value = buffer_value<T>(data, lane), wanted = buffer_value<T>(data + kBytes / 4, lane);
    return atomic::exchange<T>(place, [=](T old) { return old == wanted ? value : old; });
  });
}

// Moves data straight to LDS: each lane's dword (or wider) goes to its place behind M0 and the offset.
struct LocalPlaces {
  Addresses addresses;
  bool find(Wave& wave, const Instruction& instruction, unsigned bytes, bool with_offset) {
    if (!readable(wave, instruction, kM0Itself, 0)) return false;
    const uint32_t base =
        (wave.s[kM0] & 0x3ffff) + (with_offset ? static_cast<uint32_t>(instruction.memory.offset) : 0);
    addresses.lanes = wave.exec();
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) addresses.at[lane] = base + lane * std::max(bytes, 4u);
    addresses.close();
    return check_local(wave, instruction, addresses, {std::max(bytes, 4u), LdsUse::write});
  }
};

void land(Wave& wave, const Instruction& instruction, const LocalPlaces& places, unsigned bytes) {
  write_in_flight(wave, instruction, places.addresses,
                  {.bytes = static_cast<uint8_t>(std::max(bytes, 4u)), .direct = true}, Counter::vector);
}

template <unsigned kBytes, bool kSigned>
void to_local(std::byte* to, const std::byte* from) {
  Lanes wide[4];
  Format<kBytes, kSigned>::put(wide, 0, from);
  for (unsigned k = 0; k < std::max(kBytes, 4u) / 4; ++k) std::memcpy(to + 4 * k, &wide[k].at[0], 4);
}

template <unsigned kBytes, bool kSigned>
void global_to_local(Wave& wave, const Instruction& instruction) {
  if (wave.exec() == 0) return in_flight(wave, instruction, nullptr, Counter::vector);
  Addresses from;
  LocalPlaces to;
  if (!global_addresses(wave, instruction, 1, from) || !check_global(wave, instruction, from, {kBytes, true, false}) ||
      !to.find(wave, instruction, kBytes, true))
    return;
  for_lanes(from.lanes, [&](int lane) {
    to_local<kBytes, kSigned>(wave.group->lds.data() + to.addresses.at[lane],
                              reinterpret_cast<const std::byte*>(from.at[lane]));
  });
  land(wave, instruction, to, kBytes);
}

template <unsigned kBytes, bool kSigned>
void buffer_to_local(Wave& wave, const Instruction& instruction) {
  if (wave.exec() == 0) return in_flight(wave, instruction, nullptr, Counter::vector);
  BufferPlaces from;
  LocalPlaces to;
  if (!find_places(wave, instruction, 1, from) || !to.find(wave, instruction, kBytes, true)) return;
  for (uint64_t rest = from.lanes; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctzll(rest);
    std::byte value[16] = {};
    if (!Pieces{wave, instruction, from, {kBytes, true, false}}.each(
            lane, [&](unsigned at, unsigned bytes, const std::byte* at_memory) {
              std::memcpy(value + at, at_memory, bytes);
            }))
      return;
    to_local<kBytes, kSigned>(wave.group->lds.data() + to.addresses.at[lane], value);
  }
  land(wave, instruction, to, kBytes);
}

Handler buffer_to_local_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::buffer_load_ubyte:
      return buffer_to_local<1, false>;
    case Opcode::buffer_load_sbyte:
      return buffer_to_local<1, true>;
    case Opcode::buffer_load_ushort:
      return buffer_to_local<2, false>;
    case Opcode::buffer_load_sshort:
      return buffer_to_local<2, true>;
    case Opcode::buffer_load_dword:
      return buffer_to_local<4, false>;
    case Opcode::buffer_load_dwordx3:
      return buffer_to_local<12, false>;
    case Opcode::buffer_load_dwordx4:
      return buffer_to_local<16, false>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler direct_handler(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::global_load_lds_ubyte:
      return global_to_local<1, false>;
    case Opcode::global_load_lds_sbyte:
      return global_to_local<1, true>;
    case Opcode::global_load_lds_ushort:
      return global_to_local<2, false>;
    case Opcode::global_load_lds_sshort:
      return global_to_local<2, true>;
    case Opcode::global_load_lds_dword:
      return global_to_local<4, false>;
    case Opcode::global_load_lds_dwordx3:
      return global_to_local<12, false>;
    case Opcode::global_load_lds_dwordx4:
      return global_to_local<16, false>;
    default:
      return nullptr;
  }
}

Handler buffer_handler(const Instruction& instruction, Isa) {
  if (instruction.memory.lds) return buffer_to_local_handler(instruction.opcode);
  switch (instruction.opcode) {
#define RUNG_AMD_LOAD(name, bytes, is_signed, half) \
  case Opcode::buffer_load_##name:                  \
    return load<Format<bytes, is_signed, Half::half>>;
#define RUNG_AMD_STORE(name, bytes, half) \
  case Opcode::buffer_store_##name:       \
    return store<Format<bytes, false, Half::half>>;
#include "amdgpu/run/access/memory_formats.inc"
#undef RUNG_AMD_LOAD
#undef RUNG_AMD_STORE
#define RUNG_AMD_ATOMIC(name, bytes, operation) \
  case Opcode::buffer_atomic_##name:            \
    return buffer_atomic<bytes, atomic::operation>;
#include "amdgpu/run/access/atomics.inc"
#undef RUNG_AMD_ATOMIC
    case Opcode::buffer_atomic_cmpswap:
      return buffer_compare<4>;
    case Opcode::buffer_atomic_cmpswap_x2:
      return buffer_compare<8>;
    default:
      return nullptr;
  }
}

}  // namespace rung::amdgpu
