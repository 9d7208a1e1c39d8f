// Reads rocprofv3's database, which it writes by default.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/reader.hpp"
#include "trace/recording/rocpd_recorder.hpp"

namespace rung::trace {
namespace {

Result<std::vector<std::string>> endings_of(SqliteFile& file) {
  RUNG_TRY(const auto tables, file.tables());
  return RocpdRecorder::endings_in(tables);
}

bool looks_like_rocpd(const TraceFile& file) {
  if (file.folder || !SqliteFile::looks_like(file.head)) return false;
  auto database = SqliteFile::open(file.path);
  const auto endings = database ? endings_of(*database) : Result<std::vector<std::string>>();
  return endings && !endings->empty();
}

Result<Recording> read_rocpd(const std::string& path) {
  RUNG_TRY(SqliteFile file, SqliteFile::open(path));
  RUNG_TRY(const auto endings, endings_of(file));
  RocpdRecorder recorder(file);
  for (const std::string& ending : endings) RUNG_CHECK(recorder.read_process(ending));
  return recorder.finish();
}

}  // namespace

const TraceReader rocpd_reader{"rocprofv3's database", looks_like_rocpd, read_rocpd};

}  // namespace rung::trace
