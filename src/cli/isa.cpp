// rung isa: what AMD machine code says without being run, and whether that fails a check.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

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

Json kernel_json(const ReadKernel& read) {
  const auto& [kernel, code, occupancy, found] = read.reading;
  Json findings = Json::array();
  for (const auto& one : found) findings.push_back({{"kind", word_of(one.kind)}, {"text", one.text}});
  return {{"name", kernel.name},
          {"target", amdgpu::info_of(read.target).name},
          {"vgprs", kernel.vgprs},
          {"agprs", kernel.agprs},
          {"sgprs", kernel.sgprs},
          {"vgpr_spills", kernel.vgpr_spills},
          {"sgpr_spills", kernel.sgpr_spills},
          {"lds_bytes", kernel.lds_bytes},
          {"scratch_bytes", kernel.scratch_bytes},
          {"threads", kernel.most_threads},
          {"code_bytes", code.bytes},
          {"instructions",
           {{"all", code.instructions},
            {"in_loops", code.in_loops},
            {"vector", code.vector},
            {"scalar", code.scalar},
            {"matrix", code.matrix}}},
          {"loops", code.loops},
          {"matrix", code.matrix_by_name},
          {"accesses_by_bytes",
           {{"memory", widths(code.global)},
            {"memory_in_loops", widths(code.global_in_loops)},
            {"lds", widths(code.lds)},
            {"lds_in_loops", widths(code.lds_in_loops)}}},
          {"wide_share_in_loops", code.global_in_loops.wide_share()},
          {"drains_in_loops", code.drains_in_loops},
          {"occupancy", to_json(read.reading.occupancy)},
          {"findings", findings}};
}

void print_widths(const char* what, const amdgpu::Widths& all, const amdgpu::Widths& in_loops) {
  if (all.bytes() == 0) return;
  fmt::print("  {:<10}", what);
  for (size_t i = 0; i < amdgpu::Widths::kBytes.size(); ++i)
    if (all.accesses[i])
      fmt::print("  {} of {} bytes ({} in loops)", all.accesses[i], amdgpu::Widths::kBytes[i], in_loops.accesses[i]);
  fmt::print("\n");
}

void print_kernel(const ReadKernel& read) {
  const amdgpu::KernelInfo& kernel = read.reading.kernel;
  const amdgpu::CodeReading& code = read.reading.code;
  fmt::print("{} {}\n", amdgpu::info_of(read.target).name, kernel.name);
  fmt::print("  registers   {} vector ({} of them for accumulation), {} scalar; spilled {} and {}\n", kernel.vgprs,
             kernel.agprs, kernel.sgprs, kernel.vgpr_spills, kernel.sgpr_spills);
  fmt::print("  holds       {} bytes of LDS, {} of scratch a lane\n", kernel.lds_bytes, kernel.scratch_bytes);
  fmt::print("  occupancy   {}\n", text_of(read.reading.occupancy));
  fmt::print("  code        {} bytes, {} instructions, {} in {} loops, {} matrix products\n", code.bytes,
             code.instructions, code.in_loops, code.loops, code.matrix);
  for (const auto& [name, count] : code.matrix_by_name) fmt::print("              {} {}\n", count, name);
  print_widths("memory", code.global, code.global_in_loops);
  print_widths("LDS", code.lds, code.lds_in_loops);
  for (const auto& found : read.reading.findings) fmt::print("  {:<10}  {}\n", word_of(found.kind), found.text);
}

Status check(const std::vector<ReadKernel>& kernels, const std::vector<std::string>& fail_on) {
  size_t failed = 0;
  std::string first;
  for (const ReadKernel& read : kernels)
    for (const auto& found : read.reading.findings) {
      if (std::find(fail_on.begin(), fail_on.end(), word_of(found.kind)) == fail_on.end()) continue;
      if (failed++ == 0) first = fmt::format("{}: {}: {}", read.reading.kernel.name, word_of(found.kind), found.text);
    }
  if (failed) return fail("{} findings of --fail-on, the first: {}", failed, first);
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
  auto* command = add_command(app, "isa", "say what AMD machine code spills, how wide it loads and where it waits");
  add_file(*command, flags->code.file, "a code object, or a library or program that holds some").required();
  add(*command, "json", flags->code.json);
  add(*command, "kernel", flags->code.kernel);
  add(*command, "formula", flags->code.formula).one_of({"exact", "guide"});
  add(*command, "lds", flags->code.lds_bytes).within(0, 160 * 1024);
  add(*command, "fail-on", flags->fail_on)
      .splits_at(',')
      .one_of({amdgpu::kIsaFindingWords.begin(), amdgpu::kIsaFindingWords.end()});
  return {command, [flags] { return run_isa(*flags); }};
}

}  // namespace rung::cli
