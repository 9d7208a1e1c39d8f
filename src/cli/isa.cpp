// rung isa: reads AMD machine code without running it, and says whether it fails a check.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/words.hpp"
#include "cli/command.hpp"
#include "cli/machine_code.hpp"
#include "cli/output.hpp"

namespace rung::cli {
namespace {

using Json = nlohmann::json;

struct IsaFlags {
  MachineCodeFlags code;
  std::vector<std::string> fail_on;
};

const char* word_of(amdgpu::IsaFinding kind) { return amdgpu::kIsaFindingWords[static_cast<size_t>(kind)]; }

Json widths(const amdgpu::Widths& widths) {
  Json json = Json::object();
  for (size_t i = 0; i < amdgpu::Widths::kBytes.size(); ++i)
    json[std::to_string(amdgpu::Widths::kBytes[i])] = widths.accesses[i];
  return json;
}

// Counts by shape: "16x16x16" of v_mfma_f32_16x16x16_bf16; a suffix counts blocks: "4x4x4_16b" has sixteen.
Json by_shape(const std::map<std::string, uint32_t>& by_name) {
  static const std::regex shape("[0-9]+x[0-9]+x[0-9]+(_[0-9]+b)?");
  std::map<std::string, uint32_t> shapes;
  for (const auto& [name, count] : by_name) {
    std::smatch found;
    if (std::regex_search(name, found, shape)) shapes[found.str()] += count;
  }
  return shapes;
}

template <size_t kCount>
Json by_word(const std::array<const char*, kCount>& words, const std::array<uint32_t, kCount>& counts) {
  Json json = Json::object();
  for (size_t i = 0; i < kCount; ++i) json[words[i]] = counts[i];
  return json;
}

Json code_json(const amdgpu::CodeReading& code) {
  return {{"code_bytes", code.bytes},
          {"instructions",
           {{"all", code.instructions},
            {"in_loops", code.in_loops},
            {"vector", code.vector},
            {"scalar", code.scalar},
            {"matrix", code.matrix},
            {"matrix_in_loops", code.matrix_in_loops}}},
          {"loops", code.loops},
          {"matrix", code.matrix_by_name},
          {"matrix_by_shape", by_shape(code.matrix_by_name)},
          {"accesses_by_bytes",
           {{"memory", widths(code.global)},
            {"memory_in_loops", widths(code.global_in_loops)},
            {"memory_in_inner_loops", widths(code.global_in_inner_loops)},
            {"lds", widths(code.lds)},
            {"lds_in_loops", widths(code.lds_in_loops)}}},
          {"wide_share_in_loops", code.global_in_loops.wide_share()},
          {"narrow_in_loops",
           {{"memory", by_word(amdgpu::kNarrowWords, code.narrow_global)},
            {"lds", by_word(amdgpu::kNarrowWords, code.narrow_lds)}}},
          {"bank_conflicts",
           {{"accesses", code.banks.accesses},
            {"derived", code.banks.derived},
            {"conflicting", code.banks.conflicting},
            {"cycles", code.banks.cycles},
            {"worst", code.banks.worst}}},
          {"round_trips", code.round_trips},
          {"empty_branches", code.empty_branches},
          {"drains_in_loops", code.drains_in_loops},
          {"lds_drains_in_loops", code.local_drains_in_loops}};
}

Json kernel_json(const ReadKernel& read) {
  const amdgpu::KernelInfo& kernel = read.reading.kernel;
  Json findings = Json::array();
  for (const auto& one : read.reading.findings) findings.push_back({{"kind", word_of(one.kind)}, {"text", one.text}});
  Json json = code_json(read.reading.code);
  json.update({{"name", kernel.name},
               {"target", amdgpu::info_of(read.reading.isa).name},
               {"described", read.reading.described},
               {"vgprs", kernel.vgprs},
               {"agprs", kernel.agprs},
               {"sgprs", kernel.sgprs},
               {"vgpr_spills", kernel.vgpr_spills},
               {"sgpr_spills", kernel.sgpr_spills},
               {"lds_bytes", kernel.lds_bytes},
               {"scratch_bytes", kernel.scratch_bytes},
               {"threads", kernel.most_threads},
               {"occupancy", to_json(read.reading.occupancy)},
               {"findings", findings}});
  if (!read.file.empty()) json["file"] = read.file;
  return json;
}

void print_widths(const char* what, const amdgpu::Widths& all, const amdgpu::Widths& in_loops) {
  if (all.bytes() == 0) return;
  fmt::print("  {:<10}", what);
  for (size_t i = 0; i < amdgpu::Widths::kBytes.size(); ++i)
    if (all.accesses[i])
      fmt::print("  {} of {} bytes ({} in loops)", all.accesses[i], amdgpu::Widths::kBytes[i], in_loops.accesses[i]);
  fmt::print("\n");
}

void print_banks(const amdgpu::BankReading& banks) {
  if (banks.accesses == 0) return;
  fmt::print("  LDS banks   {} accesses in loops, {} not derivable, {} conflict, {} cycles more{}{}\n", banks.accesses,
             banks.accesses - banks.derived, banks.conflicting, banks.cycles, banks.worst.empty() ? "" : ": ",
             banks.worst);
}

void print_code(const amdgpu::CodeReading& code) {
  fmt::print("  code        {} bytes, {} instructions, {} in {} loops\n",
             code.bytes ? std::to_string(code.bytes) : "unknown", code.instructions, code.in_loops, code.loops);
  if (code.matrix)
    fmt::print("  matrix      {} products, {} in loops, {:.0f} % of what is there\n", code.matrix, code.matrix_in_loops,
               100.0 * code.matrix_in_loops / std::max(1u, code.in_loops));
  for (const auto& [name, count] : code.matrix_by_name) fmt::print("              {} {}\n", count, name);
  print_widths("memory", code.global, code.global_in_loops);
  print_widths("LDS", code.lds, code.lds_in_loops);
  print_banks(code.banks);
}

void print_kernel(const ReadKernel& read) {
  const amdgpu::KernelInfo& kernel = read.reading.kernel;
  fmt::print("{}{}{} {}\n", read.file, read.file.empty() ? "" : ": ", amdgpu::info_of(read.reading.isa).name,
             kernel.name);
  fmt::print("  registers   {} vector ({} of them for accumulation), {} scalar; spilled {} and {}\n", kernel.vgprs,
             kernel.agprs, kernel.sgprs, kernel.vgpr_spills, kernel.sgpr_spills);
  if (read.reading.described)
    fmt::print("  holds       {} bytes of LDS, {} of scratch a lane\n", kernel.lds_bytes, kernel.scratch_bytes);
  else
    fmt::print("  holds       the text does not say; registers are those that it names, a work-group is taken for {}\n",
               kernel.most_threads);
  fmt::print("  occupancy   {}\n", text_of(read.reading.occupancy));
  print_code(read.reading.code);
  for (const auto& found : read.reading.findings) fmt::print("  {:<13}  {}\n", word_of(found.kind), found.text);
}

Status check(const std::vector<ReadKernel>& kernels, const std::vector<std::string>& fail_on) {
  size_t failed = 0;
  std::string first;
  for (const ReadKernel& read : kernels)
    for (const auto& found : read.reading.findings) {
      if (std::find(fail_on.begin(), fail_on.end(), word_of(found.kind)) == fail_on.end()) continue;
      if (failed++ == 0) first = fmt::format("{}: {}: {}", read.reading.kernel.name, word_of(found.kind), found.text);
    }
  if (failed) return fail("{} of --fail-on, the first: {}", words::counted(failed, "finding"), first);
  return {};
}

Status run_isa(const IsaFlags& flags) {
  RUNG_TRY(const auto kernels, read_machine_code(flags.code));
  if (flags.code.json) {
    Json all = Json::array();
    for (const ReadKernel& read : kernels) all.push_back(kernel_json(read));
    print_json({{"kernels", all}});
  } else {
    for (const ReadKernel& read : kernels) print_kernel(read);
  }
  return check(kernels, flags.fail_on);
}

}  // namespace

std::pair<CLI::App*, Run> isa_command(CLI::App& app) {
  auto flags = std::make_shared<IsaFlags>();
  auto* command = add_command(app, "isa", "find register spills, narrow loads and waits in AMD machine code");
  add_file(*command, flags->code.file,
           "a code object, a library or program with code objects in it, assembler text, or a folder of these")
      .required();
  add(*command, "json", flags->code.json);
  add(*command, "kernel", flags->code.kernel);
  add(*command, "formula", flags->code.formula).one_of({"exact", "guide"});
  add(*command, "target", flags->code.target).one_of({"gfx90a", "gfx942", "gfx950"});
  add(*command, "lds", flags->code.lds_bytes).within(0, 160 * 1024);
  add(*command, "fail-on", flags->fail_on)
      .splits_at(',')
      .one_of({amdgpu::kIsaFindingWords.begin(), amdgpu::kIsaFindingWords.end()});
  return {command, [flags] { return run_isa(*flags); }};
}

}  // namespace rung::cli
