// Reads rocprofv3's CSV: a folder with a process's files, or one file, which stands for all of its process.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>

#include "trace/recording/amd_recorder.hpp"
#include "trace/recording/reader.hpp"
#include "trace/recording/rocprof_files.hpp"

namespace rung::trace {
namespace {

bool looks_like_rocprofv3(const TraceFile& file) {
  if (!file.folder) return AmdTable::kind_of(first_row(file.head)) != AmdTableKind::other;
  const auto processes = rocprofv3_files(file.path, true);
  return !processes || !processes->empty();
}

Result<Recording> read_rocprofv3(const std::string& path) {
  std::error_code unknown;
  RUNG_TRY(const auto processes, rocprofv3_files(path, std::filesystem::is_directory(path, unknown)));
  AmdRecorder recorder("rocprofv3");
  for (const ProcessFiles& process : processes) {
    recorder.next_process();
    for (const std::string& file : process.others) RUNG_CHECK(recorder.read(file));
    for (const std::string& file : process.inner) RUNG_CHECK(recorder.read_inner(file));
  }
  if (!recorder.any_timed())
    return bad_file(
        "'{}': got only totals, counters or agents, wanted kernels, copies or calls with their times: rocprofv3 "
        "--hip-trace --kernel-trace --memory-copy-trace --output-format csv",
        path);
  return recorder.finish();
}

}  // namespace

const TraceReader rocprofv3_reader{"rocprofv3's CSV", looks_like_rocprofv3, read_rocprofv3};

}  // namespace rung::trace
