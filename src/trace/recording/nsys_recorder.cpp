// Reads one table after another, calls first.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/nsys_recorder.hpp"

#include <algorithm>
#include <array>

#include "trace/recording/copy_name.hpp"
#include "trace/recording/cuda_names.hpp"
#include "trace/recording/launch_numbers.hpp"

namespace rung::trace {
namespace {

constexpr std::string_view kWholeGraph = "CUDA graph, traced as a whole";
constexpr size_t kMostMemoryWords = 64;

// One number holds process and thread: 24 bits of the thread, 24 of the process, above them the machine's.
constexpr int kThreadBits = 24;
constexpr int64_t kThreadMask = (int64_t{1} << kThreadBits) - 1;
constexpr int64_t process_of(int64_t global) { return (global >> kThreadBits) & kThreadMask; }

// The first columns of every table of device work.
enum WorkColumn : size_t { kStart, kEnd, kCorrelation, kProcess, kDevice, kStream, kFirstOther };
#define RUNG_WORK_COLUMNS "start", "end", "correlationId", "globalPid", "deviceId", "streamId"

enum CallColumn : size_t { kCallThread = kCorrelation + 1, kCallName };
constexpr std::string_view kCallColumns[] = {"start", "end", "correlationId", "globalTid", "nameId"};

enum KernelColumn : size_t {
  kName = kFirstOther,
  kShortName,
  kGrid,
  kBlock = kGrid + 3,
  kRegisters = kBlock + 3,
  kStaticShared,
  kDynamicShared
};
constexpr std::string_view kKernelColumns[] = {RUNG_WORK_COLUMNS,
                                               "demangledName",
                                               "shortName",
                                               "gridX",
                                               "gridY",
                                               "gridZ",
                                               "blockX",
                                               "blockY",
                                               "blockZ",
                                               "registersPerThread",
                                               "staticSharedMemory",
                                               "dynamicSharedMemory"};

enum CopyColumn : size_t { kBytes = kFirstOther, kDirection, kFrom, kTo };
constexpr std::string_view kCopyColumns[] = {RUNG_WORK_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind"};

enum FillColumn : size_t { kMemory = kFirstOther };
constexpr std::string_view kFillColumns[] = {RUNG_WORK_COLUMNS, "memKind"};

constexpr std::string_view kGraphColumns[] = {RUNG_WORK_COLUMNS};

enum RangeColumn : size_t { kRangeThread = kEnd + 1, kEventType, kText, kTextId };
constexpr std::string_view kRangeColumns[] = {"start", "end", "globalTid", "eventType", "text", "textId"};
constexpr int64_t kMark = 34;
constexpr int64_t kRangeTypes[] = {59, 60, 70, 71};  // pushed and popped, started and ended; both from a text file

constexpr std::string_view kStartColumn[] = {"start"};

}  // namespace

// A table to read. Without a function its rows are skipped and counted as `left_out_as`.
struct NsysRecorder::Table {
  std::string_view name;
  std::span<const std::string_view> columns;
  void (NsysRecorder::*take)(const SqliteRows& rows);
  std::string_view left_out_as;
};

std::span<const NsysRecorder::Table> NsysRecorder::tables() {
  static constexpr Table kTables[] = {
      {"CUPTI_ACTIVITY_KIND_RUNTIME", kCallColumns, &NsysRecorder::take_call, {}},
      {"CUPTI_ACTIVITY_KIND_KERNEL", kKernelColumns, &NsysRecorder::take_kernel, {}},
      {"CUPTI_ACTIVITY_KIND_MEMCPY", kCopyColumns, &NsysRecorder::take_copy, {}},
      {"CUPTI_ACTIVITY_KIND_MEMSET", kFillColumns, &NsysRecorder::take_fill, {}},
      {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kGraphColumns, &NsysRecorder::take_graph, {}},
      {"NVTX_EVENTS", kRangeColumns, &NsysRecorder::take_range, {}},
      {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", kStartColumn, nullptr,
       "waits drawn on streams: the host's calls are kept"},
      {"OSRT_API", kStartColumn, nullptr, "calls of the operating system"},
      {"PROFILER_OVERHEAD", kStartColumn, nullptr, "the profiler's own work"},
      {"CUDA_GPU_MEMORY_USAGE_EVENTS", kStartColumn, nullptr, "allocations: the host's calls are kept"},
  };
  return kTables;
}

Result<Recording> NsysRecorder::read() {
  RUNG_CHECK(devices_.read(file_));
  RUNG_CHECK(read_memory_words());
  for (const Table& table : tables()) RUNG_CHECK(read_table(table));
  if (!any_table_)
    return bad_file(
        "'{}': got a database without the tables of Nsight Systems or of rocprofv3, wanted what "
        "`nsys export --type sqlite` or rocprofv3 writes",
        file_.path());
  RUNG_CHECK(read_names());
  devices_.name(builder_);
  return builder_.finish();
}

Status NsysRecorder::read_table(const Table& table) {
  RUNG_TRY(const bool there, file_.has_table(std::string(table.name)));
  if (!there) return {};
  any_table_ |= table.take != nullptr;
  RUNG_TRY(SqliteRows rows, file_.read(std::string(table.name), table.columns));
  for (;;) {
    RUNG_TRY(const bool more, rows.next());
    if (!more) return {};
    if (table.take)
      (this->*table.take)(rows);
    else
      builder_.skip(table.left_out_as);
  }
}

Status NsysRecorder::read_memory_words() {
  RUNG_TRY(const bool there, file_.has_table("ENUM_CUDA_MEM_KIND"));
  if (!there) return {};
  constexpr std::array<std::string_view, 2> kColumns{"id", "label"};
  RUNG_TRY(SqliteRows rows, file_.read("ENUM_CUDA_MEM_KIND", kColumns));
  while (memory_words_.size() < kMostMemoryWords) {
    RUNG_TRY(const bool more, rows.next());
    if (!more) break;
    if (const auto id = rows.integer(0); id && !rows.text(1).empty()) memory_words_[*id] = rows.text(1).substr(0, 32);
  }
  return {};
}

Status NsysRecorder::read_names() {
  if (names_.any()) {
    constexpr std::array<std::string_view, 2> kColumns{"id", "value"};
    RUNG_TRY(SqliteRows rows, file_.read("StringIds", kColumns));
    RUNG_CHECK(names_.read(rows, builder_));
  }
  names_.apply(builder_, 0);
  return {};
}

bool NsysRecorder::set_times(const SqliteRows& rows, Event& event) {
  return builder_.set_times(event, rows.integer(kStart), rows.integer(kEnd));
}

bool NsysRecorder::set_place(const SqliteRows& rows, Event& event) {
  if (!set_times(rows, event)) return false;
  const auto global = rows.integer(kProcess);
  const int64_t process = global ? process_of(*global) : first_process_;
  event.link = links_.of(process, rows.integer(kCorrelation).value_or(0));
  event.lane = builder_.device_lane(devices_.number_of(process, rows.integer(kDevice).value_or(0)),
                                    rows.integer(kStream).value_or(0));
  return true;
}

void NsysRecorder::take_call(const SqliteRows& rows) {
  Event call{.kind = EventKind::runtime_call};
  if (!set_times(rows, call)) return;
  const int64_t global = rows.integer(kCallThread).value_or(0);
  if (first_process_ == 0) first_process_ = process_of(global);
  call.lane = builder_.host_lane(process_of(global), global & kThreadMask);
  call.link = links_.of(process_of(global), rows.integer(kCorrelation).value_or(0));
  call.name = names_.later(rows.integer(kCallName), call.kind);
  builder_.add(call);
}

void NsysRecorder::take_kernel(const SqliteRows& rows) {
  Event kernel{.kind = EventKind::kernel};
  if (!set_place(rows, kernel)) return;
  const auto name = rows.integer(kName);
  kernel.name = names_.later(name ? name : rows.integer(kShortName), kernel.kind);
  LaunchShape shape;
  for (size_t i = 0; i < 3; ++i) {
    shape.grid[i] = count_of(rows.integer(kGrid + i));
    shape.block[i] = count_of(rows.integer(kBlock + i));
  }
  shape.registers = count_of(rows.integer(kRegisters));
  const uint64_t shared = uint64_t{count_of(rows.integer(kStaticShared))} + count_of(rows.integer(kDynamicShared));
  shape.shared_bytes = count_of(static_cast<int64_t>(shared));
  kernel.detail = builder_.launch(shape);
  builder_.add(kernel);
}

std::string_view NsysRecorder::memory_of(const SqliteRows& rows, size_t column) const {
  const auto kind = rows.integer(column);
  if (!kind) return {};
  const auto word = memory_words_.find(*kind);
  return word != memory_words_.end() ? std::string_view(word->second) : memory_word(*kind);
}

void NsysRecorder::take_copy(const SqliteRows& rows) {
  Event copy{.kind = EventKind::copy};
  if (!set_place(rows, copy)) return;
  const std::string name =
      copy_name(copy_word(rows.integer(kDirection).value_or(0)), memory_of(rows, kFrom), memory_of(rows, kTo));
  copy.name = builder_.text(name);
  copy.detail = builder_.copy(copy_shape(name, rows.integer(kBytes).value_or(-1)));
  builder_.add(copy);
}

void NsysRecorder::take_fill(const SqliteRows& rows) {
  Event fill{.kind = EventKind::fill};
  if (!set_place(rows, fill)) return;
  const std::string_view memory = memory_of(rows, kMemory);
  fill.name = builder_.text(memory.empty() ? "Memset" : fmt::format("Memset ({})", memory));
  builder_.add(fill);
}

void NsysRecorder::take_graph(const SqliteRows& rows) {
  Event graph{.kind = EventKind::kernel};
  if (!set_place(rows, graph)) return;
  graph.name = builder_.text(kWholeGraph);
  builder_.add(graph);
}

void NsysRecorder::take_range(const SqliteRows& rows) {
  const auto type = rows.integer(kEventType);
  if (type == kMark) return builder_.skip("instants");
  const bool is_range = std::find(std::begin(kRangeTypes), std::end(kRangeTypes), type) != std::end(kRangeTypes);
  if (type && !is_range) return builder_.skip("names of threads, domains and categories");
  Event range{.kind = EventKind::range};
  if (rows.integer(kStart) && !rows.integer(kEnd)) return builder_.skip("a begin without an end");
  if (!set_times(rows, range)) return;
  const int64_t global = rows.integer(kRangeThread).value_or(0);
  range.lane = builder_.host_lane(process_of(global), global & kThreadMask);
  const std::string_view text = rows.text(kText);
  range.name = text.empty() ? names_.later(rows.integer(kTextId), range.kind) : builder_.text(text);
  builder_.add(range);
}

}  // namespace rung::trace
