// Turns tables of rocprofv3's database (rocpd) into a recording: each process has a set of them with a common ending.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "trace/recording/database_names.hpp"
#include "trace/recording/inner_calls.hpp"
#include "trace/recording/link_numbers.hpp"
#include "trace/recording/recording_builder.hpp"
#include "trace/recording/rocpd_tables.hpp"
#include "trace/recording/sqlite_file.hpp"

namespace rung::trace {

class RocpdRecorder {
 public:
  // Returns the endings in a database with these tables, at most 256; empty: it is not rocprofv3's.
  static std::vector<std::string> endings_in(const std::vector<std::string>& tables);

  explicit RocpdRecorder(SqliteFile& file) : file_(file) {}
  // Errors: the database's.
  Status read_process(const std::string& ending);
  Recording finish() { return builder_.finish(); }

 private:
  void take_region(const SqliteRows& rows);
  void take_kernel(const SqliteRows& rows);
  void take_copy(const SqliteRows& rows);
  bool set_times(const SqliteRows& rows, Event& event);
  bool set_lane(const SqliteRows& rows, const RocpdTables::Agent& agent, Event& event);

  SqliteFile& file_;
  RecordingBuilder builder_{"rocprofv3"};
  LinkNumbers links_;
  int64_t process_ = 0;
  // The tables of the process being read.
  RocpdTables tables_;
  DatabaseNames names_;
  InnerCalls inner_;
};

}  // namespace rung::trace
