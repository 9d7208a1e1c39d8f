// File names are "PREFIX_KIND.csv", PREFIX often a process's number; by default in a folder named for the host.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/rocprof_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

namespace rung::trace {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostEntries = 100'000;
constexpr int kDeepest = 3;  // levels of folders

// Kinds are in the order in which they are read.
constexpr std::string_view kKinds[] = {
    "agent_info",
    "hip_api_trace",
    "hip_runtime_api_trace",
    "hip_runtime_trace",
    "hip_compiler_api_trace",
    "rccl_api_trace",
    "marker_api_trace",
    "kernel_trace",
    "memory_copy_trace",
    "memory_allocation_trace",
    "scratch_memory_trace",
    "rocdecode_api_trace",
    "rocjpeg_api_trace",
    "counter_collection",
    "kernel_stats",
    "hip_api_stats",
    "hip_stats",
    "hsa_api_stats",
    "hsa_stats",
    "memory_copy_stats",
    "memory_allocation_stats",
    "marker_api_stats",
    "rccl_api_stats",
    "scratch_memory_stats",
    "domain_stats",
    "hsa_api_trace",
    "hsa_core_api_trace",
    "hsa_amd_ext_api_trace",
};

struct Named {
  std::string process;  // folder and prefix
  size_t kind = 0;
};

std::optional<Named> named(const fs::path& path) {
  std::string stem = path.filename().string();
  for (const std::string_view ending : {".gz", ".csv"})
    if (stem.ends_with(ending))
      stem.resize(stem.size() - ending.size());
    else if (ending == ".csv")
      return std::nullopt;
  for (size_t kind = 0; kind < std::size(kKinds); ++kind) {
    const std::string_view word = kKinds[kind];
    if (!stem.ends_with(word)) continue;
    stem.resize(stem.size() - word.size());
    if (!stem.empty() && stem.back() != '_') continue;
    return Named{(path.parent_path() / stem).string(), kind};
  }
  return std::nullopt;
}

using Found = std::map<std::string, std::vector<std::pair<size_t, std::string>>>;

Status find_files(const fs::path& folder, int depth, Found& found, size_t& entries) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (++entries > kMostEntries)
      return bad_file("'{}': got a folder of more than {} entries", folder.string(), kMostEntries);
    std::error_code unknown;
    if (depth > 0 && it->is_directory(unknown) && !it->is_symlink(unknown)) {
      RUNG_CHECK(find_files(it->path(), depth - 1, found, entries));
    } else if (const auto name = named(it->path()); name && it->is_regular_file(unknown)) {
      found[name->process].emplace_back(name->kind, it->path().string());
    }
  }
  return {};
}

ProcessFiles in_order(std::vector<std::pair<size_t, std::string>> files) {
  std::sort(files.begin(), files.end());
  ProcessFiles process;
  for (auto& [kind, path] : files)
    (kKinds[kind].starts_with("hsa") && kKinds[kind].ends_with("trace") ? process.inner : process.others)
        .push_back(std::move(path));
  return process;
}

}  // namespace

Result<std::vector<ProcessFiles>> rocprofv3_files(const std::string& path, bool folder) {
  const auto own = folder ? std::nullopt : named(path);
  if (!folder && !own) return std::vector<ProcessFiles>{{{path}, {}}};
  Found found;
  size_t entries = 0;
  fs::path where = folder ? fs::path(path) : fs::path(path).parent_path();
  RUNG_CHECK(find_files(where.empty() ? "." : where, folder ? kDeepest : 0, found, entries));
  std::vector<ProcessFiles> processes;
  for (auto& [process, files] : found)
    if (!own || fs::path(process).filename() == fs::path(own->process).filename())
      processes.push_back(in_order(std::move(files)));
  return processes;
}

}  // namespace rung::trace
