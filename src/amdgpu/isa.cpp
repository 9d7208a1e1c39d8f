// One pass over a kernel's instructions, and what in it is worth a word.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/isa.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "amdgpu/decode.hpp"
#include "amdgpu/instruction.hpp"

namespace rung::amdgpu {
namespace {

constexpr double kWideShare = 0.75;  // of a loop's bytes; less is a finding

struct Placed {
  uint64_t offset;
  Instruction instruction;
};

std::vector<Placed> decode_all(std::span<const std::byte> code, Target target, uint32_t& undecoded) {
  std::vector<Placed> all;
  for (size_t offset = 0; offset + 4 <= code.size();) {
    const auto made = decode(code.subspan(offset), target);
    if (made)
      all.push_back({offset, *made});
    else
      ++undecoded;
    offset += made ? made->bytes : 4;
  }
  return all;
}

struct Span {
  uint64_t first, last;  // offsets of its first instruction and of the branch that closes it
};

bool is_branch(const Instruction& made) {
  return made.opcode == Opcode::s_branch || name_of(made.opcode).starts_with("s_cbranch_");
}

std::vector<Span> loops_of(const std::vector<Placed>& all) {
  std::vector<Span> loops;
  for (const Placed& placed : all) {
    if (placed.instruction.encoding != Encoding::sopp || !is_branch(placed.instruction)) continue;
    const int64_t goal = static_cast<int64_t>(placed.offset) + 4 + int64_t{4} * placed.instruction.immediate;
    if (goal >= 0 && goal <= static_cast<int64_t>(placed.offset))
      loops.push_back({static_cast<uint64_t>(goal), placed.offset});
  }
  return loops;
}

bool is_vector_memory(const Instruction& made) {
  return made.encoding == Encoding::flat || made.encoding == Encoding::global || made.encoding == Encoding::mubuf;
}

bool has_part(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return name.ends_with(part); });
}

// Names end with the size of what is smaller than a register, but for a suffix that says which half it takes.
uint32_t bytes_of_small(std::string_view name) {
  for (const std::string_view suffix : {"_hi", "_d16"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  if (name.find("_tr_") != std::string_view::npos || name.find("_rtn_") != std::string_view::npos) return 0;
  if (has_part(name, {"byte", "_b8", "_u8", "_i8"})) return 1;
  return has_part(name, {"short", "_b16", "_u16", "_i16"}) ? 2 : 0;
}

uint32_t bytes_of_load_to_lds(std::string_view name) {
  return name.ends_with("dwordx4") ? 16 : name.ends_with("dwordx3") ? 12 : 4;
}

// That a lane moves. An access of two places is of twice as many.
uint32_t bytes_of(const Instruction& made) {
  const std::string_view name = name_of(made.opcode);
  if (const uint32_t small = bytes_of_small(name)) return small;
  if (has_part(name, {"permute_b32", "swizzle_b32", "ds_nop"}) || name.starts_with("ds_gws")) return 0;
  if (made.memory.lds) return bytes_of_load_to_lds(name);
  if (made.destination.kind != OperandKind::none) return 4u * made.destination.registers;
  uint32_t registers = 0;
  for (size_t s = 1; s < made.source_count; ++s)
    if (made.sources[s].kind == OperandKind::vgpr || made.sources[s].kind == OperandKind::agpr)
      registers += made.sources[s].registers;
  return 4 * registers;
}

// Two places of LDS are two accesses.
uint32_t places_of(const Instruction& made) {
  const std::string_view name = name_of(made.opcode);
  return name.starts_with("ds_read2") || name.starts_with("ds_write2") ? 2 : 1;
}

void add(Widths& widths, uint32_t bytes, uint32_t times) {
  const auto place = std::find(Widths::kBytes.begin(), Widths::kBytes.end(), bytes);
  if (place != Widths::kBytes.end()) widths.accesses[static_cast<size_t>(place - Widths::kBytes.begin())] += times;
}

bool waits_for_all_memory(const Instruction& made) {
  const uint32_t value = static_cast<uint16_t>(made.immediate);
  return made.opcode == Opcode::s_waitcnt && (value & 0xf) == 0 && value >> 14 == 0;
}

void count_kind(CodeReading& reading, const Instruction& made) {
  const std::string_view name = name_of(made.opcode);
  if (name.starts_with("v_mfma") || name.starts_with("v_smfmac")) {
    ++reading.matrix;
    ++reading.matrix_by_name[std::string(name)];
  } else if (name.starts_with("v_")) {
    ++reading.vector;
  } else if (name.starts_with("s_")) {
    ++reading.scalar;
  }
}

void count_access(CodeReading& reading, const Instruction& made, bool in_loop) {
  if (made.encoding == Encoding::scratch) {
    ++reading.scratch;
    reading.scratch_in_loops += in_loop;
  }
  if (!is_vector_memory(made) && made.encoding != Encoding::ds) return;
  const uint32_t times = places_of(made), bytes = bytes_of(made) / times;
  const bool lds = made.encoding == Encoding::ds;
  add(lds ? reading.lds : reading.global, bytes, times);
  if (in_loop) add(lds ? reading.lds_in_loops : reading.global_in_loops, bytes, times);
}

bool loads_in(const std::vector<Placed>& all, const Span& loop) {
  return std::any_of(all.begin(), all.end(), [&](const Placed& placed) {
    return placed.offset >= loop.first && placed.offset <= loop.last && is_vector_memory(placed.instruction) &&
           name_of(placed.instruction.opcode).find("_load_") != std::string_view::npos;
  });
}

std::string share_text(const Widths& widths, const char* what) {
  std::string text =
      fmt::format("{:.0f} % of the bytes of {} in loops are in 16-byte accesses:", 100 * widths.wide_share(), what);
  for (size_t i = 0; i < Widths::kBytes.size(); ++i)
    if (widths.accesses[i]) text += fmt::format(" {} of {}", widths.accesses[i], Widths::kBytes[i]);
  return text;
}

std::vector<KernelReading::Found> findings_of(const KernelInfo& kernel, const CodeReading& code) {
  std::vector<KernelReading::Found> found;
  const auto say = [&](IsaFinding kind, std::string text) { found.push_back({kind, std::move(text)}); };
  if (kernel.vgpr_spills) say(IsaFinding::spill, fmt::format("{} vector registers are spilled", kernel.vgpr_spills));
  if (kernel.sgpr_spills) say(IsaFinding::spill, fmt::format("{} scalar registers are spilled", kernel.sgpr_spills));
  if (kernel.scratch_bytes)
    say(IsaFinding::scratch, fmt::format("{} bytes of scratch a lane, touched by {} instructions, {} in loops",
                                         kernel.scratch_bytes, code.scratch, code.scratch_in_loops));
  if (code.global_in_loops.wide_share() < kWideShare)
    say(IsaFinding::narrow_load, share_text(code.global_in_loops, "memory"));
  if (code.lds_in_loops.wide_share() < kWideShare) say(IsaFinding::narrow_lds, share_text(code.lds_in_loops, "LDS"));
  if (code.drains_in_loops)
    say(IsaFinding::drain, fmt::format("{} waits for all memory in loops that load", code.drains_in_loops));
  if (code.undecoded) say(IsaFinding::undecoded, fmt::format("{} words do not decode", code.undecoded));
  return found;
}

// From the header to the end of the section headers or the last segment; 0: no whole code object begins here.
size_t object_bytes(std::span<const std::byte> file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof header) return 0;
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  constexpr uint16_t kMachineAmdgpu = 224;  // EM_AMDGPU
  if (header.e_machine != kMachineAmdgpu) return 0;
  const uint64_t sections = uint64_t{header.e_shnum} * header.e_shentsize;
  if (header.e_shoff > file.size() || sections > file.size() - header.e_shoff) return 0;
  return static_cast<size_t>(header.e_shoff + sections);
}

}  // namespace

