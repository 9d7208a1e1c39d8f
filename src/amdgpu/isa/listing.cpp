// Makes listings from machine code, and finds the goals of branches.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/isa/listing.hpp"

#include "amdgpu/isa/decode.hpp"

namespace rung::amdgpu {

Listing list_code(std::span<const std::byte> code, Isa isa) {
  Listing made{.isa = isa, .bytes = code.size()};
  for (size_t offset = 0; offset + 4 <= code.size();) {
    const auto instruction = decode(code.subspan(offset), isa);
    if (instruction)
      made.instructions.push_back({offset, *instruction});
    else
      ++made.undecoded;
    offset += instruction ? instruction->bytes : 4;
  }
  return made;
}

int64_t goal_of(const Placed& placed) {
  const Instruction& made = placed.instruction;
  const bool branches = made.opcode == Opcode::s_branch || name_of(made.opcode).starts_with("s_cbranch_");
  if (made.encoding != Encoding::sopp || !branches) return -1;
  return static_cast<int64_t>(placed.offset) + 4 + int64_t{4} * made.immediate;
}

bool ends_path(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::s_branch:
    case Opcode::s_endpgm:
    case Opcode::s_setpc_b64:
      return true;
    default:
      return false;
  }
}

}  // namespace rung::amdgpu
