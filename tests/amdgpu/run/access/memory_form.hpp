// Every form of a memory instruction, by its name: what it reads and writes, how wide, at how many places, and the
// instruction itself on registers that are always the same.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "amdgpu/isa/opcode_rows.hpp"
#include "amdgpu/run/access/memory_handlers.hpp"
#include "amdgpu/run/alu/alu_names.hpp"
#include "support/one_wave.hpp"

namespace rung::amdgpu::testing {

enum class Space : uint8_t { none, memory, lds, scratch };

// Registers of all forms: addresses in v[0:1], data from v30 on, results from v20 (s20) on; a buffer's resource in
// s[8:11], a base in s[4:5].
inline constexpr unsigned kAddress = 0, kData = 30, kResult = 20, kBase = 4, kResource = 8;
inline constexpr unsigned kSecondOffset = 100;  // in units of the form, of those that have two

struct Form {
  std::string name;
  Opcode opcode{};
  Encoding encoding{};
  Space space = Space::none;  // that it accesses; where a flat one is sent
  bool loads = false, stores = false, atomic = false;
  bool by_base = false;        // an address of memory by a scalar base
  bool direct = false;         // from memory to LDS
  uint32_t bytes = 0;          // of a lane at a place
  uint32_t apart = 0;          // from the first place to the second; 0: there is one
  unsigned results = 0;        // registers
  std::vector<unsigned> data;  // registers of each source behind the address

