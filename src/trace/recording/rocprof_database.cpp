// Reads the database that `rocprof --hip-trace` and `--sys-trace` write: a table for each list.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/link_numbers.hpp"
#include "trace/recording/reader.hpp"
#include "trace/recording/rocpd_tables.hpp"
#include "trace/recording/rocprof_events.hpp"

namespace rung::trace {
namespace {

enum Column : size_t { kBegin, kEnd, kName, kIndex, kThread, kDevice, kQueue, kStream, kProcess };
constexpr std::string_view kColumns[] = {"BeginNs", "EndNs",    "Name",      "Index",  "tid",
                                         "dev-id",  "queue-id", "stream-id", "proc-id"};
constexpr std::string_view kKernelList[] = {"BeginNs", "EndNs",    "KernelName", "Index", "tid",
                                            "gpu-id",  "queue-id", "stream-id",  "pid"};

class RocprofDatabase {
 public:
  explicit RocprofDatabase(SqliteFile& file) : file_(file) {}

  Result<Recording> read() {
    RUNG_CHECK(read_table("HIP", kColumns, &RocprofDatabase::take_call));
    RUNG_CHECK(read_table("rocTX", kColumns, &RocprofDatabase::take_range));
    RUNG_CHECK(read_table("OPS", kColumns, &RocprofDatabase::take_kernel));
    RUNG_CHECK(read_table("COPY", kColumns, &RocprofDatabase::take_copy));
    RUNG_TRY(const bool any_kernels, file_.has_table("OPS"));
    if (!any_kernels) RUNG_CHECK(read_table("A", kKernelList, &RocprofDatabase::take_kernel));
    RUNG_CHECK(read_table("HSA", kColumns, &RocprofDatabase::skip_hsa));
    RUNG_CHECK(read_table("KFD", kColumns, &RocprofDatabase::skip_other));
    return events_.builder().finish();
  }

 private:
  using Take = void (RocprofDatabase::*)(const SqliteRows& rows);
  Status read_table(const std::string& name, std::span<const std::string_view> columns, Take take) {
    return for_each_row(file_, name, columns, [&](const SqliteRows& rows) { (this->*take)(rows); });
  }

  static RocprofEvents::Times times_of(const SqliteRows& rows) { return {rows.integer(kBegin), rows.integer(kEnd)}; }
  static RocprofEvents::Place place_of(const SqliteRows& rows) {
    return {rows.integer(kDevice), rows.integer(kQueue), rows.integer(kStream)};
  }
  // Calls and their work share an index within a process, but calls name no process: links only the first process.
  uint32_t link_of(const SqliteRows& rows) {
    const auto index = rows.integer(kIndex), process = rows.integer(kProcess);
    if (process && !first_process_) first_process_ = process;
    return index && *index >= 0 && process == first_process_ ? links_.of(0, *index + 1) : 0;
  }

  void take_call(const SqliteRows& rows) {
    const uint32_t link = rows.integer(kIndex) ? links_.of(0, *rows.integer(kIndex) + 1) : 0;
    events_.take_call(times_of(rows), {0, rows.integer(kThread).value_or(0)}, rows.text(kName), link);
  }
  void take_range(const SqliteRows& rows) {
    events_.take_range(times_of(rows), {0, rows.integer(kThread).value_or(0)}, rows.text(kName));
  }
  void take_kernel(const SqliteRows& rows) {
    events_.take_kernel(times_of(rows), place_of(rows), rows.text(kName), link_of(rows));
  }
  void take_copy(const SqliteRows& rows) {
    events_.take_copy(times_of(rows), place_of(rows), rows.text(kName), link_of(rows));
  }
  void skip_hsa(const SqliteRows&) { events_.builder().skip("calls of HSA: HIP's, above them, are kept"); }
  void skip_other(const SqliteRows&) { events_.builder().skip("calls of domains that are not known"); }

  SqliteFile& file_;
  RocprofEvents events_;
  LinkNumbers links_;
  std::optional<int64_t> first_process_;
};

// Table names are short, so a column must show that the table is rocprof's.
Result<bool> has_lists(SqliteFile& file) {
  for (const std::string table : {"OPS", "HIP", "COPY", "HSA", "A"}) {
    RUNG_TRY(const bool there, file.has_table(table));
    if (!there) continue;
    constexpr std::string_view kTold[] = {"BeginNs"};
    if (file.read(table, kTold)) return true;
  }
  return false;
}

bool looks_like_rocprof_database(const TraceFile& file) {
  if (file.folder || !SqliteFile::looks_like(file.head)) return false;
  auto database = SqliteFile::open(file.path);
  return database && has_lists(*database).value_or(false);
}

Result<Recording> read_rocprof_database(const std::string& path) {
  RUNG_TRY(SqliteFile file, SqliteFile::open(path));
  return RocprofDatabase(file).read();
}

}  // namespace

const TraceReader rocprof_database_reader{"rocprof's database", looks_like_rocprof_database, read_rocprof_database};

}  // namespace rung::trace