uint64_t Widths::bytes() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < kBytes.size(); ++i) sum += uint64_t{kBytes[i]} * accesses[i];
  return sum;
}
uint64_t Widths::bytes_of_16() const { return uint64_t{16} * accesses.back(); }
double Widths::wide_share() const {
  return bytes() == 0 ? 1 : static_cast<double>(bytes_of_16()) / static_cast<double>(bytes());
}

CodeReading read_code(std::span<const std::byte> code, Target target) {
  CodeReading reading;
  reading.bytes = code.size();
  const std::vector<Placed> all = decode_all(code, target, reading.undecoded);
  const std::vector<Span> loops = loops_of(all);
  std::vector<Span> loading;
  for (const Span& loop : loops)
    if (loads_in(all, loop)) loading.push_back(loop);
  const auto within = [](const std::vector<Span>& spans, uint64_t offset) {
    return std::any_of(spans.begin(), spans.end(),
                       [&](const Span& span) { return offset >= span.first && offset <= span.last; });
  };
  reading.instructions = static_cast<uint32_t>(all.size());
  reading.loops = static_cast<uint32_t>(loops.size());
  for (const Placed& placed : all) {
    const bool in_loop = within(loops, placed.offset);
    reading.in_loops += in_loop;
    count_kind(reading, placed.instruction);
    count_access(reading, placed.instruction, in_loop);
    reading.drains_in_loops += waits_for_all_memory(placed.instruction) && within(loading, placed.offset);
  }
  return reading;
}

Result<std::vector<KernelReading>> read_kernels(const CodeObject& object, OccupancyFormula formula,
                                                uint32_t lds_bytes) {
  std::vector<KernelReading> readings;
  for (const KernelInfo& kernel : object.kernels) {
    KernelReading reading{kernel, {}, {}, {}};
    const Resources taken{kernel.vgprs, kernel.sgprs, kernel.lds_bytes + lds_bytes, kernel.most_threads};
    RUNG_TRY(reading.occupancy, occupancy_of(taken, object.target, formula));
    reading.code = read_code(object.at(kernel.entry, kernel.code_bytes), object.target);
    reading.findings = findings_of(kernel, reading.code);
    readings.push_back(std::move(reading));
  }
  return readings;
}

Result<std::vector<std::span<const std::byte>>> find_code_objects(std::span<const std::byte> file) {
  std::vector<std::span<const std::byte>> found;
  const char magic[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3};
  const auto* begin = reinterpret_cast<const char*>(file.data());
  const char* const end = begin + file.size();
  for (const char* at = begin; (at = std::search(at, end, magic, magic + sizeof magic)) != end;) {
    const auto rest = file.subspan(static_cast<size_t>(at - begin));
    const size_t bytes = object_bytes(rest);
    if (bytes) found.push_back(rest.first(bytes));
    at += std::max<size_t>(bytes, sizeof magic);
  }
  if (found.empty()) return bad_file("no code object of AMD's is in the file, or only compressed ones");
  return found;
}

}  // namespace rung::amdgpu
