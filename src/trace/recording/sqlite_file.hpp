// Reads an untrusted SQLite database: nothing is written beside it, none of its code (views, triggers, functions,
// virtual tables) runs, and reading is bounded by what the file can hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace rung::trace {

// The rows of a table, in stored order. Columns are numbered as requested.
class SqliteRows {
 public:
  // Returns false at the end. Errors: damage, a value beyond kMostValueBytes, more rows or pages than the file holds.
  Result<bool> next();
  // Returns none if the table has no such column, or the value is no whole number.
  std::optional<int64_t> integer(size_t column) const;
  // Returns empty if the table has no such column, or the value is no text. Valid until the next call of next().
  std::string_view text(size_t column) const;
  bool has(size_t column) const { return places_[column] >= 0; }

 private:
  friend class SqliteFile;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  Status check_bounds();

  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  std::vector<int> places_;  // of the requested columns; -1: missing
  std::string where_;        // "'x.sqlite': table NVTX_EVENTS"
  uint64_t file_bytes_ = 0, rows_ = 0;
};

class SqliteFile {
 public:
  static constexpr int kMostValueBytes = 4 << 20;
  static bool looks_like(std::string_view head);

  // Errors: those of open_regular_file(), a compressed file, one that is no database.
  static Result<SqliteFile> open(const std::string& path);

  // Returns the names of ordinary tables, without views and virtual tables.
  Result<std::vector<std::string>> tables();
  // Returns whether it exists as an ordinary table.
  Result<bool> has_table(const std::string& name);
  // Reads a table; columns that it lacks are allowed. Errors: no such table, none of the columns, damage.
  Result<SqliteRows> read(const std::string& table, std::span<const std::string_view> columns);
  const std::string& path() const { return path_; }

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  SqliteFile() = default;
  Status distrust();
  Result<std::vector<std::string>> columns_of(const std::string& table);
  Result<SqliteRows> prepare(const std::string& sql, const std::string& what);

  std::unique_ptr<sqlite3, Closer> database_;
  std::string path_;
  uint64_t bytes_ = 0;
};

}  // namespace rung::trace
