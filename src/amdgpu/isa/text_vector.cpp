// Writes modifiers of vector instructions as an assembler does: halves, negation, clamp, SDWA, DPP, broadcasts.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/isa/text_parts.hpp"

namespace rung::amdgpu {
namespace {

constexpr const char* kOmod[] = {"", " mul:2", " mul:4", " div:2"};

template <class Get>
std::string list(const char* name, int count, Get get) {
  std::string text = std::string(" ") + name + ":[";
  for (int i = 0; i < count; ++i) text += std::string(i ? "," : "") + (get(i) ? "1" : "0");
  return text + "]";
}

// Writes nothing if all have their default.
template <class Get>
std::string list_unless(bool usual, const char* name, int count, Get get) {
  for (int i = 0; i < count; ++i)
    if (get(i) != usual) return list(name, count, get);
  return "";
}

std::string vop3_halves(const Instruction& made, const Row& row) {
  if (!(row.flags & (kOpSel | kOpSel4))) return "";
  const int sources = row.flags & kOpSel4 ? 3 : made.source_count;
  return list_unless(false, "op_sel", sources + 1, [&](int i) {
    return i == sources ? made.op_sel_destination : made.sources[static_cast<size_t>(i)].op_sel;
  });
}

std::string packed_modifiers(const Instruction& made, const Row& row) {
  std::string text;
  const int count = made.source_count;
  const auto source = [&](int i) -> const InstructionOperand& { return made.sources[static_cast<size_t>(i)]; };
  if (row.flags & (kPacked | kMix)) {
    text += list_unless(false, "op_sel", count, [&](int i) { return source(i).op_sel; });
    text += list_unless((row.flags & kPacked) != 0, "op_sel_hi", count, [&](int i) { return source(i).op_sel_hi; });
  }
  if (row.flags & (kPacked | kNoPacked)) {
    text += list_unless(false, "neg_lo", count, [&](int i) { return source(i).neg; });
    text += list_unless(false, "neg_hi", count, [&](int i) { return source(i).neg_hi; });
  }
  return text + (made.clamp ? " clamp" : "");
}

std::string number(const char* name, uint32_t value) {
  return value ? std::string(" ") + name + ":" + std::to_string(value) : "";
}

std::string matrix_modifiers(const Instruction& made, const Row& row, Isa isa) {
  std::string text;
  if (row.number >= kScaled) {
    const auto scale = [&](int i) -> const InstructionOperand& { return made.sources[static_cast<size_t>(i) + 3]; };
    text += list_unless(false, "op_sel", 3, [&](int i) { return i < 2 && scale(i).op_sel; });
    text += list("op_sel_hi", 3, [&](int i) { return i < 2 && scale(i).op_sel_hi; });
  }
  text += number("cbsz", made.matrix.cbsz) + number("abid", made.matrix.abid);
  if (made.destination.type == Type::f64 && isa != Isa::gfx90a)
    return text + list_unless(false, "neg", 3, [&](int i) { return made.matrix.blgp >> i & 1; });
  return text + number("blgp", made.matrix.blgp);
}

std::string sdwa_modifiers(const Instruction& made, const Row& row) {
  static constexpr const char* kSelects[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  static constexpr const char* kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  const auto select = [](Select s) { return kSelects[static_cast<size_t>(s)]; };
  std::string text = made.clamp ? " clamp" : "";
  text += kOmod[made.omod];
  if (row.encoding != Encoding::vopc) {
    text += std::string(" dst_sel:") + select(made.sdwa.destination);
    text += std::string(" dst_unused:") + kUnused[static_cast<size_t>(made.sdwa.unused)];
  }
  if (row.source_count > 0) text += std::string(" src0_sel:") + select(made.sdwa.source[0]);
  if (row.source_count > 1) text += std::string(" src1_sel:") + select(made.sdwa.source[1]);
  return text;
}

std::string lanes_text(uint32_t control) {
  const auto with = [&](const char* name) { return std::string(name) + ":" + std::to_string(control & 15); };
  if (control < 0x100) {
    std::string text = "quad_perm:[";
    for (int i = 0; i < 4; ++i) text += std::string(i ? "," : "") + std::to_string(control >> 2 * i & 3);
    return text + "]";
  }
  switch (control) {
    case 0x130:
      return "wave_shl:1";
    case 0x134:
      return "wave_rol:1";
    case 0x138:
      return "wave_shr:1";
    case 0x13c:
      return "wave_ror:1";
    case 0x140:
      return "row_mirror";
    case 0x141:
      return "row_half_mirror";
    case 0x142:
      return "row_bcast:15";
    case 0x143:
      return "row_bcast:31";
    default:
      break;
  }
  switch (control >> 4) {
    case 0x10:
      return with("row_shl");
    case 0x11:
      return with("row_shr");
    case 0x12:
      return with("row_ror");
    default:
      return with("row_newbcast");
  }
}

std::string dpp_modifiers(const Instruction& made) {
  return " " + lanes_text(made.dpp.control) + " row_mask:" + hex(made.dpp.row_mask) +
         " bank_mask:" + hex(made.dpp.bank_mask) + (made.dpp.bound_ctrl ? " bound_ctrl:1" : "");
}

}  // namespace

std::string vector_modifiers(const Instruction& made, const Row& row, Isa isa) {
  if (made.is_sdwa) return sdwa_modifiers(made, row);
  if (made.is_dpp) return dpp_modifiers(made);
  if (row.flags & kMatrix) return matrix_modifiers(made, row, isa);
  if (made.encoding == Encoding::vop3p) return packed_modifiers(made, row);
  if (made.encoding != Encoding::vop3) return "";
  std::string text;
  if (row.flags & kBitop && made.immediate) text += " bitop3:" + small_or_hex(static_cast<uint32_t>(made.immediate));
  text += vop3_halves(made, row);
  return text + (made.clamp ? " clamp" : "") + kOmod[made.omod];
}

}  // namespace rung::amdgpu
