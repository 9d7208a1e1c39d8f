// Rows refer to shared facts by number.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/rocpd_recorder.hpp"

#include <algorithm>
#include <optional>

#include "trace/recording/copy_name.hpp"
#include "trace/recording/launch_numbers.hpp"

namespace rung::trace {
namespace {

constexpr std::string_view kFirstTable = "rocpd_string";
constexpr size_t kMostProcesses = 256;

// The first columns of every table read here.
enum Column : size_t { kStart, kEnd, kEvent, kFirstOther };
#define RUNG_ROCPD_COLUMNS "start", "end", "event_id"

enum RegionColumn : size_t { kProcess = kFirstOther, kThread, kRegionName };
constexpr std::string_view kRegionColumns[] = {RUNG_ROCPD_COLUMNS, "pid", "tid", "name_id"};

// Columns of device work.
enum WorkColumn : size_t { kQueue = kFirstOther, kStream, kFirstOfWork };
enum KernelColumn : size_t { kAgent = kFirstOfWork, kKernel, kShared, kBlock, kGrid = kBlock + 3 };
constexpr std::string_view kKernelColumns[] = {
    RUNG_ROCPD_COLUMNS, "queue_id",         "stream_id",        "agent_id",    "kernel_id",   "group_segment_size",
    "workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z"};
enum CopyColumn : size_t { kCopyName = kFirstOfWork, kSource, kDestination, kBytes };
constexpr std::string_view kCopyColumns[] = {RUNG_ROCPD_COLUMNS, "queue_id",     "stream_id", "name_id",
                                             "src_agent_id",     "dst_agent_id", "size"};

}  // namespace

std::vector<std::string> RocpdRecorder::endings_in(const std::vector<std::string>& tables) {
  std::vector<std::string> endings;
  for (const std::string& table : tables) {
    if (!table.starts_with(kFirstTable)) continue;
    const std::string ending = table.substr(kFirstTable.size());
    if (endings.size() < kMostProcesses && (ending.empty() || ending.front() == '_')) endings.push_back(ending);
  }
  return endings;
}

Status RocpdRecorder::read_process(const std::string& ending) {
  const size_t first = builder_.size();
  constexpr std::string_view kIdColumn[] = {"id"};
  ++process_;
  tables_ = {};
  names_ = {};
  RUNG_CHECK(tables_.read(file_, ending, builder_, {links_, process_}));
  RUNG_CHECK(for_each_row(file_, "rocpd_region" + ending, kRegionColumns, [&](const auto& r) { take_region(r); }));
  RUNG_CHECK(
      for_each_row(file_, "rocpd_kernel_dispatch" + ending, kKernelColumns, [&](const auto& r) { take_kernel(r); }));
  RUNG_CHECK(for_each_row(file_, "rocpd_memory_copy" + ending, kCopyColumns, [&](const auto& r) { take_copy(r); }));
  RUNG_CHECK(for_each_row(file_, "rocpd_memory_allocate" + ending, kIdColumn,
                          [&](const auto&) { builder_.skip("allocations that the device's driver made"); }));
  RUNG_CHECK(for_each_row(file_, "rocpd_sample" + ending, kIdColumn, [&](const auto&) { builder_.skip("samples"); }));
  RUNG_CHECK(
      for_each_row(file_, "rocpd_pmc_event" + ending, kIdColumn, [&](const auto&) { builder_.skip("counters"); }));
  inner_.link(builder_, first);
  if (names_.any()) {
    constexpr std::string_view kStringColumns[] = {"id", "string"};
    RUNG_TRY(SqliteRows rows, file_.read("rocpd_string" + ending, kStringColumns));
    RUNG_CHECK(names_.read(rows, builder_));
  }
  names_.apply(builder_, first);
  return {};
}

bool RocpdRecorder::set_times(const SqliteRows& rows, Event& event) {
  return builder_.set_times(event, rows.integer(kStart), rows.integer(kEnd));
}

bool RocpdRecorder::set_lane(const SqliteRows& rows, const RocpdTables::Agent& agent, Event& event) {
  if (agent.number < 0) return builder_.skip("work on an agent that is missing or no number"), false;
  const auto stream = rows.integer(kStream);
  event.lane = builder_.device_lane(agent.number, stream ? *stream : rows.integer(kQueue).value_or(-1));
  return true;
}

void RocpdRecorder::take_region(const SqliteRows& rows) {
  static const DomainRule none = rule_of_domain("");
  const RocpdTables::Event event = tables_.event(rows.integer(kEvent).value_or(-1));
  const DomainRule& rule = event.domain ? *event.domain : none;
  Event call{.link = event.link};
  if (!set_times(rows, call)) return;
  call.lane = builder_.host_lane(tables_.process(rows.integer(kProcess).value_or(0)),
                                 tables_.thread(rows.integer(kThread).value_or(0)));
  if (rule.of_hsa) inner_.take(call);
  if (!rule.kind) return builder_.skip(rule.left_out_as);
  if (rule.kind == EventKind::range && call.duration_ns == 0) return builder_.skip("instants");
  call.kind = *rule.kind;
  call.name = event.message ? event.message : names_.later(rows.integer(kRegionName), call.kind);
  if (call.kind != EventKind::runtime_call) call.link = 0;
  builder_.add(call);
}

void RocpdRecorder::take_kernel(const SqliteRows& rows) {
  Event kernel{.link = tables_.event(rows.integer(kEvent).value_or(-1)).link, .kind = EventKind::kernel};
  if (!set_times(rows, kernel) || !set_lane(rows, tables_.agent(rows.integer(kAgent).value_or(-1)), kernel)) return;
  const RocpdTables::Kernel symbol = tables_.kernel(rows.integer(kKernel).value_or(-1));
  LaunchShape shape{.registers = symbol.registers, .shared_bytes = count_of(rows.integer(kShared))};
  for (size_t i = 0; i < 3; ++i)
    set_axis(shape, i, count_of(rows.integer(kGrid + i)), count_of(rows.integer(kBlock + i)));
  kernel.name = symbol.name ? symbol.name : names_.later(std::nullopt, kernel.kind);
  kernel.detail = builder_.launch(shape);
  builder_.add(kernel);
}

void RocpdRecorder::take_copy(const SqliteRows& rows) {
  const auto from = tables_.agent(rows.integer(kSource).value_or(-1)),
             to = tables_.agent(rows.integer(kDestination).value_or(-1));
  Event copy{.link = tables_.event(rows.integer(kEvent).value_or(-1)).link, .kind = EventKind::copy};
  if (from.number >= 0 && to.number >= 0 && !from.gpu && !to.gpu) return builder_.skip("copies from host to host");
  if (!set_times(rows, copy) || !set_lane(rows, to.gpu ? to : from, copy)) return;
  CopyShape shape{.bytes = std::max<int64_t>(rows.integer(kBytes).value_or(-1), -1)};
  shape.host_to_device = to.gpu && from.number >= 0 && !from.gpu;
  shape.device_to_host = from.gpu && to.number >= 0 && !to.gpu;
  copy.name = names_.later(rows.integer(kCopyName), copy.kind);
  copy.detail = builder_.copy(shape);
  builder_.add(copy);
}

}  // namespace rung::trace
