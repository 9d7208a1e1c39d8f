// Every load, store and atomic on integers, by its name: how wide it is, what becomes of a narrow value, what it does.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "amdgpu/isa/opcode_rows.hpp"
#include "amdgpu/run/access/lane_access.hpp"
#include "amdgpu/run/alu/alu_names.hpp"
#include "support/one_wave.hpp"

namespace rung::amdgpu {
namespace {

using testing::make_instruction;
using testing::OneWave;
using testing::scalar_operand;
using testing::vector_operand;

// What the end of a name says: "sbyte_d16_hi", "dwordx3", "u16_d16", "b96".
struct Form {
  unsigned bytes;
  bool is_signed = false, low = false, high = false;
  unsigned registers() const { return std::max(1u, bytes / 4); }
};
std::optional<Form> form_of(std::string_view word) {
  constexpr std::pair<std::string_view, Form> kWords[] = {
      {"ubyte", {1}}, {"sbyte", {1, true}}, {"byte", {1}},    {"ushort", {2}},    {"sshort", {2, true}},
      {"short", {2}}, {"dword", {4}},       {"dwordx2", {8}}, {"dwordx3", {12}},  {"dwordx4", {16}},
      {"u8", {1}},    {"i8", {1, true}},    {"u16", {2}},     {"i16", {2, true}}, {"b8", {1}},
      {"b16", {2}},   {"b32", {4}},         {"b64", {8}},     {"b96", {12}},      {"b128", {16}}};
  const bool high = word.ends_with("_d16_hi"), low = word.ends_with("_d16");
  const std::string_view plain = word.substr(0, word.size() - (high ? 7 : low ? 4 : 0));
  for (auto [name, form] : kWords)
    if (name == plain) return form.high = high, form.low = low, form;
  return std::nullopt;
}

// 64 places of 16 bytes in one of the spaces, reached by v[0:1], behind s[8:11].
class Places {
 public:
  explicit Places(std::string_view space) : space_(space) {
    std::mt19937 random(3);
    std::vector<uint32_t> words(64 * 4);
    for (uint32_t& word : words) word = static_cast<uint32_t>(random());
    data_ = reinterpret_cast<std::byte*>(wave.make(words));
    wave.wave().scratch.assign(64 * 1024, std::byte{0});
    wave.group().of(wave.wave()).scratch_written.assign(64 * 1024, true);
    for (uint32_t at = 0; at < 1024; at += 4) wave.set_local(at, words[at / 4]);
    for (int lane = 0; lane < 64; ++lane)
      for (uint32_t at = 0; at < 1024; ++at) wave.wave().scratch[scratch_place(at, lane)] = data_[at];
    wave.set_scalar_pair(8, reinterpret_cast<uint64_t>(data_));
    wave.s(10) = 1024, wave.s(11) = 0;
  }
  void point(int lane, uint32_t offset) {
    if (space_ == "global" || space_ == "flat")
      wave.set_pair(0, lane, reinterpret_cast<uint64_t>(data_) + offset);
    else
      wave.v(0, lane) = offset;
  }
  std::byte& byte(int lane, uint32_t offset) {
    if (space_ == "ds") return wave.group().lds.data()[offset];
    return space_ == "scratch" ? wave.wave().scratch[scratch_place(offset, lane)] : data_[offset];
  }
  template <class T>
  T value(int lane, uint32_t offset) {
    std::byte bytes[sizeof(T)];
    for (uint32_t k = 0; k < sizeof(T); ++k) bytes[k] = byte(lane, offset + k);
    return std::bit_cast<T>(bytes);
  }
  // `data`: of stores and atomics.
  Instruction access(Opcode opcode, const InstructionOperand& destination,
                     std::initializer_list<InstructionOperand> data) {
    Instruction made = make_instruction(opcode, row_of(opcode).encoding, destination, {});
    const bool wide = space_ == "global" || space_ == "flat";
    made.sources[made.source_count++] = vector_operand(0, wide ? 2 : 1);
    for (const InstructionOperand& each : data) made.sources[made.source_count++] = each;
    if (space_ == "buffer") {
      made.sources[made.source_count++] = scalar_operand(8, 4);
      made.sources[made.source_count++] = testing::constant_operand(0);
      made.memory.offen = true;
    } else if (space_ != "ds") {
      made.sources[made.source_count++] = InstructionOperand{};
    }
    return made;
  }
  OneWave wave;

