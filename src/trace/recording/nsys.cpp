// Reads Nsight Systems' SQLite database, which `nsys export` makes of a report. The report's own form is undocumented.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/nsys_recorder.hpp"
#include "trace/recording/reader.hpp"

namespace rung::trace {
namespace {

bool is_report(std::string_view path) { return path.ends_with(".nsys-rep") || path.ends_with(".qdrep"); }

bool looks_like_nsys(const TraceFile& file) {
  return !file.folder && (SqliteFile::looks_like(file.head) || is_report(file.path));
}

Result<Recording> read_nsys(const std::string& path) {
  if (is_report(path))
    return bad_file("'{}': got a report of Nsight Systems, wanted its export: nsys export --type sqlite", path);
  RUNG_TRY(SqliteFile file, SqliteFile::open(path));
  return NsysRecorder(file).read();
}

}  // namespace

const TraceReader nsys_reader{"Nsight Systems' SQLite export", looks_like_nsys, read_nsys};

}  // namespace rung::trace
