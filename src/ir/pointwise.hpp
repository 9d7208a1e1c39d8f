// The program language of the pointwise op: a chain of element-wise instructions over registers, with its text form.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/op.hpp"

namespace rung {

// Rounding to a narrower float type and back: "bf16(r1)", "f16(r1)".
struct Round {
  DType to = DType::bf16;
  friend bool operator==(const Round&, const Round&) = default;
};

struct Register {
  int index = 0;
  friend bool operator==(const Register&, const Register&) = default;
};

// A register, or a literal such as the 0.5 of "mul(r0,0.5)".
using PointwiseOperand = std::variant<Register, float>;
// A formula is one of floats.
using PointwiseFunction = std::variant<UnaryKind, BinaryKind, Select, Round, FormulaKind>;

// An instruction. Select reads (condition, a, b): it gives a where the condition is not 0.
struct PointwiseInstruction {
  PointwiseFunction function = UnaryKind::neg;
  std::array<PointwiseOperand, 3> operands{};  // the first arity() count
  size_t arity() const;
  bool carries(size_t at) const;  // whether -inf in operand `at`, beside numbers in the others, gives -inf
  friend bool operator==(const PointwiseInstruction&, const PointwiseInstruction&) = default;
};

// Registers 0..inputs-1 are the op's operands; instruction i writes register inputs+i; the last one is the result.
struct PointwiseProgram {
  size_t inputs = 0;
  std::vector<PointwiseInstruction> instructions;
  size_t registers() const { return inputs + instructions.size(); }
  friend bool operator==(const PointwiseProgram&, const PointwiseProgram&) = default;
};

// Parses "r2=mul(r0,r1);r3=tanh(r2)", here of an op of two operands; spaces may be between words. It has at least one
// instruction, targets in order, operands from registers already written. Errors quote it and say what was wanted.
Result<PointwiseProgram> parse_pointwise(std::string_view text, size_t inputs);
// Prints without spaces; the text parses back to an equal program.
std::string print_pointwise(const PointwiseProgram& program);

}  // namespace rung
