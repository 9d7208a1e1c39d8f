// Instructions as llvm-objdump writes them.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/decode.hpp"
#include "amdgpu/opcode_rows.hpp"

namespace rung::amdgpu {

std::string_view name_of(Opcode opcode) {
  static constexpr std::string_view kNames[] = {
#define RUNG_AMD_OPCODE(name) #name,
#include "amdgpu/opcode_names.inc"
#undef RUNG_AMD_OPCODE
  };
  return kNames[static_cast<size_t>(opcode)];
}

std::string_view suffix_of(const Instruction& instruction) {
  if (instruction.is_sdwa) return "_sdwa";
  if (instruction.is_dpp) return "_dpp";
  const Row& row = row_of(instruction.opcode);
  const bool has_both =
      row.encoding == Encoding::vop1 || row.encoding == Encoding::vop2 || row.encoding == Encoding::vopc;
  if (!has_both || (row.flags & kNoE64) || row.destination.form == Spec::Form::none) return "";
  return instruction.encoding == Encoding::vop3 ? "_e64" : "_e32";
}

}  // namespace rung::amdgpu
