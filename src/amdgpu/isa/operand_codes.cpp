// Finds operands by their numbers in machine code.
// SPDX-License-Identifier: Apache-2.0
// Source: the chapter on operands in AMD's "Instruction Set Architecture" reference guides for CDNA 2, 3 and 4. Packed
// and 64-bit operands take constants in the way that compilers rely on: packed halves of 16 bits take the 32 bits of
// the constant, packed f32 its low half alone, and a literal of a 64-bit integer is extended by zeros unless signed.
#include "amdgpu/isa/operand_codes.hpp"

namespace rung::amdgpu {
namespace {

constexpr uint32_t kFirstInteger = 128, kLastPositive = 192, kLastInteger = 208, kFirstFloat = 240, kLastFloat = 248;

// The nine floating-point inline constants in each type: 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1 / (2 pi).
constexpr uint16_t kHalf[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
constexpr uint16_t kBrain[] = {0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x4000, 0xc000, 0x4080, 0xc080, 0x3e22};
constexpr uint32_t kSingle[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
constexpr uint64_t kDouble[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

bool has_64_bits(Type type) { return type == Type::b64 || type == Type::i64 || type == Type::u64 || type == Type::f64; }
bool has_16_bits(Type type) {
  return type == Type::b16 || type == Type::i16 || type == Type::u16 || type == Type::f16 || type == Type::bf16;
}

uint64_t integer_bits(int value, Type type) {
  const int64_t wide = value;
  if (has_64_bits(type)) return static_cast<uint64_t>(wide);
  if (has_16_bits(type)) return static_cast<uint16_t>(value);
  return static_cast<uint32_t>(value);
}

uint64_t float_bits(uint32_t index, Type type) {
  if ((has_16_bits(type) && type != Type::bf16) || type == Type::pk_f16) return kHalf[index];
  if (type == Type::bf16 || type == Type::pk_bf16) return kBrain[index];
  return has_64_bits(type) ? kDouble[index] : kSingle[index];
}

// Scalar registers of one kind, from `first` to `last` as encoded; an operand stays within its kind.
struct ScalarKind {
  uint32_t first, last;
};
constexpr ScalarKind kScalarKinds[] = {{0, kFlatScratch - 1},
                                       {kFlatScratch, kFlatScratch + 1},
                                       {kXnackMask, kXnackMask + 1},
                                       {kVcc, kVcc + 1},
                                       {kVcc + 2, kM0 - 1},  // for trap handlers
                                       {kM0, kM0},
                                       {kExec, kExec + 1}};

// Returns whether the number names a value to read, of any width, that is no register.
bool is_special(uint32_t number) {
  return (number >= kSharedBase && number <= kPrivateLimit) || number == kVccZ || number == kExecZ || number == kScc;
}

bool is_scalar(uint32_t number, uint32_t registers) {
  if (is_special(number)) return true;
  const uint32_t multiple = registers >= 4 ? 4 : registers >= 2 ? 2 : 1;
  if (number % multiple != 0) return false;
  for (const ScalarKind& kind : kScalarKinds)
    if (number >= kind.first && number + registers - 1 <= kind.last) return true;
  return false;
}

InstructionOperand constant(uint64_t bits, const Spec& spec) {
  InstructionOperand operand{OperandKind::constant, spec.type, spec.registers};
  operand.bits = bits;
  return operand;
}

}  // namespace

bool fits(uint32_t number, uint32_t registers) {
  return number + registers <= 256 && (registers == 1 || number % 2 == 0);
}

InstructionOperand vector_register(uint32_t number, const Spec& spec, bool accumulator) {
  InstructionOperand operand{accumulator || spec.form == Spec::Form::acc ? OperandKind::agpr : OperandKind::vgpr,
                             spec.type, spec.registers};
  operand.number = static_cast<uint16_t>(number);
  return operand;
}

std::optional<InstructionOperand> scalar_register(uint32_t number, const Spec& spec) {
  if (!is_scalar(number, spec.registers)) return std::nullopt;
  InstructionOperand operand{OperandKind::scalar, spec.type, spec.registers};
  operand.number = static_cast<uint16_t>(number);
  return operand;
}

InstructionOperand literal_operand(uint32_t word, Type type) {
  InstructionOperand operand{OperandKind::constant, type, static_cast<uint8_t>(has_64_bits(type) ? 2 : 1)};
  operand.literal = true;
  operand.bits = word;
  if (has_16_bits(type)) operand.bits = static_cast<uint16_t>(word);
  if (type == Type::f64) operand.bits = uint64_t{word} << 32;
  if (type == Type::i64) operand.bits = static_cast<uint64_t>(int64_t{static_cast<int32_t>(word)});
  return operand;
}

std::optional<InstructionOperand> source_operand(uint32_t code, const Spec& spec, std::optional<uint32_t> literal) {
  if (code >= kFirstVgpr) {
    const bool is_scalar_only = spec.form == Spec::Form::scalar || spec.form == Spec::Form::mask;
    if (is_scalar_only || !fits(code - kFirstVgpr, spec.registers)) return std::nullopt;
    return vector_register(code - kFirstVgpr, spec, false);
  }
  if (code == kLiteralCode) {
    if (!literal) return std::nullopt;
    return literal_operand(*literal, spec.type);
  }
  if (code >= kFirstInteger && code <= kLastInteger) {
    const int value = static_cast<int>(code);
    const int positive = static_cast<int>(kFirstInteger), last = static_cast<int>(kLastPositive);
    return constant(integer_bits(value <= last ? value - positive : last - value, spec.type), spec);
  }
  if (code >= kFirstFloat && code <= kLastFloat) return constant(float_bits(code - kFirstFloat, spec.type), spec);
  return scalar_register(code, spec);
}

}  // namespace rung::amdgpu
