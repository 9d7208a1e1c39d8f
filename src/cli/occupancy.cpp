// rung occupancy: waves per SIMD from each limit, of the kernels in a file or of numbers.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/machine_code.hpp"
#include "cli/output.hpp"

namespace rung::cli {
namespace {

using Json = nlohmann::json;

struct OccupancyFlags {
  MachineCodeFlags code;
  int vgprs = 0, agprs = 0, sgprs = 0, group = 256;
};

Status run_on_numbers(const OccupancyFlags& flags) {
  const auto isa = amdgpu::isa_named(flags.code.target).value_or(amdgpu::Isa::gfx942);
  const amdgpu::Resources taken{
      amdgpu::unified_registers(static_cast<uint32_t>(flags.vgprs), static_cast<uint32_t>(flags.agprs)),
      static_cast<uint32_t>(flags.sgprs), static_cast<uint32_t>(flags.code.lds_bytes),
      static_cast<uint32_t>(flags.group)};
  RUNG_TRY(const amdgpu::Occupancy occupancy, amdgpu::occupancy_of(taken, isa, formula_named(flags.code.formula)));
  if (flags.code.json)
    print_json({{"target", amdgpu::info_of(isa).name}, {"occupancy", to_json(occupancy)}});
  else
    fmt::print("{}\n", text_of(occupancy));
  return {};
}

Status run_on_file(const OccupancyFlags& flags) {
  RUNG_TRY(const auto kernels, read_machine_code(flags.code));
  Json all = Json::array();
  for (const auto& [file, reading] : kernels) {
    const std::string_view name = amdgpu::info_of(reading.isa).name;
    if (flags.code.json)
      all.push_back({{"name", reading.kernel.name}, {"target", name}, {"occupancy", to_json(reading.occupancy)}});
    else
      fmt::print("{} {}: {}\n", name, reading.kernel.name, text_of(reading.occupancy));
  }
  if (flags.code.json) print_json({{"kernels", all}});
  return {};
}

Status run_occupancy(const OccupancyFlags& flags) {
  if (flags.code.file.empty() == (flags.vgprs == 0))
    return wrong_usage("occupancy: wanted a file of machine code or --vgprs, and not both");
  return flags.code.file.empty() ? run_on_numbers(flags) : run_on_file(flags);
}

}  // namespace

std::pair<CLI::App*, Run> occupancy_command(CLI::App& app) {
  auto flags = std::make_shared<OccupancyFlags>();
  flags->code.code = false;
  auto* command =
      add_command(app, "occupancy", "compute how many waves of a kernel an AMD GPU holds, and what limits them");
  add_file(*command, flags->code.file,
           "a code object, a library or program with code objects in it, assembler text, or a folder of these");
  add(*command, "json", flags->code.json);
  add(*command, "kernel", flags->code.kernel);
  add(*command, "formula", flags->code.formula).one_of({"exact", "guide"});
  add(*command, "lds", flags->code.lds_bytes).within(0, 160 * 1024);
  add(*command, "vgprs", flags->vgprs).within(1, 512);
  add(*command, "agprs", flags->agprs).within(0, 256);
  add(*command, "sgprs", flags->sgprs).within(0, 112);
  add(*command, "group", flags->group).within(1, 1024);
  add(*command, "target", flags->code.target).one_of({"gfx90a", "gfx942", "gfx950"});
  return {command, [flags] { return run_occupancy(*flags); }};
}

}  // namespace rung::cli