  bool is_scalar() const { return encoding == Encoding::smem; }
  bool is_flat() const { return encoding == Encoding::flat; }
  bool counts_vector() const { return encoding != Encoding::ds && !is_scalar(); }
  bool counts_local() const { return !counts_vector() || is_flat(); }
  bool is_ordered() const { return !is_flat() && !is_scalar(); }
  bool by_lane() const { return name.find("addtid") != std::string::npos || one_counter(); }
  bool one_counter() const { return name.starts_with("ds_append") || name.starts_with("ds_consume"); }
  bool has_address() const { return !by_lane() && name != "ds_nop" && !name.starts_with("s_mem"); }
  bool needs_m0() const { return by_lane() || direct; }
  bool writes_lds() const { return direct || (space == Space::lds && (stores || atomic)); }
  int places() const { return apart != 0 ? 2 : 1; }
};

inline uint32_t narrow_bytes(std::string_view name) {
  for (const std::string_view suffix : {"_hi", "_d16"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  const auto ends = [&](auto... words) { return (name.ends_with(words) || ...); };
  if (name.find("_tr_") != std::string_view::npos || name.find("_rtn_") != std::string_view::npos) return 0;
  if (ends("byte", "_b8", "_u8", "_i8")) return 1;
  return ends("short", "_b16", "_u16", "_i16") ? 2 : 0;
}

inline Form form_of(std::string_view name, const Row& row) {
  Form form{.name = std::string(name), .opcode = row.opcode, .encoding = row.encoding};
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  const bool ds = row.encoding == Encoding::ds;
  const bool moves = has("permute") || has("swizzle") || name == "ds_nop";
  form.direct = has("_load_lds_");
  form.loads = has("_load") || has("ds_read");
  form.stores = has("_store") || has("ds_write");
  form.atomic = !moves && !form.loads && !form.stores && !form.is_scalar();
  form.space = moves ? Space::none : ds ? Space::lds : has("scratch") ? Space::scratch : Space::memory;
  for (int k = ds ? 1 : 0; k < row.source_count && !form.is_scalar(); ++k)
    if (row.sources[k].registers != 0) form.data.push_back(row.sources[k].registers);
  if (name == "ds_swizzle_b32") form.data.clear();
  form.results = form.direct ? 0 : row.destination.registers;
  const bool two = (row.flags & kTwoOffsets) != 0;
  const unsigned whole = form.loads ? form.results / (two ? 2 : 1) : form.data.empty() ? 1 : form.data[0];
  form.bytes = narrow_bytes(name) != 0 ? narrow_bytes(name) : 4 * whole;
  if (form.direct && narrow_bytes(name) == 0) form.bytes = name.ends_with("x4") ? 16 : name.ends_with("x3") ? 12 : 4;
  if (has("cmpswap")) form.bytes /= 2;
  if (two) form.apart = form.bytes * kSecondOffset * (has("st64") ? 64 : 1);
  return form;
}

// All that are executed, with and without what an atomic returns, flat ones to memory and to LDS, global ones also by a
// scalar base, and those of buffers that go to LDS.
inline std::vector<Form> memory_forms() {
  std::vector<Form> all;
  for (const std::string_view name : opcode_names()) {
    const Row& row = row_of(opcode_named(name));
    const Encoding e = row.encoding;
    if (e != Encoding::ds && e != Encoding::flat && e != Encoding::global && e != Encoding::scratch &&
        e != Encoding::mubuf && e != Encoding::smem)
      continue;
    Instruction plain{.opcode = row.opcode, .encoding = e};
    plain.memory.lds = (row.flags & kLds) != 0;
    if (memory_handler(plain, Isa::gfx950) == nullptr || (row.flags & (kGws | kNoAddress)) != 0) continue;
    Form form = form_of(name, row);
    if (form.is_scalar() && form.results == 0) continue;
    if (name.starts_with("s_mem")) form.space = Space::none;
    std::vector<Form> variants{form};
    if (row.flags & kAtomic) variants.push_back(form), variants[0].results = 0;
    if (form.is_flat())
      for (const Form& each : std::vector<Form>(variants)) variants.push_back(each), variants.back().space = Space::lds;
    if (e == Encoding::global) variants.push_back(variants[0]), variants.back().by_base = true;
    plain.memory.lds = true;
    if (e == Encoding::mubuf && form.loads && memory_handler(plain, Isa::gfx950) != nullptr) {
      variants.push_back(form);
      variants.back().direct = true, variants.back().results = 0;
    }
    for (Form& each : variants) {
      if (each.atomic && each.results != 0 && !each.is_scalar() && each.encoding != Encoding::ds)
        each.name += " returns";
      if (each.is_flat()) each.name += each.space == Space::lds ? " to LDS" : " to memory";
      if (each.by_base) each.name += " by a base";
      if (each.encoding == Encoding::mubuf && each.direct) each.name += " to LDS";
      all.push_back(std::move(each));
    }
  }
  return all;
}

inline Instruction instruction_of(const Form& form) {
  Instruction i = make_instruction(form.opcode, form.encoding, {}, {});
  const auto add = [&](const InstructionOperand& operand) { i.sources[i.source_count++] = operand; };
  if (form.results != 0)
    i.destination = form.is_scalar() ? scalar_operand(kResult, form.results) : vector_operand(kResult, form.results);
  if (form.is_scalar() && !form.has_address()) return i;
  if (form.is_scalar()) {
    const bool resource = form.name.find("buffer") != std::string::npos;
    add(resource ? scalar_operand(kResource, 4) : scalar_operand(kBase, 2));
    add({});
    return i;
  }
  const bool wide = form.counts_vector() && form.space != Space::scratch && form.encoding != Encoding::mubuf;
  if (form.has_address())
    add(vector_operand(kAddress, wide && !form.by_base ? 2 : 1));
  else if (form.stores)
    add({});
  unsigned at = kData;
  for (const unsigned registers : form.data) add(vector_operand(at, registers)), at += registers;
  if (form.encoding == Encoding::mubuf)
    add(scalar_operand(kResource, 4)), add(constant_operand(0)), i.memory.offen = true;
  if (form.counts_vector() && form.encoding != Encoding::mubuf)
    add(form.by_base ? scalar_operand(kBase, 2) : InstructionOperand{});
  i.memory.sc0 = form.atomic && form.results != 0;
  i.memory.lds = form.direct;
  if (form.apart != 0) i.memory.offset = kSecondOffset << 8;
  return i;
}

}  // namespace rung::amdgpu::testing
