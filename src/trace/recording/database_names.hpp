// Names of events that a database keeps as numbers of strings in a table of their own: events take the numbers first,
// and the texts of those alone are read last, as most of the table is of no event that is kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "trace/recording/recording_builder.hpp"
#include "trace/recording/sqlite_file.hpp"

namespace rung::trace {

class DatabaseNames {
 public:
  // For Event::name until apply().
  uint32_t later(std::optional<int64_t> string, EventKind kind);
  bool any() const { return !places_.empty(); }
  // Rows of number and text. Errors: the database's.
  Status read(SqliteRows& rows, RecordingBuilder& builder);
  // Names the builder's events from `first` on.
  void apply(RecordingBuilder& builder, size_t first) const;

 private:
  struct Name {
    uint32_t text = 0;  // in the recording's pool; 0: the table has not told
    bool of_call = false;
  };
  std::unordered_map<int64_t, uint32_t> places_;  // the database's number of a string -> place in names_
  std::vector<Name> names_{1};                    // the first: no name
};

}  // namespace rung::trace
