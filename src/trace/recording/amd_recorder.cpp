// A row becomes an event by its file and, among calls, by its domain.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/amd_recorder.hpp"

#include <algorithm>
#include <optional>

#include "trace/recording/amd_domains.hpp"
#include "trace/recording/amd_names.hpp"
#include "trace/recording/copy_name.hpp"
#include "trace/recording/launch_numbers.hpp"

namespace rung::trace {
namespace {

constexpr int64_t kNearDevices = 1024;  // rocprofv2 numbers GPUs as the driver does: 64700
constexpr size_t kMostAgents = 1024;

bool is_timed(AmdTableKind kind) {
  return kind == AmdTableKind::kernels || kind == AmdTableKind::copies || kind == AmdTableKind::calls;
}

}  // namespace

void AmdRecorder::next_process() {
  ++process_;
  first_of_process_ = builder_.size();
}

Status AmdRecorder::read(const std::string& path) {
  RUNG_TRY(AmdTable table, AmdTable::open(path));
  any_timed_ |= is_timed(table.kind());
  for (;;) {
    RUNG_TRY(const bool more, table.next());
    if (!more) return {};
    if (table.broken())
      builder_.skip("rows with more or fewer fields than the header");
    else
      take(table);
  }
}

Status AmdRecorder::read_inner(const std::string& path) {
  outer_.emplace(builder_, first_of_process_);
  Status status = read(path);
  outer_->link(builder_);
  outer_.reset();
  return status;
}

void AmdRecorder::take(const AmdTable& table) {
  switch (table.kind()) {
    case AmdTableKind::kernels:
      return take_kernel(table);
    case AmdTableKind::copies:
      return take_copy(table);
    case AmdTableKind::calls:
      return take_call(table);
    case AmdTableKind::agents:
      return take_agent(table);
    case AmdTableKind::counters:
      return builder_.skip("counters");
    case AmdTableKind::allocations:
      return builder_.skip("allocations that the device's driver made");
    case AmdTableKind::summary:
      return builder_.skip("totals, which have no times");
    case AmdTableKind::other:
      return;
  }
}

bool AmdRecorder::set_times(const AmdTable& table, Event& event) {
  return builder_.set_times(event, table.number(AmdColumn::start), table.number(AmdColumn::end));
}

std::optional<int64_t> AmdRecorder::device_of(std::string_view agent) {
  if (agent.starts_with("GPU ")) gpus_counted_ = true;
  const auto number = agent_number(agent);
  if (!number || *number < 0) {
    builder_.skip("work on an agent that is missing or no number");
    return std::nullopt;
  }
  if (*number < kNearDevices) return number;
  const auto known = std::find(far_devices_.begin(), far_devices_.end(), *number);
  const auto place = known - far_devices_.begin();
  if (known == far_devices_.end() && place < kNearDevices) far_devices_.push_back(*number);
  return place;
}

uint32_t AmdRecorder::launch_of(const AmdTable& table) {
  constexpr AmdColumn kGrid[] = {AmdColumn::grid_x, AmdColumn::grid_y, AmdColumn::grid_z};
  constexpr AmdColumn kBlock[] = {AmdColumn::block_x, AmdColumn::block_y, AmdColumn::block_z};
  LaunchShape shape;
  for (size_t i = 0; i < 3; ++i) {
    if (!table.has(kGrid[i]) || !table.has(kBlock[i])) {  // rocprof gives one number for all three axes
      const uint32_t known = shape.block[0] > 0;
      shape.grid[i] = shape.block[i] = known;
      continue;
    }
    set_axis(shape, i, count_of(table.number(kGrid[i])), count_of(table.number(kBlock[i])));
  }
  shape.registers =
      registers_of(count_of(table.number(AmdColumn::registers)), count_of(table.number(AmdColumn::accumulators)));
  shape.shared_bytes = count_of(table.number(AmdColumn::shared_bytes));
  return builder_.launch(shape);
}

void AmdRecorder::take_kernel(const AmdTable& table) {
  Event kernel;
  if (!set_times(table, kernel)) return;
  const auto device = device_of(table.has(AmdColumn::agent) ? table.text(AmdColumn::agent) : "0");
  if (!device) return;
  kernel.kind = EventKind::kernel;
  kernel.name = builder_.text(kernel_name(table.text(AmdColumn::kernel)));
  const AmdColumn stream = table.has(AmdColumn::stream) ? AmdColumn::stream : AmdColumn::queue;
  kernel.lane = builder_.device_lane(*device, table.number(stream).value_or(0));
  kernel.detail = launch_of(table);
  kernel.link = links_.of(process_, table.number(AmdColumn::correlation).value_or(0));
  if (table.has(AmdColumn::dispatched)) add_dispatch(table, kernel);
  builder_.add(kernel);
}

// Adds a call for each dispatch: rocprof records no calls, only the time when the host handed a kernel over.
void AmdRecorder::add_dispatch(const AmdTable& table, Event& kernel) {
  const auto at = table.number(AmdColumn::dispatched);
  if (!at || *at <= 0 || *at > kernel.start_ns) return;
  kernel.link = links_.of(process_, ++dispatches_);
  Event call{.start_ns = *at, .name = builder_.text("dispatch"), .link = kernel.link, .kind = EventKind::runtime_call};
  call.lane =
      builder_.host_lane(table.number(AmdColumn::process).value_or(0), table.number(AmdColumn::thread).value_or(0));
  builder_.add(call);
}

void AmdRecorder::take_copy(const AmdTable& table) {
  Event copy;
  if (!set_times(table, copy)) return;
  const std::string_view direction = table.text(AmdColumn::direction);
  if (direction.ends_with("HOST_TO_HOST")) return builder_.skip("copies from host to host");
  const CopyShape shape = copy_shape(direction, -1);
  const auto device = device_of(table.text(shape.device_to_host ? AmdColumn::source : AmdColumn::destination));
  if (!device) return;
  copy.kind = EventKind::copy;
  copy.name = builder_.text(direction);
  copy.detail = builder_.copy(shape);
  copy.lane = builder_.device_lane(*device, table.number(AmdColumn::stream).value_or(-1));
  copy.link = links_.of(process_, table.number(AmdColumn::correlation).value_or(0));
  builder_.add(copy);
}

void AmdRecorder::take_call(const AmdTable& table) {
  const DomainRule& rule = rule_of_domain(table.text(AmdColumn::domain));
  Event call;
  if (!set_times(table, call)) return;
  call.lane =
      builder_.host_lane(table.number(AmdColumn::process).value_or(0), table.number(AmdColumn::thread).value_or(0));
  const uint32_t link = links_.of(process_, table.number(AmdColumn::correlation).value_or(0));
  if (!rule.kind) {
    call.link = link;
    if (outer_) outer_->take(call);
    return builder_.skip(rule.left_out_as);
  }
  if (rule.kind == EventKind::range && call.duration_ns == 0) return builder_.skip("instants");
  call.kind = *rule.kind;
  call.name = builder_.text(table.text(AmdColumn::function));
  if (call.kind == EventKind::runtime_call) call.link = link;
  builder_.add(call);
}

void AmdRecorder::take_agent(const AmdTable& table) {
  const auto node = table.number(AmdColumn::node);
  const bool known = std::any_of(agents_.begin(), agents_.end(), [&](const Agent& a) { return a.node == node; });
  if (!node || known || table.text(AmdColumn::agent_type) != "GPU" || agents_.size() == kMostAgents) return;
  const std::string_view product = table.text(AmdColumn::product);
  agents_.push_back({*node, static_cast<int64_t>(agents_.size()),
                     std::string(product.empty() ? table.text(AmdColumn::name) : product)});
}

Recording AmdRecorder::finish() {
  for (const Agent& agent : agents_)
    if (const int64_t number = gpus_counted_ ? agent.gpu : agent.node; number >= 0)
      builder_.name_device(static_cast<size_t>(number), agent.name);
  return builder_.finish();
}

}  // namespace rung::trace
