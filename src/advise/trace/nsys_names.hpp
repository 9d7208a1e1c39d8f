// Names of events that a database keeps as numbers of strings in a table of their own: events take the numbers first,
// and the texts of those alone are read last, as most of the table is of no event that is kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "advise/trace/recording_builder.hpp"
#include "advise/trace/sqlite_file.hpp"
#include "base/status.hpp"

namespace rung::advise {

class NsysNames {
 public:
  // For Event::name until apply().
  uint32_t later(std::optional<int64_t> string, EventKind kind);
  // Reads the table StringIds. Errors: the database's, and that it has no such table.
  Status apply(SqliteFile& file, RecordingBuilder& builder);

 private:
  Status read(SqliteFile& file, RecordingBuilder& builder);

  struct Name {
    uint32_t text = 0;  // in the recording's pool; 0: the table has not told
    bool of_call = false;
  };
  std::unordered_map<int64_t, uint32_t> places_;  // the database's number of a string -> place in names_
  std::vector<Name> names_{1};                    // the first: no name
};

}  // namespace rung::advise
