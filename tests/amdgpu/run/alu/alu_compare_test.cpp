// Every comparison, by its name: what relation it asks for, of which type, and where its answer goes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "alu_fixture.hpp"
#include "alu_names.hpp"

namespace rung::amdgpu {
namespace {

// What two numbers are to each other.
enum Order : uint8_t { kBelow = 1, kEqual = 2, kAbove = 4, kUnordered = 8 };

// The orders that a relation is true for.
unsigned orders_of(std::string_view relation) {
  constexpr std::pair<std::string_view, unsigned> kRelations[] = {
      {"f", 0},
      {"lt", kBelow},
      {"eq", kEqual},
      {"le", kBelow | kEqual},
      {"gt", kAbove},
      {"lg", kBelow | kAbove},
      {"ne", kBelow | kAbove},
      {"ge", kAbove | kEqual},
      {"o", kBelow | kEqual | kAbove},
      {"u", kUnordered},
      {"nge", kBelow | kUnordered},
      {"nlg", kEqual | kUnordered},
      {"ngt", kBelow | kEqual | kUnordered},
      {"nle", kAbove | kUnordered},
      {"neq", kBelow | kAbove | kUnordered},
      {"nlt", kAbove | kEqual | kUnordered},
      {"tru", kBelow | kEqual | kAbove | kUnordered},
      {"t", kBelow | kEqual | kAbove | kUnordered},
  };
  for (const auto& [word, orders] : kRelations)
    if (word == relation) return orders;
  ADD_FAILURE() << relation;
  return 0;
}

template <class T>
unsigned order_of(T a, T b) {
  return a < b ? kBelow : a > b ? kAbove : a == b ? kEqual : kUnordered;
}
unsigned order_of(std::string_view type, uint64_t a, uint64_t b) {
  if (type == "f16") return order_of(half_value(static_cast<uint16_t>(a)), half_value(static_cast<uint16_t>(b)));
  if (type == "f32") return order_of(as_float(static_cast<uint32_t>(a)), as_float(static_cast<uint32_t>(b)));
  if (type == "f64") return order_of(as_double(a), as_double(b));
  if (type == "i16") return order_of(static_cast<int16_t>(a), static_cast<int16_t>(b));
  if (type == "u16") return order_of(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
  if (type == "i32") return order_of(static_cast<int32_t>(a), static_cast<int32_t>(b));
  if (type == "u32") return order_of(static_cast<uint32_t>(a), static_cast<uint32_t>(b));
  if (type == "i64") return order_of(static_cast<int64_t>(a), static_cast<int64_t>(b));
  EXPECT_EQ(type, "u64");
  return order_of(a, b);
}

// Eight values of a type, special ones among them.
std::vector<uint64_t> values_of(std::string_view type) {
  if (type == "f16") return {0x7e01, 0xfc00, 0xbe00, 0x8000, 0, 1, 0x3c00, 0x7c00};
  if (type == "f32") return {0x7fc00001, 0xff800000, 0xbfc00000, 0x80000000, 0, 1, 0x3f800000, 0x7f800000};
  if (type == "f64")
    return {bits(double{NAN}), bits(-HUGE_VAL), bits(-1.5), bits(-0.0), 0, 1, bits(1.0), bits(HUGE_VAL)};
  // Bits above a type's own must not count.
  const uint64_t above = type.ends_with("16") ? 0x5a5a0000 : 0, top = type.ends_with("16")   ? 0x8000
                                                                      : type.ends_with("32") ? 0x80000000
                                                                                             : uint64_t{1} << 63;
  return {0, 1, top, top - 1, above | 2, above | (top + 1), 2 * top - 1, 0x7f};
}

TEST(AluCompare, ComputesEveryNamedRelationOfEveryType) {
  int compared = 0;
  for (const std::string_view name : opcode_names()) {
    if (!is_vector_comparison(name)) continue;
    const bool sets_exec = name.starts_with("v_cmpx");
    const std::string_view rest = name.substr(sets_exec ? 7 : 6), type = rest.substr(rest.find('_') + 1);
    const unsigned orders = orders_of(rest.substr(0, rest.find('_')));
    const std::vector<uint64_t> values = values_of(type);
    OneWave wave;
    uint64_t expected = 0;
    for (int l = 0; l < 64; ++l) {
      const uint64_t a = values[static_cast<size_t>(l) / 8], b = values[static_cast<size_t>(l) % 8];
      wave.set64(10, l, a), wave.set64(12, l, b);
      if (order_of(type, a, b) & orders) expected |= uint64_t{1} << l;
    }
    const uint64_t exec = 0xfff7ffffffffff0f;
    wave.w.set_exec(exec);
    const uint8_t registers = type.ends_with("64") ? 2 : 1;
    wave.run(instruction(opcode_named(name), s(30, 2), {v(10, registers), v(12, registers)}));
    EXPECT_EQ(wave.pair(30), expected & exec) << name;
    EXPECT_EQ(wave.w.exec(), sets_exec ? expected & exec : exec) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 2 * (3 * 16 + 6 * 8));
}

// The bits of a class: signalling and quiet NaN, then from -infinity up.
TEST(AluCompare, ClassesOfF16AndF64) {
  const uint64_t halves[] = {0x7c01, 0x7e00, 0xfc00, 0xbc00, 0x8001, 0x8000, 0, 1, 0x3c00, 0x7c00};
  const uint64_t doubles[] = {0x7ff0000000000001, 0x7ff8000000000000, bits(-HUGE_VAL), bits(-1.0), bits(-0x1p-1070),
                              bits(-0.0),         bits(0.0),          bits(0x1p-1070), bits(1.0),  bits(HUGE_VAL)};
  const uint64_t singles[] = {0x7f800001, 0x7fc00000, 0xff800000, 0xbf800000, 0x80000001,
                              0x80000000, 0,          1,          0x3f800000, 0x7f800000};
  const struct {
    Opcode opcode;
    const uint64_t* numbers;
    uint8_t registers;
    bool sets_exec;
  } cases[] = {{Opcode::v_cmp_class_f16, halves, 1, false},
               {Opcode::v_cmp_class_f64, doubles, 2, false},
               {Opcode::v_cmpx_class_f16, halves, 1, true},
               {Opcode::v_cmpx_class_f32, singles, 1, true},
               {Opcode::v_cmpx_class_f64, doubles, 2, true}};
  for (const auto& c : cases)
    for (int asked = 0; asked < 10; ++asked) {
      OneWave wave;
      for (int l = 0; l < 10; ++l) wave.set64(10, l, c.numbers[l]);
      wave.w.set_exec(0x3ff);
      wave.run(instruction(c.opcode, s(30, 2), {v(10, c.registers), constant(uint64_t{1} << asked)}));
      EXPECT_EQ(wave.pair(30), uint64_t{1} << asked) << name_of(c.opcode);
      if (c.sets_exec) {
        EXPECT_EQ(wave.w.exec(), uint64_t{1} << asked) << name_of(c.opcode);
      }
    }
}

TEST(AluCompare, ScalarsToo) {
  int compared = 0;
  for (const std::string_view name : opcode_names()) {
    if (!is_scalar_comparison(name)) continue;
    const bool constants = name.starts_with("s_cmpk");
    const std::string_view rest = name.substr(constants ? 7 : 6), type = rest.substr(rest.find('_') + 1);
    const unsigned orders = orders_of(rest.substr(0, rest.find('_')));
    for (const uint64_t a : values_of(type))
      for (uint64_t b : values_of(type)) {
        if (constants) b = type == "i32" ? static_cast<uint32_t>(static_cast<int16_t>(b)) : b & 0xffff;
        OneWave wave;
        wave.set_pair(10, a), wave.set_pair(12, b);
        const uint8_t registers = type == "u64" ? 2 : 1;
        Instruction i = instruction(opcode_named(name), {}, {s(10, registers)});
        if (constants)
          i.immediate = static_cast<int16_t>(b);
        else
          i.sources[i.source_count++] = s(12, registers);
        wave.run(i);
        EXPECT_EQ(wave.w.scc, (order_of(type, a, b) & orders) != 0) << name << std::hex << " " << a << " " << b;
      }
    ++compared;
  }
  EXPECT_EQ(compared, 14 + 12);
}

}  // namespace
}  // namespace rung::amdgpu
