// Puts the words of a line where the row of its mnemonic has them.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/isa/parse_instruction.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "amdgpu/isa/decode.hpp"
#include "amdgpu/isa/parse_operand.hpp"

namespace rung::amdgpu {
namespace {

constexpr Spec kAny{Spec::Form::any, Type::b32, 1}, kAddress{Spec::Form::any, Type::b64, 2};
constexpr Spec kResource{Spec::Form::any, Type::b128, 4};

const std::unordered_map<std::string_view, Opcode>& opcodes() {
  static const auto made = [] {
    std::unordered_map<std::string_view, Opcode> map;
#define RUNG_AMD_OPCODE(name) map.emplace(name_of(Opcode::name), Opcode::name);
#include "amdgpu/isa/opcode_names.inc"
#undef RUNG_AMD_OPCODE
    return map;
  }();
  return made;
}

// Returns the mnemonic without its encoding's suffix; sets `plain` to false if the suffix brings modifiers.
std::string_view without_suffix(std::string_view name, bool& plain) {
  for (const std::string_view suffix : {"_dpp", "_sdwa"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size()), plain = false;
  for (const std::string_view suffix : {"_e32", "_e64"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

// Fills an instruction from its words, from the first on.
struct Filler {
  const Row& row;
  const InstructionWords& words;
  ParsedInstruction made{};
  size_t next = 0;
  bool missing = false;  // fewer operands than the row has

  std::string_view take() {
    if (next < words.operands.size()) return words.operands[next++];
    missing = true;
    return {};
  }
  bool has_modifier(std::string_view name) const {
    return std::find(words.modifiers.begin(), words.modifiers.end(), name) != words.modifiers.end();
  }
  void take_destination(const Spec& spec) { made.instruction.destination = parse_operand(take(), spec); }
  void take_source(const Spec& spec) { put(parse_operand(take(), spec)); }
  void put(const InstructionOperand& operand) {
    if (made.instruction.source_count < made.instruction.sources.size())
      made.instruction.sources[made.instruction.source_count++] = operand;
  }
  bool is_there(const Spec& spec) const { return spec.form != Spec::Form::none; }
  bool returns() const { return !(row.flags & kAtomic) || made.instruction.memory.sc0; }

  void fill_memory_modifiers();
  void fill_wait();
  void fill_program_control();
  void fill_scalar_immediate();
  void fill_scalar_memory();
  void fill_lds();
  void fill_flat();
  void fill_buffer();
  void fill_arithmetic();
  void fill();
};

void Filler::fill_memory_modifiers() {
  MemoryModifiers& memory = made.instruction.memory;
  memory.sc0 = has_modifier("sc0") || has_modifier("glc");
  memory.sc1 = has_modifier("sc1") || has_modifier("scc");
  memory.nt = has_modifier("nt") || has_modifier("slc");
  memory.offen = has_modifier("offen"), memory.idxen = has_modifier("idxen");
  memory.lds = has_modifier("lds") || (row.flags & kLds);
  memory.offset = static_cast<int32_t>(parse_modifier(words, "offset").value_or(0));
  if (row.flags & kTwoOffsets)
    memory.offset = static_cast<int32_t>((parse_modifier(words, "offset0").value_or(0) & 0xff) |
                                         (parse_modifier(words, "offset1").value_or(0) & 0xff) << 8);
}

// Reads "vmcnt(0) lgkmcnt(0)", with or without & between them; counters that are not named wait for nothing.
void Filler::fill_wait() {
  constexpr uint32_t kMostVector = 63, kMostExport = 7, kMostLocal = 15;
  uint32_t vector = kMostVector, exports = kMostExport, local = kMostLocal;
  std::vector<std::string_view> all = words.operands;
  all.insert(all.end(), words.modifiers.begin(), words.modifiers.end());
  for (const std::string_view word : all) {
    if (word == "&") continue;
    if (const auto plain = parse_integer(word)) {
      made.instruction.immediate = static_cast<int16_t>(*plain);
      return;
    }
    const size_t open = word.find('(');
    const auto value = open == word.npos || !word.ends_with(")")
                           ? std::nullopt
                           : parse_integer(word.substr(open + 1, word.size() - open - 2));
    const std::string_view name = word.substr(0, open);
    if (!value || *value < 0 || *value > kMostVector || (name != "vmcnt" && name != "expcnt" && name != "lgkmcnt"))
      return void(missing = true);
    (name == "vmcnt" ? vector : name == "expcnt" ? exports : local) = static_cast<uint32_t>(*value);
  }
  exports = std::min(exports, kMostExport), local = std::min(local, kMostLocal);
  made.instruction.immediate = static_cast<int16_t>((vector & 15) | exports << 4 | local << 8 | vector >> 4 << 14);
}

void Filler::fill_program_control() {
  if (row.opcode == Opcode::s_waitcnt) return fill_wait();
  const bool branches = row.opcode == Opcode::s_branch || name_of(row.opcode).starts_with("s_cbranch_");
  if (words.operands.empty()) return void(missing = branches);
  const auto number = parse_integer(words.operands.front());
  if (number) made.instruction.immediate = static_cast<int16_t>(*number);
  if (!number && branches) made.goal = words.operands.front();
}

void Filler::fill_scalar_immediate() {
  if (row.opcode == Opcode::s_setreg_b32 || row.opcode == Opcode::s_setreg_imm32_b32) {
    take();  // the hardware's register
    return take_source(row.sources[0]);
  }
  if (is_there(row.destination))
    take_destination(row.destination);
  else
    take_source(row.sources[0]);
  if (const auto number = parse_integer(take())) made.instruction.immediate = static_cast<int16_t>(*number);
}

void Filler::fill_scalar_memory() {
  const bool stores = row.source_count > 1 && !(row.flags & kProbe);
  InstructionOperand data;
  if ((row.flags & kProbe) || stores || is_there(row.destination))
    data = parse_operand(take(), is_there(row.destination) ? row.destination : row.sources[1]);
  if (returns() && is_there(row.destination)) made.instruction.destination = data;
  if (row.source_count == 0) return;
  take_source(row.sources[0]);
  const std::string_view offset = take();
  const auto number = parse_integer(offset);
  made.instruction.memory.scalar_offset = !number;
  if (number) made.instruction.memory.offset = static_cast<int32_t>(*number);
  put(number ? InstructionOperand{} : parse_operand(offset, kAny));
  if (stores) put(data);
}

void Filler::fill_lds() {
  if (is_there(row.destination)) take_destination(row.destination);
  for (size_t s = 0; s < row.source_count; ++s)
    if (is_there(row.sources[s]))
      take_source(row.sources[s]);
    else if (!(row.flags & kGws))
      put({});
}

void Filler::fill_flat() {
  if (is_there(row.destination) && returns() && !made.instruction.memory.lds) take_destination(row.destination);
  take_source(kAddress);
  if (is_there(row.sources[0])) take_source(row.sources[0]);
  if (row.encoding != Encoding::flat) take_source(kAddress);
}

// The assembler puts data first.
void Filler::fill_buffer() {
  if (row.flags & kNoAddress) return;
  const bool stores = is_there(row.sources[0]);
  InstructionOperand data;
  if (!made.instruction.memory.lds || stores) data = parse_operand(take(), stores ? row.sources[0] : row.destination);
  if (is_there(row.destination) && returns() && !made.instruction.memory.lds) {
    made.instruction.destination = data;  // a compare-and-swap returns half the registers it names
    if (stores) made.instruction.destination.registers = row.destination.registers;
  }
  take_source(kAddress);
  if (stores) put(data);
  take_source(kResource);
  take_source(kAny);
}

void Filler::fill_arithmetic() {
  if (is_there(row.destination)) take_destination(row.destination);
  if (row.destination.carry) made.instruction.carry_out = parse_operand(take(), kAddress);
  for (size_t s = 0; s < row.source_count; ++s)
    if (row.sources[s].form == Spec::Form::simm)
      take();  // says which registers s_set_gpr_idx_on displaces
    else
      take_source(row.sources[s]);
  if (const auto table = parse_modifier(words, "bitop3"))
    made.instruction.immediate = static_cast<int32_t>(*table & 0xff);
  const bool other = std::any_of(words.modifiers.begin(), words.modifiers.end(),
                                 [](std::string_view word) { return !word.starts_with("bitop3:"); });
  if (other || row.encoding == Encoding::vop3p) made.whole = false;
}

void Filler::fill() {
  fill_memory_modifiers();
  switch (row.encoding) {
    case Encoding::sopp:
      return fill_program_control();
    case Encoding::sopk:
      return fill_scalar_immediate();
    case Encoding::smem:
      return fill_scalar_memory();
    case Encoding::ds:
      return fill_lds();
    case Encoding::flat:
    case Encoding::global:
    case Encoding::scratch:
      return fill_flat();
    case Encoding::mubuf:
      return fill_buffer();
    default:
      return fill_arithmetic();
  }
}

}  // namespace

std::optional<ParsedInstruction> parse_instruction(std::string_view line) {
  InstructionWords words = split_instruction(line);
  bool plain = true;
  const auto found = opcodes().find(without_suffix(words.mnemonic, plain));
  if (found == opcodes().end()) return std::nullopt;
  const Row& row = row_of(found->second);
  if (row.flags & (kNoAddress | kGws))
    words.modifiers.insert(words.modifiers.end(), words.operands.begin(), words.operands.end());
  Filler filler{.row = row, .words = words};
  filler.made.instruction.opcode = row.opcode;
  filler.made.instruction.encoding = row.encoding;
  filler.made.whole = plain;
  filler.fill();
  if (filler.missing) return std::nullopt;
  return filler.made;
}

}  // namespace rung::amdgpu
