// Names of events that a database stores as numbers into a table of strings: events take the numbers first, and only
// their texts are read at the end, because most of the table belongs to no event that is kept.
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
  // Returns a placeholder for Event::name until apply().
  uint32_t later(std::optional<int64_t> string, EventKind kind);
  bool any() const { return !places_.empty(); }
  // Reads rows of number and text. Errors: the database's.
  Status read(SqliteRows& rows, RecordingBuilder& builder);
  // Names the builder's events from index `first` on.
  void apply(RecordingBuilder& builder, size_t first) const;

 private:
  struct Name {
    uint32_t text = 0;  // in the recording's pool; 0: the table has not given it
    bool of_call = false;
  };
  std::unordered_map<int64_t, uint32_t> places_;  // number of a string in the database -> place in names_
  std::vector<Name> names_{1};                    // the first: no name
};

}  // namespace rung::trace
