// Opens the database as an immutable file, so that SQLite takes no lock and looks for no journal. An authorizer allows
// only reading columns of tables.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/sqlite_file.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>

#include "base/json.hpp"
#include "trace/recording/byte_source.hpp"

namespace rung::trace {
namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr uint64_t kLeastRowBytes = 4;  // for a row in the file
constexpr uint64_t kRowsBetweenChecks = 64;
constexpr uint64_t kLeastPageBytes = 512;
constexpr uint64_t kVisitsOfPage = 16;  // in one pass over a table; each leaf takes one, and one for overflow
constexpr uint64_t kFreeVisits = 4096;

// Steps of SQLite's virtual machine while it reads the list of tables, about ten for each.
constexpr int kStepsBetweenCounts = 1000;
constexpr int kMostSchemaCounts = 200;

int stop_after_many(void* count) { return ++*static_cast<int*>(count) > kMostSchemaCounts ? 1 : 0; }

// Names after "file:" take escapes, and options follow '?'.
std::string uri_of(const std::string& path) {
  std::string uri = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

// Refuses a write-ahead log: its rows are part of the database but not in the file yet, and SQLite would have to write
// to take them in.
Status expect_no_write_ahead_log(const std::string& path) {
  constexpr std::string_view kLogMagic = "\x37\x7f\x06";
  constexpr uint64_t kHeaderBytes = 32;
  const std::string log = path + "-wal";
  auto source = ByteSource::open(log);
  if (!source || source->file_bytes() <= kHeaderBytes) return {};
  std::string head(kLogMagic.size(), '\0');
  RUNG_TRY(const size_t got, source->read(head.data(), head.size()));
  if (got != head.size() || head != kLogMagic) return {};
  return bad_file(
      "'{}': '{}' beside it holds changes that are not in the database yet: end the program that writes it, or copy "
      "both and run: sqlite3 COPY 'PRAGMA wal_checkpoint(TRUNCATE)'",
      path, log);
}

// Answers SQLite whether a statement may perform an action; further arguments name its object.
constexpr auto allow_reading_tables = [](void*, int action, const char* name, auto...) -> int {
  if (action == SQLITE_SELECT || action == SQLITE_READ) return SQLITE_OK;
  return action == SQLITE_PRAGMA && name && std::string_view(name) == "table_info" ? SQLITE_OK : SQLITE_DENY;
};

// Puts a name between double quotes, and doubles quotes within it.
std::string in_quotes(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

// Returns SQLite's error message, which may quote the file.
std::string message_of(sqlite3* database) {
  std::string text(std::string_view(sqlite3_errmsg(database)).substr(0, 200));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  return valid_utf8(text);
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sqlite3_strnicmp(a.data(), b.data(), static_cast<int>(a.size())) == 0;
}

}  // namespace

void SqliteRows::Finalizer::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void SqliteFile::Closer::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

bool SqliteFile::looks_like(std::string_view head) { return head.starts_with(kMagic); }

Result<SqliteFile> SqliteFile::open(const std::string& path) {
  SqliteFile file;
  file.path_ = path;
  {
    RUNG_TRY(const ByteSource source, ByteSource::open(path));
    if (source.packed()) return bad_file("'{}': got a packed database, wanted it unpacked: gunzip", path);
    file.bytes_ = source.file_bytes();
  }
  RUNG_CHECK(expect_no_write_ahead_log(path));
  sqlite3* database = nullptr;
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  const int code = sqlite3_open_v2(uri_of(path).c_str(), &database, flags, nullptr);
  file.database_.reset(database);
  if (code != SQLITE_OK) return bad_file("'{}': cannot open the database: {}", path, sqlite3_errstr(code));
  RUNG_CHECK(file.distrust());
  return file;
}

Status SqliteFile::distrust() {
  sqlite3* database = database_.get();
  for (const auto& [option, value] :
       {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1), std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0), std::pair(SQLITE_DBCONFIG_ENABLE_VIEW, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), std::pair(SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0)})
    if (sqlite3_db_config(database, option, value, nullptr) != SQLITE_OK)
      return fail("'{}': SQLite {} lacks option {} for files that are not trusted", path_, sqlite3_libversion(),
                  option);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMostValueBytes);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  int schema_counts = 0;  // the pragmas load the schema
  sqlite3_progress_handler(database, kStepsBetweenCounts, stop_after_many, &schema_counts);
  for (const char* pragma : {"PRAGMA cell_size_check=ON", "PRAGMA mmap_size=0", "PRAGMA cache_size=-8192",
                             "PRAGMA temp_store=MEMORY", "PRAGMA query_only=ON"})
    if (sqlite3_exec(database, pragma, nullptr, nullptr, nullptr) != SQLITE_OK)
      return bad_file("'{}': cannot read the database: {}", path_, message_of(database));
  sqlite3_progress_handler(database, 0, nullptr, nullptr);
  sqlite3_set_authorizer(database, allow_reading_tables, nullptr);
  return {};
}

