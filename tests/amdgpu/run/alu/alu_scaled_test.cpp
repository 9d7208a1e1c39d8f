// Every conversion with a scale, by its name: elements in a row of bits to elements in a row of bits.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "alu_fixture.hpp"
#include "alu_names.hpp"

namespace rung::amdgpu {
namespace {

// How a format holds a number: bits of exponent and mantissa behind a sign.
struct Kind {
  std::string_view name;
  int exponents, mantissas, bias;
  int width() const { return 1 + exponents + mantissas; }
};
constexpr Kind kKinds[] = {{"bf16", 8, 7, 127}, {"f32", 8, 23, 127}, {"f16", 5, 10, 15}, {"fp8", 4, 3, 7},
                           {"bf8", 5, 2, 15},   {"fp6", 2, 3, 1},    {"bf6", 3, 2, 3},   {"fp4", 2, 1, 1}};
const Kind& kind_named(std::string_view name) {
  for (const Kind& kind : kKinds)
    if (kind.name == name) return kind;
  ADD_FAILURE() << name;
  return kKinds[0];
}

// Of a number that is normal in the format.
uint64_t code_of(const Kind& kind, double x) {
  if (x == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(x), &exponent) * 2 - 1;
  const auto low = static_cast<uint64_t>(std::ldexp(mantissa, kind.mantissas));
  const auto high = static_cast<uint64_t>(exponent - 1 + kind.bias);
  return low | high << kind.mantissas | (x < 0 ? uint64_t{1} << (kind.width() - 1) : 0);
}

// Bits of one lane in registers from `first` on.
struct Row {
  OneWave& wave;
  int first;
  void put(int bit, int width, uint64_t value) const {
    for (int b = 0; b < width; ++b, ++bit) {
      uint32_t& word = wave.w.v[first + bit / 32].at[5];
      word = (word & ~(1u << bit % 32)) | static_cast<uint32_t>(value >> b & 1) << bit % 32;
    }
  }
  uint64_t get(int bit, int width) const {
    uint64_t value = 0;
    for (int b = 0; b < width; ++b, ++bit) value |= uint64_t{wave.get(first + bit / 32, 5) >> bit % 32 & 1} << b;
    return value;
  }
};

constexpr double kNumbers[] = {1, -2, 3, -1, 2, 1.5, -3, 4};
constexpr double kScale = 4;

// "v_cvt_scalef32_sr_pk_fp4_f16": to fp4 from f16, two of each, rounded by random bits.
TEST(AluScaled, EveryConversionMovesItsElements) {
  int converted = 0;
  for (const std::string_view name : opcode_names()) {
    if (!is_scaled_conversion(name)) continue;
    const size_t last = name.rfind('_'), before = name.rfind('_', last - 1);
    const Kind &to = kind_named(name.substr(before + 1, last - before - 1)), &from = kind_named(name.substr(last + 1));
    const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
    const int count = has("pk32") || has("2xpk16") ? 32 : has("_pk_") ? 2 : 1;
    const bool narrows = to.width() < from.width(), random = has("_sr_");
    const Opcode opcode = opcode_named(name);
    const amdgpu::Row& row = row_of(opcode);
    OneWave wave;
    wave.w.isa = Isa::gfx950;
    Instruction i = instruction(opcode, v(2, row.destination.registers), {});
    uint16_t next = 40;  // data in a row, then random bits, then the scale
    for (int k = 0; k < row.source_count; ++k) {
      i.sources[i.source_count++] = v(next, row.sources[k].registers);
      next = static_cast<uint16_t>(next + row.sources[k].registers);
    }
    const Row data{wave, 40}, result{wave, 2};
    const auto number = [&](int n) { return kNumbers[n % 8]; };
    for (int n = 0; n < count; ++n)
      data.put(n * from.width(), from.width(), code_of(from, narrows ? number(n) * kScale : number(n)));
    wave.set(next - 1, 5, static_cast<uint32_t>(bits(float{kScale})));
    if (random) wave.set(next - 2, 5, 0);
    for (int r = 0; r < row.destination.registers; ++r) wave.set(2 + r, 5, 0);
    wave.run(i);
    for (int n = 0; n < count; ++n)
      EXPECT_EQ(result.get(n * to.width(), to.width()), code_of(to, narrows ? number(n) : number(n) * kScale))
          << name << ", element " << n;
    ++converted;
  }
  EXPECT_EQ(converted, 49);
}

}  // namespace
}  // namespace rung::amdgpu
