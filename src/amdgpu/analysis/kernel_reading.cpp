// Reads a kernel's instructions and makes the findings.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/kernel_reading.hpp"

#include <algorithm>

#include "amdgpu/analysis/loops.hpp"
#include "amdgpu/isa/decode.hpp"
#include "base/words.hpp"

namespace rung::amdgpu {
namespace {

constexpr double kWideShare = 0.75;  // least share of the bytes in loops; less is a finding

void add(Widths& widths, const Access& access) {
  const auto place = std::find(Widths::kBytes.begin(), Widths::kBytes.end(), access.bytes);
  if (place != Widths::kBytes.end()) ++widths.accesses[static_cast<size_t>(place - Widths::kBytes.begin())];
}

bool waits_for_all_memory(const Instruction& made) {
  const uint32_t value = static_cast<uint16_t>(made.immediate);
  return made.opcode == Opcode::s_waitcnt && (value & 0xf) == 0 && value >> 14 == 0;
}
bool waits_for_all_local(const Instruction& made) {
  return made.opcode == Opcode::s_waitcnt && (made.immediate >> 8 & 0xf) == 0;
}
bool loads_memory(const Instruction& made) {
  return is_memory_access(made) && name_of(made.opcode).find("_load_") != std::string_view::npos;
}
bool counts_as_local(const Instruction& made) {
  return made.encoding == Encoding::ds || made.encoding == Encoding::smem;
}

void count_kind(CodeReading& reading, const Instruction& made, bool in_loop) {
  const std::string_view name = name_of(made.opcode);
  if (name.starts_with("v_mfma") || name.starts_with("v_smfmac")) {
    ++reading.matrix, reading.matrix_in_loops += in_loop;
    ++reading.matrix_by_name[std::string(name)];
  } else if (name.starts_with("v_")) {
    ++reading.vector;
  } else if (name.starts_with("s_")) {
    ++reading.scalar;
  }
  if (made.encoding == Encoding::scratch) ++reading.scratch, reading.scratch_in_loops += in_loop;
}

// States for each instruction of a listing which kinds of loops it is in.
struct LoopMarks {
  std::vector<bool> any, inner, loading, local;
};

LoopMarks marks_of(const Listing& listing, const std::vector<Block>& blocks, const std::vector<Loop>& loops) {
  const size_t count = listing.instructions.size();
  std::vector<uint32_t> loads(count + 1), locals(count + 1);  // counts before each instruction
  for (size_t i = 0; i < count; ++i) {
    loads[i + 1] = loads[i] + loads_memory(listing.instructions[i].instruction);
    locals[i + 1] = locals[i] + counts_as_local(listing.instructions[i].instruction);
  }
  const auto holds = [&](const std::vector<uint32_t>& before, const Loop& loop) {
    return std::any_of(loop.blocks.begin(), loop.blocks.end(),
                       [&](size_t block) { return before[blocks[block].last] > before[blocks[block].first]; });
  };
  return {within(loops, blocks, [](const Loop&) { return true; }),
          within(loops, blocks, [](const Loop& loop) { return loop.innermost; }),
          within(loops, blocks, [&](const Loop& loop) { return holds(loads, loop); }),
          within(loops, blocks, [&](const Loop& loop) { return holds(locals, loop); })};
}

void count_widths(CodeReading& reading, const std::vector<Access>& accesses, const LoopMarks& marks) {
  const std::vector<Narrow> reasons = narrow_reasons(accesses);
  for (size_t a = 0; a < accesses.size(); ++a) {
    const Access& access = accesses[a];
    add(access.lds ? reading.lds : reading.global, access);
    if (!access.lds && marks.inner[access.index]) add(reading.global_in_inner_loops, access);
    if (!marks.any[access.index]) continue;
    add(access.lds ? reading.lds_in_loops : reading.global_in_loops, access);
    if (access.bytes < 16) ++(access.lds ? reading.narrow_lds : reading.narrow_global)[static_cast<size_t>(reasons[a])];
  }
}

void count_conflicts(CodeReading& reading, const Listing& listing, const std::vector<Access>& accesses,
                     const std::vector<bool>& in_loop) {
  BankReading& banks = reading.banks;
  uint64_t most = 0;
  for (const Access& access : accesses) {
    if (!access.lds || !in_loop[access.index]) continue;
    ++banks.accesses;
    if (!access.address) continue;
    ++banks.derived;
    const uint64_t cycles = conflict_cycles(access);
    banks.conflicting += cycles > 0;
    banks.cycles += cycles;
    if (cycles <= most) continue;
    most = cycles;
    const Placed& placed = listing.instructions[access.index];
    banks.worst = fmt::format("{} at {:#x}, {} cycles", name_of(placed.instruction.opcode), placed.offset, cycles);
  }
}

// s_and_saveexec S, ...; s_or_b64 exec, exec, S
bool is_empty_branch(const Instruction& chosen, const Instruction& next) {
  const auto is = [](const InstructionOperand& operand, uint16_t number) {
    return operand.kind == OperandKind::scalar && operand.number == number;
  };
  return chosen.opcode == Opcode::s_and_saveexec_b64 && next.opcode == Opcode::s_or_b64 &&
         is(next.destination, kExec) && is(next.sources[0], kExec) && is(next.sources[1], chosen.destination.number);
}

std::string reasons_text(const std::array<uint32_t, kNarrowWords.size()>& counts) {
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i]) text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", counts[i], kNarrowWords[i]);
  return text.empty() ? "" : "; narrow: " + text;
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
  if (kernel.vgpr_spills)
    say(IsaFinding::spill,
        words::counted(kernel.vgpr_spills, "vector register is", "vector registers are") + " spilled");
  if (kernel.sgpr_spills)
    say(IsaFinding::spill,
        words::counted(kernel.sgpr_spills, "scalar register is", "scalar registers are") + " spilled");
  if (kernel.scratch_bytes)
    say(IsaFinding::scratch, fmt::format("{} bytes of scratch a lane, touched by {} instructions, {} in loops",
                                         kernel.scratch_bytes, code.scratch, code.scratch_in_loops));
  if (code.global_in_loops.wide_share() < kWideShare)
    say(IsaFinding::narrow_load, share_text(code.global_in_loops, "memory") + reasons_text(code.narrow_global));
  if (code.lds_in_loops.wide_share() < kWideShare)
    say(IsaFinding::narrow_lds, share_text(code.lds_in_loops, "LDS") + reasons_text(code.narrow_lds));
  if (code.drains_in_loops)
    say(IsaFinding::drain, fmt::format("{} waits for all memory in loops that load", code.drains_in_loops));
  if (code.local_drains_in_loops)
    say(IsaFinding::drain_lds,
        fmt::format("{} waits for all of LDS and scalars in loops that access them", code.local_drains_in_loops));
  if (code.banks.conflicting)
    say(IsaFinding::bank_conflict,
        fmt::format(
            "{} of {} LDS accesses in loops take {} cycles more than without conflicts, {} are not derivable: {}",
            code.banks.conflicting, code.banks.accesses, code.banks.cycles, code.banks.accesses - code.banks.derived,
            code.banks.worst));
  if (code.round_trips)
    say(IsaFinding::round_trip, fmt::format("{} reads of LDS bring back what the same lane wrote", code.round_trips));
  if (code.empty_branches)
    say(IsaFinding::empty_branch,
        fmt::format("{} times, lanes are chosen and then do nothing: the compiler may have lost their work",
                    code.empty_branches));
  if (code.undecoded) say(IsaFinding::undecoded, fmt::format("{} words or lines are no instruction", code.undecoded));
  return found;
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

CodeReading read_listing(const Listing& listing) {
  const std::vector<Block> blocks = blocks_of(listing);
  const std::vector<Loop> loops = loops_of(blocks);
  const LoopMarks marks = marks_of(listing, blocks, loops);
  const std::vector<Access> accesses = accesses_of(listing, blocks);
  CodeReading reading;
  reading.instructions = static_cast<uint32_t>(listing.instructions.size());
  reading.undecoded = listing.undecoded, reading.bytes = listing.bytes;
  reading.loops = static_cast<uint32_t>(loops.size());
  for (size_t i = 0; i < listing.instructions.size(); ++i) {
    const Instruction& made = listing.instructions[i].instruction;
    reading.in_loops += marks.any[i];
    reading.empty_branches += i > 0 && is_empty_branch(listing.instructions[i - 1].instruction, made);
    count_kind(reading, made, marks.any[i]);
    reading.drains_in_loops += waits_for_all_memory(made) && marks.loading[i];
    reading.local_drains_in_loops += waits_for_all_local(made) && marks.local[i];
  }
  count_widths(reading, accesses, marks);
  count_conflicts(reading, listing, accesses, marks.any);
  reading.round_trips = static_cast<uint32_t>(round_trips(listing, accesses).size());
  return reading;
}

Result<KernelReading> read_kernel(const KernelInfo& kernel, const Listing& listing, const IsaOptions& options) {
  KernelReading reading{.isa = listing.isa, .kernel = kernel};
  const Resources taken{kernel.vgprs, kernel.sgprs, kernel.lds_bytes + options.lds_bytes, kernel.most_threads};
  RUNG_TRY(reading.occupancy, occupancy_of(taken, listing.isa, options.formula));
  if (!options.code) return reading;
  reading.code = read_listing(listing);
  reading.findings = findings_of(kernel, reading.code);
  return reading;
}

Result<std::vector<KernelReading>> read_kernels(const CodeObject& object, const IsaOptions& options) {
  std::vector<KernelReading> readings;
  for (const KernelInfo& kernel : object.kernels) {
    Listing listing{.isa = object.isa};
    if (options.code) listing = list_code(object.at(kernel.entry, kernel.code_bytes), object.isa);
    RUNG_TRY(auto reading, read_kernel(kernel, listing, options));
    readings.push_back(std::move(reading));
  }
  return readings;
}

}  // namespace rung::amdgpu
