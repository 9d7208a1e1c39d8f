// Reads the kernels of a file, or of the files of a folder.
// SPDX-License-Identifier: Apache-2.0
#include "cli/machine_code.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace rung::cli {

amdgpu::OccupancyFormula formula_named(const std::string& word) {
  return word == "guide" ? amdgpu::OccupancyFormula::guide : amdgpu::OccupancyFormula::exact;
}

namespace {

namespace fs = std::filesystem;

bool has_ending(const fs::path& path, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const char* ending) { return path.extension() == ending; });
}

Result<std::vector<fs::path>> files_of(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    const fs::path path = it->path();
    std::error_code ignored;
    if (!it->is_regular_file(ignored) || !has_ending(path, {".co", ".hsaco", ".amdgcn", ".s"})) continue;
    const bool text = has_ending(path, {".amdgcn", ".s"});
    const auto beside = [&](const char* ending) {
      return fs::exists(fs::path(path).replace_extension(ending), ignored);
    };
    if (!text || !(beside(".co") || beside(".hsaco"))) files.push_back(path);
  }
  if (error) return bad_file("'{}': {}", folder, error.message());
  if (files.empty()) return bad_file("'{}': no machine code in the folder (.co, .hsaco, .amdgcn, .s)", folder);
  std::sort(files.begin(), files.end());
  return files;
}

// Returns the bytes of LDS that launches of NAME add, according to Triton's NAME.json.
uint32_t shared_bytes_beside(const fs::path& path) {
  const auto file = MappedFile::open(fs::path(path).replace_extension(".json").string());
  if (!file) return 0;
  const auto parsed =
      parse_json({reinterpret_cast<const char*>((*file)->bytes().data()), (*file)->bytes().size()}, path.string());
  if (!parsed || !parsed->is_object() || !parsed->contains("shared")) return 0;
  const nlohmann::json& shared = parsed->at("shared");
  constexpr uint64_t kMost = 160 * 1024;
  return shared.is_number_unsigned() ? static_cast<uint32_t>(std::min(shared.get<uint64_t>(), kMost)) : 0;
}

Status append_file(const MachineCodeFlags& flags, const fs::path& path, bool of_folder, std::vector<ReadKernel>& all) {
  RUNG_TRY(auto file, MappedFile::open(path.string()));
  amdgpu::IsaOptions options{formula_named(flags.formula), static_cast<uint32_t>(flags.lds_bytes), flags.code};
  if (of_folder && options.lds_bytes == 0) options.lds_bytes = shared_bytes_beside(path);
  auto readings = amdgpu::read_machine_code(file->bytes(), options, amdgpu::isa_named(flags.target));
  if (!readings) return fail_in(readings.error(), "'{}'", path.string());
  const std::string name = of_folder ? path.lexically_relative(flags.file).string() : "";
  for (auto& reading : *readings)
    if (flags.kernel.empty() || reading.kernel.name == flags.kernel) all.push_back({name, std::move(reading)});
  return {};
}

}  // namespace

Result<std::vector<ReadKernel>> read_machine_code(const MachineCodeFlags& flags) {
  std::error_code ignored;
  const bool of_folder = fs::is_directory(flags.file, ignored);
  std::vector<fs::path> files{flags.file};
  if (of_folder) {
    RUNG_TRY(files, files_of(flags.file));
  }
  std::vector<ReadKernel> kernels;
  for (const fs::path& path : files) RUNG_CHECK(append_file(flags, path, of_folder, kernels));
  if (kernels.empty() && !flags.kernel.empty()) return bad_file("'{}': no kernel '{}'", flags.file, flags.kernel);
  return kernels;
}

nlohmann::json to_json(const amdgpu::Occupancy& occupancy) {
  nlohmann::json by_limit = nlohmann::json::object(), waves = nlohmann::json::object();
  for (size_t i = 0; i < amdgpu::kLimitWords.size(); ++i) {
    by_limit[amdgpu::kLimitWords[i]] = occupancy.groups_by_limit[i];
    waves[amdgpu::kLimitWords[i]] = occupancy.waves_by_limit[i];
  }
  return {{"waves_per_simd", occupancy.waves_per_simd},
          {"groups", occupancy.groups},
          {"limit", amdgpu::kLimitWords[static_cast<size_t>(occupancy.limit)]},
          {"groups_by_limit", by_limit},
          {"waves_by_limit", waves},
          {"excess", occupancy.excess},
          {"next_waves_per_simd", occupancy.next_waves_per_simd}};
}

std::string text_of(const amdgpu::Occupancy& occupancy) {
  const std::string step = amdgpu::step_text(occupancy);
  std::string others;
  for (size_t i = 0; i < amdgpu::kLimitWords.size(); ++i)
    others += fmt::format("{}{} {}", i ? ", " : "", amdgpu::kLimitWords[i], occupancy.waves_by_limit[i]);
  return fmt::format("{} waves per SIMD by {}{}{} ({})", occupancy.waves_per_simd,
                     amdgpu::kLimitWords[static_cast<size_t>(occupancy.limit)], step.empty() ? "" : ", ", step, others);
}

}  // namespace rung::cli