Result<SqliteRows> SqliteFile::prepare(const std::string& sql, const std::string& what) {
  SqliteRows rows;
  rows.where_ = fmt::format("'{}': {}", path_, what);
  rows.file_bytes_ = bytes_;
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr);
  rows.statement_.reset(statement);
  if (code != SQLITE_OK) return bad_file("{}: cannot be read: {}", rows.where_, message_of(database_.get()));
  int ignored = 0;
  for (const int counter : {SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS})
    sqlite3_db_status(database_.get(), counter, &ignored, &ignored, 1);
  return rows;
}

// Lists tables with a root page: views and virtual tables have none.
Result<std::vector<std::string>> SqliteFile::tables() {
  RUNG_TRY(SqliteRows rows, prepare("SELECT type, name, rootpage FROM sqlite_master", "its schema"));
  rows.places_ = {0, 1, 2};
  std::vector<std::string> names;
  for (;;) {
    RUNG_TRY(const bool more, rows.next());
    if (!more) return names;
    if (rows.text(0) == "table" && rows.integer(2).value_or(0) > 0) names.emplace_back(rows.text(1));
  }
}

Result<bool> SqliteFile::has_table(const std::string& name) {
  RUNG_TRY(const auto names, tables());
  return std::any_of(names.begin(), names.end(), [&](const auto& table) { return same_name(table, name); });
}

Result<std::vector<std::string>> SqliteFile::columns_of(const std::string& table) {
  RUNG_TRY(SqliteRows rows,
           prepare(fmt::format("PRAGMA table_info({})", in_quotes(table)), "columns of table " + table));
  rows.places_ = {1};
  std::vector<std::string> columns;
  for (;;) {
    RUNG_TRY(const bool more, rows.next());
    if (!more) return columns;
    columns.emplace_back(rows.text(0));
  }
}

Result<SqliteRows> SqliteFile::read(const std::string& table, std::span<const std::string_view> columns) {
  RUNG_TRY(const bool there, has_table(table));
  if (!there) return bad_file("'{}': got no table {}", path_, table);
  RUNG_TRY(const auto known, columns_of(table));
  std::vector<int> places;
  std::string list;
  int count = 0;
  for (const std::string_view column : columns) {
    const bool has = std::any_of(known.begin(), known.end(), [&](const auto& name) { return same_name(name, column); });
    places.push_back(has ? count++ : -1);
    if (has) list += (list.empty() ? "" : ", ") + in_quotes(column);
  }
  if (list.empty()) return bad_file("'{}': table {} has none of the columns that are read", path_, table);
  // An index could be read instead of the table, and hold other data.
  RUNG_TRY(SqliteRows rows,
           prepare(fmt::format("SELECT {} FROM {} NOT INDEXED", list, in_quotes(table)), "table " + table));
  rows.places_ = std::move(places);
  return rows;
}

// A damaged tree can name the same page repeatedly.
Status SqliteRows::check_bounds() {
  if (rows_ > file_bytes_ / kLeastRowBytes)
    return bad_file("{}: damaged: more than {} rows in {} bytes", where_, rows_ - 1, file_bytes_);
  if (rows_ % kRowsBetweenChecks != 0) return {};
  sqlite3* database = sqlite3_db_handle(statement_.get());
  uint64_t visits = 0;
  for (const int counter : {SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS}) {
    int current = 0, highest = 0;
    sqlite3_db_status(database, counter, &current, &highest, 0);
    visits += static_cast<uint32_t>(current);
  }
  if (visits > kFreeVisits + kVisitsOfPage * (file_bytes_ / kLeastPageBytes))
    return bad_file("{}: damaged: {} pages read in {} bytes", where_, visits, file_bytes_);
  return {};
}

Result<bool> SqliteRows::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_DONE) return false;
  if (code != SQLITE_ROW)
    return bad_file("{}: row {}: {}", where_, rows_ + 1, message_of(sqlite3_db_handle(statement_.get())));
  ++rows_;
  RUNG_CHECK(check_bounds());
  return true;
}

std::optional<int64_t> SqliteRows::integer(size_t column) const {
  const int place = places_[column];
  if (place < 0 || sqlite3_column_type(statement_.get(), place) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement_.get(), place);
}

std::string_view SqliteRows::text(size_t column) const {
  const int place = places_[column];
  if (place < 0 || sqlite3_column_type(statement_.get(), place) != SQLITE_TEXT) return {};
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), place));
  return text ? std::string_view(text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), place)))
              : std::string_view();
}

}  // namespace rung::trace
