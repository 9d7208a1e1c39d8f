// Writes operands and modifiers of memory accesses as an assembler does.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/isa/text_parts.hpp"

namespace rung::amdgpu {
namespace {

std::string cache_bits(const MemoryModifiers& memory, Isa isa) {
  const bool old = isa == Isa::gfx90a;
  std::string text;
  if (memory.sc0) text += old ? " glc" : " sc0";
  if (memory.nt) text += old ? " slc" : " nt";
  if (memory.sc1) text += old ? " scc" : " sc1";
  return text;
}

std::string swizzle(uint32_t offset) {
  if (offset >> 8 == 0x80) {
    std::string text = " offset:swizzle(QUAD_PERM";
    for (int i = 0; i < 4; ++i) text += "," + std::to_string(offset >> 2 * i & 3);
    return text + ")";
  }
  if (offset & 0x8000) return " offset:" + std::to_string(offset);
  const uint32_t and_mask = offset & 31, or_mask = offset >> 5 & 31, xor_mask = offset >> 10 & 31;
  if (and_mask == 31 && or_mask == 0 && xor_mask != 0 && (xor_mask & (xor_mask - 1)) == 0)
    return " offset:swizzle(SWAP," + std::to_string(xor_mask) + ")";
  if (and_mask == 31 && or_mask == 0 && xor_mask != 0 && (xor_mask & (xor_mask + 1)) == 0)
    return " offset:swizzle(REVERSE," + std::to_string(xor_mask + 1) + ")";
  const uint32_t group = 32 - and_mask;
  if (xor_mask == 0 && (group & (group - 1)) == 0 && group > 1 && or_mask < group)
    return " offset:swizzle(BROADCAST," + std::to_string(group) + "," + std::to_string(or_mask) + ")";
  std::string text = " offset:swizzle(BITMASK_PERM,\"";
  for (int place = 4; place >= 0; --place) {
    const bool keep = and_mask >> place & 1, set = or_mask >> place & 1, flip = xor_mask >> place & 1;
    text += keep ? (set ? (flip ? '0' : '1') : (flip ? 'i' : 'p')) : (set != flip ? '1' : '0');
  }
  return text + "\")";
}

std::string lds_offset(const Instruction& made, const Row& row) {
  const uint32_t offset = static_cast<uint32_t>(made.memory.offset);
  if (made.opcode == Opcode::ds_swizzle_b32) return offset ? swizzle(offset) : "";
  if (!(row.flags & kTwoOffsets)) return offset ? " offset:" + std::to_string(offset) : "";
  std::string text;
  if (offset & 0xff) text += " offset0:" + std::to_string(offset & 0xff);
  if (offset >> 8) text += " offset1:" + std::to_string(offset >> 8);
  return text;
}

std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? " " : ", ") + part;
  return text;
}

std::string if_there(const InstructionOperand& operand) {
  return operand.kind == OperandKind::none ? "" : register_text(operand);
}

std::string signed_hex(int32_t value) {
  return value < 0 ? "-" + hex(static_cast<uint32_t>(-value)) : hex(static_cast<uint32_t>(value));
}

std::string scalar_memory_operands(const Instruction& made, const Row& row) {
  if (made.source_count == 0) return joined({if_there(made.destination)});
  const std::string base = register_text(made.sources[0]);
  std::string data =
      row.flags & kProbe ? small_or_hex(static_cast<uint32_t>(made.immediate)) : if_there(made.destination);
  if (row.source_count > 1 && !(row.flags & kProbe)) data = register_text(made.sources[2]);
  if (!made.memory.scalar_offset) {
    return joined({data, base, signed_hex(made.memory.offset)});
  }
  return joined({data, base, register_text(made.sources[1])});
}

std::string lds_operands(const Instruction& made) {
  std::string text = joined({if_there(made.destination)});
  for (size_t s = 0; s < made.source_count; ++s)
    if (made.sources[s].kind != OperandKind::none) text += (text.empty() ? " " : ", ") + register_text(made.sources[s]);
  return text;
}

std::string flat_operands(const Instruction& made) {
  std::string text = joined({if_there(made.destination), register_text(made.sources[0])});
  for (size_t s = 1; s < made.source_count; ++s) text += ", " + register_text(made.sources[s]);
  return text;
}

// The assembler puts data first.
std::string buffer_operands(const Instruction& made, const Row& row) {
  if (row.flags & kNoAddress) return "";
  const bool stores = row.sources[0].form != Spec::Form::none;
  const size_t resource = stores ? 2 : 1;
  const std::string data = stores ? register_text(made.sources[1]) : if_there(made.destination);
  return joined({data, register_text(made.sources[0]), register_text(made.sources[resource]),
                 register_text(made.sources[resource + 1])});
}

}  // namespace

std::string memory_operands(const Instruction& made, const Row& row) {
  switch (made.encoding) {
    case Encoding::smem:
      return scalar_memory_operands(made, row);
    case Encoding::ds:
      return lds_operands(made);
    case Encoding::mubuf:
      return buffer_operands(made, row);
    default:
      return flat_operands(made);
  }
}

std::string memory_modifiers(const Instruction& made, const Row& row, Isa isa) {
  if (made.encoding == Encoding::ds) return lds_offset(made, row) + (row.flags & kGws ? " gds" : "");
  std::string text;
  if (made.encoding == Encoding::smem) {
    if (made.memory.scalar_offset && made.memory.offset) text += " offset:" + signed_hex(made.memory.offset);
    return text + (made.memory.sc0 && made.source_count ? " glc" : "");
  }
  if (made.memory.idxen) text += " idxen";
  if (made.memory.offen) text += " offen";
  if (made.memory.offset) text += " offset:" + std::to_string(made.memory.offset);
  if (!(row.flags & kNoAddress) || isa != Isa::gfx90a) text += cache_bits(made.memory, isa);
  return text + (made.memory.lds && !(row.flags & kLds) ? " lds" : "");
}

}  // namespace rung::amdgpu
