// Recognises files by content; names only decide between two files with the same data.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/trace_folder.hpp"

#include <algorithm>
#include <filesystem>

#include "trace/recording/merge.hpp"

namespace rung::trace {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 1024;
constexpr std::string_view kXplane = ".xplane.pb", kTraceJson = ".trace.json.gz";

// Returns the session that began last; the folder itself if it has no sessions.
fs::path last_session(const fs::path& folder) {
  std::error_code error;
  fs::path last = folder;
  std::string name;
  for (fs::directory_iterator it(folder / "plugins" / "profile", error), end; !error && it != end;
       it.increment(error)) {
    std::error_code unknown;
    if (!it->is_directory(unknown) || it->path().filename().string() <= name) continue;
    last = it->path(), name = last.filename().string();
  }
  return last;
}

// A host's trace.json lies beside its xplane.pb, which holds all events.
bool has_better(const std::vector<std::string>& files, const std::string& file) {
  if (!file.ends_with(kTraceJson)) return false;
  const std::string better = file.substr(0, file.size() - kTraceJson.size()) + std::string(kXplane);
  return std::ranges::find(files, better) != files.end();
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(last_session(path), error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (!it->is_regular_file(unknown)) continue;
    if (files.size() == kMostFiles) return bad_file("'{}': got a folder of more than {} files", path, kMostFiles);
    files.push_back(it->path().string());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::vector<std::string>> traces_in_folder(
    const std::string& path, const std::function<Result<bool>(const std::string& file)>& is_trace) {
  RUNG_TRY(const std::vector<std::string> files, files_of(path));
  std::vector<std::string> traces;
  for (const std::string& file : files)
    if (!has_better(files, file) && is_trace(file).value_or(false)) traces.push_back(file);
  return traces;
}

Result<Recording> read_together(const std::string& path, const std::vector<std::string>& traces,
                                const std::function<Result<Recording>(const std::string& file)>& read) {
  RUNG_TRY(Recording first, read(traces.front()));
  if (traces.size() == 1) return first;
  RecordingMerger whole(first.format);
  whole.add(first);
  first = {};
  for (size_t i = 1; i < traces.size(); ++i) {
    RUNG_TRY(const Recording next, read(traces[i]));
    const std::string& format = whole.builder().recording().format;
    if (next.format != format)
      return bad_file("'{}': got traces of {} and of {} in one folder, wanted those of one run", path, format,
                      next.format);
    whole.add(next);
  }
  return whole.finish();
}

}  // namespace rung::trace
