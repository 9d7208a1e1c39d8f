// Kernels of a file's code objects.
// SPDX-License-Identifier: Apache-2.0
#include "cli/machine_code.hpp"

#include <nlohmann/json.hpp>

namespace rung::cli {

amdgpu::OccupancyFormula formula_named(const std::string& word) {
  return word == "guide" ? amdgpu::OccupancyFormula::guide : amdgpu::OccupancyFormula::exact;
}

Result<std::vector<ReadKernel>> read_machine_code(const MachineCodeFlags& flags) {
  RUNG_TRY(auto file, MappedFile::open(flags.file));
  const auto objects = amdgpu::find_code_objects(file->bytes());
  if (!objects) return bad_file("'{}': {}", flags.file, objects.error().message);
  std::vector<ReadKernel> kernels;
  for (const std::span<const std::byte> bytes : *objects) {
    const auto object = amdgpu::read_code_object(bytes);
    if (!object) return bad_file("'{}': {}", flags.file, object.error().message);
    RUNG_TRY(auto readings,
             amdgpu::read_kernels(*object, formula_named(flags.formula), static_cast<uint32_t>(flags.lds_bytes)));
    for (auto& reading : readings)
      if (flags.kernel.empty() || reading.kernel.name == flags.kernel)
        kernels.push_back({object->target, std::move(reading)});
  }
  if (kernels.empty() && !flags.kernel.empty()) return bad_file("'{}': no kernel '{}'", flags.file, flags.kernel);
  return kernels;
}

nlohmann::json to_json(const amdgpu::Occupancy& occupancy) {
  nlohmann::json by_limit = nlohmann::json::object();
  for (size_t i = 0; i < amdgpu::kLimitWords.size(); ++i)
    by_limit[amdgpu::kLimitWords[i]] = occupancy.groups_by_limit[i];
  return {{"waves_per_simd", occupancy.waves_per_simd},
          {"groups", occupancy.groups},
          {"limit", amdgpu::kLimitWords[static_cast<size_t>(occupancy.limit)]},
          {"groups_by_limit", by_limit},
          {"excess", occupancy.excess},
          {"next_waves_per_simd", occupancy.next_waves_per_simd}};
}

std::string text_of(const amdgpu::Occupancy& occupancy) {
  const std::string step = amdgpu::step_text(occupancy);
  return fmt::format("{} waves per SIMD by {}{}{}", occupancy.waves_per_simd,
                     amdgpu::kLimitWords[static_cast<size_t>(occupancy.limit)], step.empty() ? "" : ", ", step);
}

}  // namespace rung::cli
