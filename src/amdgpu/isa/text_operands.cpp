// Writes operands as an assembler does.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <span>

#include "amdgpu/isa/text_parts.hpp"

namespace rung::amdgpu {
namespace {

std::string range(const char* letter, uint32_t first, uint32_t count) {
  if (count == 1) return letter + std::to_string(first);
  return std::string(letter) + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

// Names the halves of a register: vcc, vcc_lo, vcc_hi.
std::string halves(const char* name, uint32_t half, uint32_t count) {
  return count > 1 ? name : std::string(name) + (half ? "_hi" : "_lo");
}

std::string scalar_text(uint32_t number, uint32_t count) {
  if (number < kFlatScratch) return range("s", number, count);
  switch (number) {
    case kFlatScratch:
    case kFlatScratch + 1:
      return halves("flat_scratch", number - kFlatScratch, count);
    case kXnackMask:
    case kXnackMask + 1:
      return halves("xnack_mask", number - kXnackMask, count);
    case kVcc:
    case kVcc + 1:
      return halves("vcc", number - kVcc, count);
    case kExec:
    case kExec + 1:
      return halves("exec", number - kExec, count);
    case kM0:
      return "m0";
    case kSharedBase:
      return "src_shared_base";
    case kSharedLimit:
      return "src_shared_limit";
    case kPrivateBase:
      return "src_private_base";
    case kPrivateLimit:
      return "src_private_limit";
    case kVccZ:
      return "src_vccz";
    case kExecZ:
      return "src_execz";
    case kScc:
      return "src_scc";
    default:
      return range("ttmp", number - 108, count);
  }
}

struct Named {
  uint64_t bits;
  const char* text;
};
constexpr Named kHalf[] = {{0x3800, "0.5"},  {0xb800, "-0.5"}, {0x3c00, "1.0"},  {0xbc00, "-1.0"},      {0x4000, "2.0"},
                           {0xc000, "-2.0"}, {0x4400, "4.0"},  {0xc400, "-4.0"}, {0x3118, "0.15915494"}};
constexpr Named kBrain[] = {{0x3f00, "0.5"},  {0xbf00, "-0.5"}, {0x3f80, "1.0"},
                            {0xbf80, "-1.0"}, {0x4000, "2.0"},  {0xc000, "-2.0"},
                            {0x4080, "4.0"},  {0xc080, "-4.0"}, {0x3e22, "0.15915494"}};
constexpr Named kSingle[] = {{0x3f000000, "0.5"},  {0xbf000000, "-0.5"}, {0x3f800000, "1.0"},
                             {0xbf800000, "-1.0"}, {0x40000000, "2.0"},  {0xc0000000, "-2.0"},
                             {0x40800000, "4.0"},  {0xc0800000, "-4.0"}, {0x3e22f983, "0.15915494"}};
constexpr Named kDouble[] = {
    {0x3fe0000000000000, "0.5"},  {0xbfe0000000000000, "-0.5"}, {0x3ff0000000000000, "1.0"},
    {0xbff0000000000000, "-1.0"}, {0x4000000000000000, "2.0"},  {0xc000000000000000, "-2.0"},
    {0x4010000000000000, "4.0"},  {0xc010000000000000, "-4.0"}, {0x3fc45f306dc9c882, "0.15915494309189532"}};

std::span<const Named> names_of(Type type) {
  switch (type) {
    case Type::f16:
    case Type::pk_f16:
      return kHalf;
    case Type::bf16:
    case Type::pk_bf16:
      return kBrain;
    case Type::b64:
    case Type::i64:
    case Type::u64:
    case Type::f64:
      return kDouble;
    default:
      return kSingle;
  }
}

int64_t signed_value(const InstructionOperand& operand) {
  switch (operand.type) {
    case Type::b16:
    case Type::i16:
    case Type::u16:
    case Type::f16:
    case Type::bf16:
      if (operand.bits <= 0xffff) return static_cast<int16_t>(operand.bits);
      [[fallthrough]];
    default:
      return static_cast<int32_t>(operand.bits);
    case Type::b64:
    case Type::i64:
    case Type::u64:
    case Type::f64:
      return static_cast<int64_t>(operand.bits);
  }
}

std::string literal_of_f64(uint64_t bits) {
  if (bits == 0) return "0";
  for (const Named& name : kDouble)
    if (name.bits == bits) return name.text;
  return hex(bits >> 32);
}

bool is_integer_of_16(Type type) { return type == Type::b16 || type == Type::i16 || type == Type::u16; }

// "lit()" marks a literal that could have been an inline constant.
std::string constant_text(const InstructionOperand& operand) {
  if (operand.literal && operand.type == Type::f64) return literal_of_f64(operand.bits);
  const int64_t value = signed_value(operand);
  bool is_inline = value >= -16 && value <= 64;
  std::string text = is_inline ? std::to_string(value) : hex(operand.bits);
  for (const Named& name : names_of(operand.type))
    if (name.bits == operand.bits && !is_integer_of_16(operand.type)) text = name.text, is_inline = true;
  if (operand.literal && !is_inline) text = hex(operand.type == Type::i64 ? operand.bits & 0xffffffff : operand.bits);
  return is_inline && operand.literal ? "lit(" + hex(operand.bits) + ")" : text;
}

}  // namespace

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string small_or_hex(uint32_t value) { return value <= 64 ? std::to_string(value) : hex(value); }

std::string register_text(const InstructionOperand& operand) {
  switch (operand.kind) {
    case OperandKind::none:
      return "off";
    case OperandKind::vgpr:
      return range("v", operand.number, operand.registers);
    case OperandKind::agpr:
      return range("a", operand.number, operand.registers);
    case OperandKind::scalar:
      return scalar_text(operand.number, operand.registers);
    case OperandKind::constant:
      return constant_text(operand);
  }
  return "";
}

std::string operand_text(const InstructionOperand& operand) {
  std::string text = register_text(operand);
  if (operand.abs) text = "|" + text + "|";
  if (!operand.neg) return text;
  return operand.kind == OperandKind::constant && !operand.abs ? "neg(" + text + ")" : "-" + text;
}

}  // namespace rung::amdgpu