 private:
  std::string_view space_;
  std::byte* data_ = nullptr;
};

// In a row, mixed, all alike; all lanes, or some.
struct Way {
  uint64_t lanes;
  unsigned stride, turn;
  uint32_t offset(int lane, unsigned bytes) const {
    const auto n = static_cast<unsigned>(lane);
    return turn == 0 ? n * bytes : n * turn % 64 * stride;
  }
};
constexpr Way kWays[] = {
    {~uint64_t{0}, 0, 0}, {~uint64_t{0}, 16, 37}, {0x8001ff0000ff0ff0, 0, 0}, {0xfffffffffffffffe, 16, 5}};

uint64_t narrow_value(const Form& form, uint64_t raw) {
  const unsigned unused = 64 - 8 * form.bytes;
  const auto extended = form.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(raw << unused) >> unused) : raw;
  return form.low || form.high ? extended & 0xffff : extended & 0xffffffff;
}

void expect_load(std::string_view space, std::string_view name, const Form& form) {
  for (const Way& way : kWays) {
    Places places(space);
    places.wave.wave().set_exec(way.lanes);
    for (int lane = 0; lane < 64; ++lane) {
      places.point(lane, way.offset(lane, form.bytes));
      for (unsigned r = 0; r < 4; ++r) places.wave.v(4 + r, lane) = 0x11112222;
    }
    places.wave.run(places.access(opcode_named(name), vector_operand(4, form.registers()), {}));
    for (int lane = 0; lane < 64; ++lane) {
      const uint32_t at = way.offset(lane, form.bytes);
      for (unsigned r = 0; r < form.registers(); ++r) {
        uint32_t expected = 0x11112222;
        if (way.lanes >> lane & 1) {
          const uint64_t raw = form.bytes == 1   ? places.value<uint8_t>(lane, at)
                               : form.bytes == 2 ? places.value<uint16_t>(lane, at)
                                                 : places.value<uint32_t>(lane, at + 4 * r);
          const auto value = static_cast<uint32_t>(form.bytes < 4 ? narrow_value(form, raw) : raw);
          expected = form.low ? 0x11110000 | value : form.high ? 0x2222 | value << 16 : value;
        }
        ASSERT_EQ(places.wave.v(4 + r, lane), expected) << name << ", lane " << lane;
      }
    }
  }
}

void expect_store(std::string_view space, std::string_view name, const Form& form) {
  for (const Way& way : kWays) {
    Places places(space), before(space);
    places.wave.wave().set_exec(way.lanes);
    for (int lane = 0; lane < 64; ++lane) {
      places.point(lane, way.offset(lane, form.bytes));
      for (unsigned r = 0; r < 4; ++r)
        places.wave.v(4 + r, lane) = 0x01020304 * (r + 1) + static_cast<uint32_t>(lane) * 0x10001;
    }
    places.wave.run(places.access(opcode_named(name), {}, {vector_operand(4, form.registers())}));
    for (int lane = 0; lane < 64; ++lane) {
      const uint32_t at = way.offset(lane, form.bytes);
      for (unsigned k = 0; k < form.bytes; ++k) {
        const uint32_t word = places.wave.v(4 + k / 4, lane) >> (form.high ? 16 : 0);
        const auto stored = static_cast<std::byte>(word >> 8 * (k % 4));
        ASSERT_EQ(places.byte(lane, at + k), way.lanes >> lane & 1 ? stored : before.byte(lane, at + k))
            << name << ", lane " << lane;
      }
    }
  }
}

TEST(MemoryForms, EveryLoadAndStore) {
  int loads = 0, stores = 0;
  for (const std::string_view name : opcode_names())
    for (const std::string_view space : {"global", "flat", "scratch", "buffer", "ds"}) {
      const auto after = [&](std::string_view verb) -> std::optional<Form> {
        const std::string begin = std::string(space) + std::string(verb);
        return name.starts_with(begin) ? form_of(name.substr(begin.size())) : std::nullopt;
      };
      if (const auto form = after(space == "ds" ? "_read_" : "_load_")) expect_load(space, name, *form), ++loads;
      if (const auto form = after(space == "ds" ? "_write_" : "_store_")) expect_store(space, name, *form), ++stores;
    }
  EXPECT_EQ(loads, 4 * 14 + 14);
  EXPECT_EQ(stores, 4 * 8 + 8);
}

// What is left of the old value and `data`, by the word of the name.
template <class T>
std::optional<T> changed(std::string_view operation, T old, T data) {
  using Signed = std::make_signed_t<T>;
  const auto less = static_cast<Signed>(old) < static_cast<Signed>(data);
  if (operation == "swap" || operation == "wrxchg") return data;
  if (operation == "add") return old + data;
  if (operation == "sub") return old - data;
  if (operation == "rsub") return data - old;
  if (operation == "smin") return less ? old : data;
  if (operation == "smax") return less ? data : old;
  if (operation == "umin") return std::min(old, data);
  if (operation == "umax") return std::max(old, data);
  if (operation == "and") return old & data;
  if (operation == "or") return old | data;
  if (operation == "xor") return old ^ data;
  if (operation == "inc") return old >= data ? 0 : old + 1;
  if (operation == "dec") return old == 0 || old > data ? data : old - 1;
  return std::nullopt;
}

template <class T>
void expect_atomic(std::string_view space, std::string_view name, std::string_view operation, bool returns) {
  constexpr unsigned kRegisters = sizeof(T) / 4;
  for (const bool close : {false, true}) {  // data beside the old value, or anything
    Places places(space), before(space);
    places.wave.wave().set_exec(0xfffffffffffffff7);
    for (int lane = 0; lane < 64; ++lane) {
      const uint32_t at = 16 * static_cast<uint32_t>(lane);
      places.point(lane, at);
      const T data = close ? before.value<T>(lane, at) + static_cast<T>(lane % 3) - 1 : static_cast<T>(lane * 77777777);
      for (unsigned r = 0; r < kRegisters; ++r)
        places.wave.v(4 + r, lane) = static_cast<uint32_t>(uint64_t{data} >> 32 * r), places.wave.v(8 + r, lane) = 5;
    }
    Instruction i = places.access(opcode_named(name), returns ? vector_operand(8, kRegisters) : InstructionOperand{},
                                  {vector_operand(4, kRegisters)});
    i.memory.sc0 = returns;
    places.wave.run(i);
    for (int lane = 0; lane < 64; ++lane) {
      const uint32_t at = 16 * static_cast<uint32_t>(lane);
      const T old = before.value<T>(lane, at);
      T data = places.wave.v(4, lane), got = places.wave.v(8, lane);
      if constexpr (kRegisters == 2) data |= T{places.wave.v(5, lane)} << 32, got |= T{places.wave.v(9, lane)} << 32;
      const bool on = lane != 3;
      const T old_register = static_cast<T>(kRegisters == 2 ? 0x500000005 : 5);
      ASSERT_EQ(places.value<T>(lane, at), on ? *changed<T>(operation, old, data) : old) << name << ", lane " << lane;
      ASSERT_EQ(got, returns && on ? old : old_register) << name << ", lane " << lane;
    }
  }
}

TEST(MemoryForms, EveryAtomicOnIntegers) {
  int tested = 0;
  for (const std::string_view name : opcode_names()) {
    const auto of_name = [&](std::string_view space, std::string_view operation, bool wide, bool returns) {
      if (!changed<uint32_t>(operation, 0, 0)) return;
      wide ? expect_atomic<uint64_t>(space, name, operation, returns)
           : expect_atomic<uint32_t>(space, name, operation, returns);
      ++tested;
    };
    for (const std::string_view space : {"global", "flat", "buffer"}) {
      const std::string begin = std::string(space) + "_atomic_";
      if (!name.starts_with(begin)) continue;
      const bool wide = name.ends_with("_x2");
      const std::string_view operation = name.substr(begin.size(), name.size() - begin.size() - (wide ? 3 : 0));
      for (const bool returns : {false, true}) of_name(space, operation, wide, returns);
    }
    // ds_max_rtn_i32
    if (!name.starts_with("ds_") || name.size() < 8) continue;
    const std::string_view type = name.substr(name.size() - 3);
    if (type.substr(1) != "32" && type.substr(1) != "64") continue;
    const bool returns = name.find("_rtn_") != std::string_view::npos;
    std::string operation(name.substr(3, name.find('_', 3) - 3));
    if (name.size() != 3 + operation.size() + (returns ? 4 : 0) + 4 || type[0] == 'f') continue;
    if (operation == "min" || operation == "max") operation = (type[0] == 'i' ? "s" : "u") + operation;
    of_name("ds", operation, type.substr(1) == "64", returns);
  }
  EXPECT_EQ(tested, 3 * 12 * 2 * 2 + 2 * (2 * 12 + 1));
}

}  // namespace
}  // namespace rung::amdgpu
