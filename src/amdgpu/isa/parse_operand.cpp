// Splits lines into words, and reads registers and constants.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/isa/parse_operand.hpp"

#include <charconv>
#include <utility>

namespace rung::amdgpu {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }

// Returns the length of the word at the front of `text`, which ends at a space or comma outside brackets.
size_t word_length(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (depth <= 0 && (is_space(c) || c == ',')) return i;
  }
  return text.size();
}

void skip_space(std::string_view& text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
}

constexpr std::pair<std::string_view, std::pair<uint16_t, uint8_t>> kNamedScalars[] = {
    {"vcc", {kVcc, 2}},
    {"vcc_lo", {kVcc, 1}},
    {"vcc_hi", {kVcc + 1, 1}},
    {"exec", {kExec, 2}},
    {"exec_lo", {kExec, 1}},
    {"exec_hi", {kExec + 1, 1}},
    {"m0", {kM0, 1}},
    {"flat_scratch", {kFlatScratch, 2}},
    {"flat_scratch_lo", {kFlatScratch, 1}},
    {"flat_scratch_hi", {kFlatScratch + 1, 1}},
    {"xnack_mask", {kXnackMask, 2}},
    {"xnack_mask_lo", {kXnackMask, 1}},
    {"xnack_mask_hi", {kXnackMask + 1, 1}},
    {"src_shared_base", {kSharedBase, 0}},
    {"src_shared_limit", {kSharedLimit, 0}},
    {"src_private_base", {kPrivateBase, 0}},
    {"src_private_limit", {kPrivateLimit, 0}},
    {"src_vccz", {kVccZ, 0}},
    {"src_execz", {kExecZ, 0}},
    {"src_scc", {kScc, 0}},
};

std::optional<InstructionOperand> named_scalar(std::string_view word, const Spec& spec) {
  for (const auto& [name, what] : kNamedScalars)
    if (word == name) {
      const uint8_t count = what.second ? what.second : spec.registers;  // without halves: as many as asked for
      return InstructionOperand{
          .kind = OperandKind::scalar, .type = spec.type, .registers = count, .number = what.first};
    }
  return std::nullopt;
}

std::optional<uint32_t> small_number(std::string_view word) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value > 255) return std::nullopt;
  return value;
}

// Parses the text behind a register's letter: "12", "[4:7]", "[4]".
std::optional<std::pair<uint32_t, uint32_t>> register_range(std::string_view word) {
  if (word.size() < 3 || word.front() != '[' || word.back() != ']') {
    const auto first = small_number(word);
    if (!first) return std::nullopt;
    return std::pair{*first, *first};
  }
  word = word.substr(1, word.size() - 2);
  const size_t colon = word.find(':');
  const auto first = small_number(word.substr(0, colon));
  const auto last = colon == word.npos ? first : small_number(word.substr(colon + 1));
  if (!first || !last || *last < *first || *last - *first > 31) return std::nullopt;
  return std::pair{*first, *last};
}

std::optional<InstructionOperand> register_operand(std::string_view word, const Spec& spec) {
  constexpr uint32_t kFirstTrap = 108, kTraps = 16;
  const bool trap = word.starts_with("ttmp");
  if (word.empty() || !(trap || word.front() == 'v' || word.front() == 'a' || word.front() == 's')) return std::nullopt;
  const auto range = register_range(word.substr(trap ? 4 : 1));
  if (!range) return std::nullopt;
  const auto [first, last] = *range;
  const bool scalar = trap || word.front() == 's';
  if (scalar && last >= (trap ? kTraps : uint32_t{kFlatScratch})) return std::nullopt;
  InstructionOperand made{.type = spec.type, .registers = static_cast<uint8_t>(last - first + 1)};
  made.kind = scalar ? OperandKind::scalar : word.front() == 'v' ? OperandKind::vgpr : OperandKind::agpr;
  made.number = static_cast<uint16_t>(first + (trap ? kFirstTrap : 0));
  return made;
}

bool is_64(Type type) { return type == Type::b64 || type == Type::i64 || type == Type::u64 || type == Type::f64; }

// Takes off the signs around a source.
std::string_view strip_signs(std::string_view word, InstructionOperand& made) {
  const auto inner = [&](std::string_view name) {
    if (!word.starts_with(name) || !word.ends_with(")")) return false;
    word = word.substr(name.size(), word.size() - name.size() - 1);
    return true;
  };
  if (word.size() > 1 && word.front() == '-' && (word[1] < '0' || word[1] > '9'))
    made.neg = true, word.remove_prefix(1);
  if (inner("neg(")) made.neg = true;
  if (word.size() > 2 && word.front() == '|' && word.back() == '|')
    made.abs = true, word = word.substr(1, word.size() - 2);
  if (inner("abs(")) made.abs = true;
  inner("sext("), inner("lit(");
  return word;
}

}  // namespace

InstructionWords split_instruction(std::string_view line) {
  InstructionWords words;
  const size_t length = word_length(line);
  words.mnemonic = line.substr(0, length);
  line.remove_prefix(length);
  for (bool operand = true; skip_space(line), !line.empty();) {
    if (line.front() == ',') {
      operand = true;
      line.remove_prefix(1);
      continue;
    }
    const size_t next = word_length(line);
    (operand ? words.operands : words.modifiers).push_back(line.substr(0, next));
    line.remove_prefix(next);
    operand = false;
  }
  return words;
}

std::optional<int64_t> parse_integer(std::string_view word) {
  const bool negative = word.starts_with("-");
  if (negative) word.remove_prefix(1);
  const bool hex = word.starts_with("0x");
  if (hex) word.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, hex ? 16 : 10);
  if (word.empty() || error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

std::optional<int64_t> parse_modifier(const InstructionWords& words, std::string_view name) {
  for (const std::string_view word : words.modifiers)
    if (word.starts_with(name) && word.substr(name.size()).starts_with(":"))
      return parse_integer(word.substr(name.size() + 1));
  return std::nullopt;
}

InstructionOperand parse_operand(std::string_view word, const Spec& spec) {
  if (word == "off") return {};
  InstructionOperand signs;
  word = strip_signs(word, signs);
  auto made = named_scalar(word, spec);
  if (!made) made = register_operand(word, spec);
  if (!made) {
    if (const auto value = parse_integer(word)) {
      const uint64_t bits = static_cast<uint64_t>(*value);
      made = InstructionOperand{.kind = OperandKind::constant, .type = spec.type, .registers = spec.registers};
      made->bits = is_64(spec.type) ? bits : bits & 0xffffffff;
    } else {
      made = InstructionOperand{
          .kind = OperandKind::scalar, .type = spec.type, .registers = spec.registers, .number = kSymbol};
    }
  }
  made->neg = signs.neg, made->abs = signs.abs;
  return *made;
}

}  // namespace rung::amdgpu
