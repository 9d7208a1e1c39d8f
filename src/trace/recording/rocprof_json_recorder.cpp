// A record becomes an event by its list and, among calls, by its domain.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/rocprof_json_recorder.hpp"

#include "trace/recording/amd_domains.hpp"
#include "trace/recording/copy_name.hpp"
#include "trace/recording/json_numbers.hpp"
#include "trace/recording/launch_numbers.hpp"

namespace rung::trace {

const RocprofJsonRecorder::List& RocprofJsonRecorder::list_of(std::string_view name) {
  using Self = RocprofJsonRecorder;
  static constexpr List kLists[] = {
      {"kernel_dispatch", &Self::take_kernel, {}},
      {"memory_copy", &Self::take_copy, {}},
      {"hip_api", &Self::take_call, {}},
      {"hsa_api", &Self::take_call, {}},
      {"marker_api", &Self::take_call, {}},
      {"rccl_api", &Self::take_call, {}},
      {"memory_allocation", nullptr, "allocations that the device's driver made"},
      {"scratch_memory", nullptr, "allocations that the device's driver made"},
      {"pc_sample_host_trap", nullptr, "samples"},
      {"pc_sample_stochastic", nullptr, "samples"},
  };
  static constexpr List kOther{{}, nullptr, "records of lists that are not known"};
  for (const List& list : kLists)
    if (list.name == name) return list;
  return kOther;
}

void RocprofJsonRecorder::begin_process() {
  ++process_;
  pid_ = 0;
  first_of_process_ = builder_.size();
  tables_.emplace(builder_);
}

void RocprofJsonRecorder::take_metadata(std::string_view json) {
  pid_ = integer_of(member_of(json, "pid")).value_or(0);
}

bool RocprofJsonRecorder::begin_records(std::string_view list) {
  list_ = &list_of(list);
  any_timed_ |= list_->take != nullptr;
  return list_->take != nullptr;
}

bool RocprofJsonRecorder::set_times(const RocprofRecord& record, Event& event) {
  return builder_.set_times(event, integer_of(record[RocprofField::start]), integer_of(record[RocprofField::end]));
}

bool RocprofJsonRecorder::set_lane(const RocprofTables::Agent* agent, const RocprofRecord& record, Event& event) {
  if (!agent || agent->node < 0) return builder_.skip("work on an agent that is missing or no number"), false;
  const auto stream = handle_of(record[RocprofField::stream]), queue = handle_of(record[RocprofField::queue]);
  event.lane = builder_.device_lane(agent->node, static_cast<int64_t>(stream ? *stream : queue.value_or(UINT64_MAX)));
  return true;
}

uint32_t RocprofJsonRecorder::link_of(const RocprofRecord& record) {
  return links_.of(process_, integer_of(member_of(record[RocprofField::correlation], "internal")).value_or(0));
}

uint32_t RocprofJsonRecorder::launch_of(const RocprofRecord& record, uint32_t registers) {
  constexpr std::string_view kAxes[] = {"x", "y", "z"};
  LaunchShape shape;
  const auto along = [&](RocprofField field, size_t axis) {
    return count_of(integer_of(member_of(record[field], kAxes[axis])));
  };
  for (size_t i = 0; i < 3; ++i) set_axis(shape, i, along(RocprofField::grid, i), along(RocprofField::block, i));
  shape.registers = registers;
  shape.shared_bytes = count_of(integer_of(record[RocprofField::shared_bytes]));
  return builder_.launch(shape);
}

void RocprofJsonRecorder::take_kernel(const RocprofRecord& record) {
  Event kernel;
  const auto agent = handle_of(record[RocprofField::agent]);
  if (!set_times(record, kernel) || !set_lane(agent ? tables_->agent(*agent) : nullptr, record, kernel)) return;
  const RocprofTables::Kernel symbol = tables_->kernel(unsigned_of(record[RocprofField::kernel]).value_or(0));
  kernel.kind = EventKind::kernel;
  kernel.name = symbol.name;
  kernel.detail = launch_of(record, symbol.registers);
  kernel.link = link_of(record);
  builder_.add(kernel);
}

void RocprofJsonRecorder::take_copy(const RocprofRecord& record) {
  const uint64_t kind = unsigned_of(record[RocprofField::kind]).value_or(UINT64_MAX);
  const uint64_t operation = unsigned_of(record[RocprofField::operation]).value_or(UINT64_MAX);
  const auto source = handle_of(record[RocprofField::source]),
             destination = handle_of(record[RocprofField::destination]);
  const auto* from = source ? tables_->agent(*source) : nullptr;
  const auto* to = destination ? tables_->agent(*destination) : nullptr;
  if (from && to && !from->gpu && !to->gpu) return builder_.skip("copies from host to host");
  Event copy;
  if (!set_times(record, copy) || !set_lane(to && !to->gpu ? from : to, record, copy)) return;
  CopyShape shape =
      copy_shape(tables_->operation_text(kind, operation), integer_of(record[RocprofField::bytes]).value_or(-1));
  if (from && to) {
    shape.host_to_device = !from->gpu;
    shape.device_to_host = !to->gpu;
  }
  copy.kind = EventKind::copy;
  copy.name = tables_->operation(kind, operation);
  copy.detail = builder_.copy(shape);
  copy.link = link_of(record);
  builder_.add(copy);
}

void RocprofJsonRecorder::take_call(const RocprofRecord& record) {
  const uint64_t kind = unsigned_of(record[RocprofField::kind]).value_or(UINT64_MAX);
  const DomainRule& rule = rule_of_domain(tables_->domain(kind));
  Event call;
  if (!set_times(record, call)) return;
  call.lane = builder_.host_lane(pid_, integer_of(record[RocprofField::thread]).value_or(0));
  call.link = link_of(record);
  if (rule.of_hsa) inner_.take(call);
  if (!rule.kind) return builder_.skip(rule.left_out_as);
  if (rule.kind == EventKind::range && call.duration_ns == 0) return builder_.skip("instants");
  const auto correlation = unsigned_of(member_of(record[RocprofField::correlation], "internal"));
  const uint32_t message = rule.kind == EventKind::range && correlation ? tables_->message(*correlation) : 0;
  call.kind = *rule.kind;
  call.name =
      message ? message : tables_->operation(kind, unsigned_of(record[RocprofField::operation]).value_or(UINT64_MAX));
  if (call.kind != EventKind::runtime_call) call.link = 0;
  builder_.add(call);
}

Result<Recording> RocprofJsonRecorder::finish() {
  if (!any_timed_)
    return bad_file(
        "got no lists of kernels, copies or calls with their times, which rocprofv3 writes for: "
        "--hip-trace --kernel-trace --memory-copy-trace --output-format json");
  return builder_.finish();
}

}  // namespace rung::trace
