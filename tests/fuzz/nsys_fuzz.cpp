// Any bytes as a database of Nsight Systems or of rocprofv3; and databases whose tables, columns and values the bytes
// choose, types that the columns do not say among them.
// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include <array>
#include <memory>
#include <span>

#include "trace/recording/reader.hpp"
#include "trace_checks.hpp"

namespace {

using rung::folder;
using rung::require;

class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}
  bool any_left() const { return !bytes_.empty(); }
  unsigned next() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }
  std::string_view text() {
    const size_t length = std::min<size_t>(next(), bytes_.size());
    const std::string_view text = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return text;
  }

 private:
  std::string_view bytes_;
};

struct Made {
  const char* name;
  std::array<const char*, 14> columns;
};
constexpr Made kTables[] = {
    {"StringIds", {"id", "value"}},
    {"ENUM_CUDA_MEM_KIND", {"id", "name", "label"}},
    {"TARGET_INFO_GPU", {"id", "name", "cuDevice"}},
    {"TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"}},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName", "shortName", "gridX",
      "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "copyKind", "srcKind", "dstKind"}},
    {"CUPTI_ACTIVITY_KIND_MEMSET", {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "memKind"}},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {"start", "end", "deviceId", "streamId", "correlationId", "globalPid"}},
    {"NVTX_EVENTS", {"start", "end", "globalTid", "eventType", "text", "textId"}},
    {"OSRT_API", {"start"}},
};
constexpr Made kRocpdTables[] = {
    {"rocpd_string_a", {"id", "string"}},
    {"rocpd_info_process_a", {"id", "pid"}},
    {"rocpd_info_thread_a", {"id", "tid"}},
    {"rocpd_info_agent_a", {"id", "type", "absolute_index", "name", "product_name"}},
    {"rocpd_info_kernel_symbol_a", {"id", "display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count"}},
    {"rocpd_event_a", {"id", "category_id", "stack_id", "extdata"}},
    {"rocpd_region_a", {"start", "end", "event_id", "pid", "tid", "name_id"}},
    {"rocpd_kernel_dispatch_a",
     {"start", "end", "event_id", "agent_id", "queue_id", "stream_id", "kernel_id", "group_segment_size",
      "workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z"}},
    {"rocpd_memory_copy_a",
     {"start", "end", "event_id", "src_agent_id", "dst_agent_id", "queue_id", "stream_id", "name_id", "size"}},
};
constexpr const char* kTexts[] = {"HIP_RUNTIME_API",         "HSA_CORE_API", "MARKER_CORE_API",
                                  "{\"message\": \"step\"}", "GPU",          "Pageable"};
constexpr int64_t kNumbers[] = {0,  1,  2,   59, -1,        INT64_MIN, INT64_MAX,         int64_t{1} << 32,
                                34, 60, 700, 75, 1LL << 24, 9LL << 24, 4'000'000'000'000, 5};

void bind(sqlite3_stmt* statement, int place, Choices& choices) {
  const unsigned choice = choices.next();
  switch (choice % 8) {
    case 0:
      break;  // NULL
    case 1: {
      const std::string_view text = choices.text();
      sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
      break;
    }
    case 2:
      sqlite3_bind_double(statement, place, choice / 3.0);
      break;
    case 3: {
      const std::string_view blob = choices.text();
      sqlite3_bind_blob(statement, place, blob.data(), static_cast<int>(blob.size()), SQLITE_TRANSIENT);
      break;
    }
    case 4:
      sqlite3_bind_int64(statement, place, kNumbers[choices.next() % std::size(kNumbers)]);
      break;
    case 5:
      sqlite3_bind_text(statement, place, kTexts[choices.next() % std::size(kTexts)], -1, SQLITE_STATIC);
      break;
    default:
      sqlite3_bind_int64(statement, place, static_cast<int64_t>(choices.next()) << (choice / 32 * 8));
  }
}

void run(sqlite3* database, const std::string& sql, Choices* choices) {
  sqlite3_stmt* statement = nullptr;
  require(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK, "the fuzzer's SQL is right");
  if (choices)
    for (int place = 1; place <= sqlite3_bind_parameter_count(statement); ++place) bind(statement, place, *choices);
  sqlite3_step(statement);  // a StringIds.id may be there already, or be no number
  sqlite3_finalize(statement);
}

void make_table(sqlite3* database, const Made& table, Choices& choices) {
  const unsigned left_out = choices.next(), rows = choices.next() % 8;
  std::string columns, values;
  for (size_t i = 0; i < table.columns.size() && table.columns[i]; ++i) {
    if (left_out != 0 && i != 0 && left_out % (i + 1) == 0) continue;
    columns += (columns.empty() ? "\"" : ", \"") + std::string(table.columns[i]) + "\"";
    values += values.empty() ? "?" : ", ?";
  }
  run(database, "CREATE TABLE " + std::string(table.name) + " (" + columns + ")", nullptr);
  for (unsigned row = 0; row < rows; ++row)
    run(database, "INSERT INTO " + std::string(table.name) + " VALUES (" + values + ")", &choices);
}

void make_chosen_database(const std::string& path, std::span<const Made> tables, Choices choices) {
  std::filesystem::remove(path);
  sqlite3* database = nullptr;
  require(sqlite3_open(path.c_str(), &database) == SQLITE_OK, "a database can be made");
  for (const char* pragma : {"PRAGMA synchronous=OFF", "PRAGMA journal_mode=OFF", "PRAGMA page_size=512", "BEGIN"})
    sqlite3_exec(database, pragma, nullptr, nullptr, nullptr);
  for (const Made& table : tables)
    if (choices.any_left() && choices.next() % 4 != 0) make_table(database, table, choices);
  sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(database);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

// The first byte of an input says which it is.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::string chosen;
  for (int i = 0; i < 2000; ++i) chosen += static_cast<char>(i * 37 % 251);
  const std::string path = folder().path("seed.sqlite");
  make_chosen_database(path, kTables, Choices(chosen));
  rung::write_seeds(*argc, *argv, {"\1" + chosen, "\1", "\2" + chosen, std::string(1, '\0') + bytes_of(path)});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rung;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  const std::string path = folder().path("x.sqlite");
  const bool rocpd = input.front() % 4 == 2;
  if (input.front() % 2 == 0 && !rocpd)
    folder().write("x.sqlite", input.substr(1));
  else if (rocpd)
    make_chosen_database(path, kRocpdTables, Choices(input.substr(1)));
  else
    make_chosen_database(path, kTables, Choices(input.substr(1)));
  const std::string before = bytes_of(path);
  check_recording(trace::nsys_reader.read(path));
  check_recording(trace::rocpd_reader.read(path));
  require(bytes_of(path) == before, "the database is as it was");
  for (const char* beside : {"x.sqlite-journal", "x.sqlite-wal", "x.sqlite-shm"})
    require(!std::filesystem::exists(folder().path(beside)), "nothing lies beside it");
  return 0;
}
