// Reads rocprof's list of kernels, results.csv. Totals have no times; the list they were made from lies beside them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "trace/recording/amd_recorder.hpp"
#include "trace/recording/reader.hpp"

namespace rung::trace {
namespace {

bool has_column(const std::vector<std::string>& header, std::string_view name) {
  return std::find(header.begin(), header.end(), name) != header.end();
}

// Totals of rocprofv3 also have a column of shortest times.
bool is_totals(const std::vector<std::string>& header) {
  return AmdTable::kind_of(header) == AmdTableKind::summary && !has_column(header, "MinNs");
}

bool looks_like_rocprof(const TraceFile& file) {
  if (file.folder) return false;
  const auto header = first_row(file.head);
  return has_column(header, "KernelName") || is_totals(header);
}

// Returns "results.csv" for "results.stats.csv" and "results.hip_stats.csv".
std::string list_beside(const std::string& path) {
  for (const std::string_view ending : {".stats.csv", ".hip_stats.csv", ".hsa_stats.csv", ".copy_stats.csv"})
    if (path.ends_with(ending)) return path.substr(0, path.size() - ending.size()) + ".csv";
  return {};
}

Result<Recording> read_list(const std::string& path) {
  AmdRecorder recorder("rocprof");
  RUNG_CHECK(recorder.read(path));
  return recorder.finish();
}

Result<Recording> read_rocprof(const std::string& path) {
  RUNG_TRY(const CsvRows rows, CsvRows::open(path));
  if (!is_totals(rows.header())) return read_list(path);
  const std::string list = list_beside(path);
  std::error_code unknown;
  if (!list.empty() && std::filesystem::is_regular_file(list, unknown)) return read_list(list);
  return bad_file(
      "'{}': got totals, which have no times of single kernels, wanted the list{}: rocprof --timestamp on "
      "-o results.csv",
      path, list.empty() ? "" : fmt::format(" '{}'", list));
}

}  // namespace

const TraceReader rocprof_reader{"rocprof's CSV", looks_like_rocprof, read_rocprof};

}  // namespace rung::trace
