// Turns tables of Nsight Systems' SQLite export into a recording. Columns differ by version; empty tables are absent.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "trace/recording/database_names.hpp"
#include "trace/recording/link_numbers.hpp"
#include "trace/recording/nsys_devices.hpp"
#include "trace/recording/recording_builder.hpp"
#include "trace/recording/sqlite_file.hpp"

namespace rung::trace {

class NsysRecorder {
 public:
  explicit NsysRecorder(SqliteFile& file) : file_(file) {}
  // Errors: damage, and a database without any of the tables read here.
  Result<Recording> read();

 private:
  struct Table;
  static std::span<const Table> tables();

  Status read_table(const Table& table);
  Status read_memory_words();
  Status read_names();
  void take_call(const SqliteRows& rows);
  void take_kernel(const SqliteRows& rows);
  void take_copy(const SqliteRows& rows);
  void take_fill(const SqliteRows& rows);
  void take_graph(const SqliteRows& rows);
  void take_range(const SqliteRows& rows);

  bool set_times(const SqliteRows& rows, Event& event);
  bool set_place(const SqliteRows& rows, Event& event);
  std::string_view memory_of(const SqliteRows& rows, size_t column) const;

  SqliteFile& file_;
  RecordingBuilder builder_{"Nsight Systems"};
  LinkNumbers links_;
  DatabaseNames names_;
  NsysDevices devices_;
  int64_t first_process_ = 0;  // replaces a missing process of device work, as in some versions
  bool any_table_ = false;
  std::map<int64_t, std::string> memory_words_;  // this version's numbers; empty: the documented ones
};

}  // namespace rung::trace
