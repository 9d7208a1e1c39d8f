// Rows are read in the order of their numbers, so that events are found by binary search.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/rocpd_tables.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "trace/recording/amd_names.hpp"
#include "trace/recording/launch_numbers.hpp"

namespace rung::trace {
namespace {

constexpr size_t kMostRows = 100'000;  // for agents, threads, domains
constexpr size_t kMostKernels = 500'000;
constexpr size_t kMostRocpdEvents = 8'000'000;  // 192 MB

template <class Value>
Value found_in(const std::unordered_map<int64_t, Value>& table, int64_t id, Value otherwise) {
  const auto known = table.find(id);
  return known == table.end() ? otherwise : known->second;
}

// Reads {"message": "step 1"}: the program's name for the range.
std::string message_in(std::string_view json) {
  if (json.find("\"message\"") == std::string_view::npos) return {};
  const auto object = parse_json(json, "extdata");
  if (!object || !object->is_object()) return {};
  const auto message = object->find("message");
  return message == object->end() || !message->is_string() ? std::string() : message->get<std::string>();
}

}  // namespace

Status for_each_row(SqliteFile& file, const std::string& table, std::span<const std::string_view> columns,
                    const std::function<void(const SqliteRows&)>& take) {
  RUNG_TRY(const bool there, file.has_table(table));
  if (!there) return {};
  RUNG_TRY(SqliteRows rows, file.read(table, columns));
  for (;;) {
    RUNG_TRY(const bool more, rows.next());
    if (!more) return {};
    take(rows);
  }
}

Status RocpdTables::read_numbers(SqliteFile& file, const std::string& ending) {
  constexpr std::string_view kProcess[] = {"id", "pid"}, kThread[] = {"id", "tid"}, kString[] = {"id", "string"};
  const auto number_in = [](auto& table) {
    return [&table](const SqliteRows& rows) {
      const auto id = rows.integer(0), number = rows.integer(1);
      if (id && number && table.size() < kMostRows) table[*id] = *number;
    };
  };
  RUNG_CHECK(for_each_row(file, "rocpd_info_process" + ending, kProcess, number_in(processes_)));
  RUNG_CHECK(for_each_row(file, "rocpd_info_thread" + ending, kThread, number_in(threads_)));
  return for_each_row(file, "rocpd_string" + ending, kString, [&](const SqliteRows& rows) {
    const DomainRule& rule = rule_of_domain(rows.text(1));
    if (const auto id = rows.integer(0); id && !rule.prefix.empty() && domains_.size() < kMostRows)
      domains_[*id] = &rule;
  });
}

Status RocpdTables::read(SqliteFile& file, const std::string& ending, RecordingBuilder& builder, const Links& links) {
  constexpr std::string_view kAgent[] = {"id", "type", "absolute_index", "name", "product_name"};
  constexpr std::string_view kKernel[] = {"id", "display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count"};
  constexpr std::string_view kEvent[] = {"id", "category_id", "stack_id", "extdata"};
  RUNG_CHECK(read_numbers(file, ending));
  RUNG_CHECK(for_each_row(file, "rocpd_info_agent" + ending, kAgent,
                          [&](const SqliteRows& rows) { take_agent(rows, builder); }));
  RUNG_CHECK(for_each_row(file, "rocpd_info_kernel_symbol" + ending, kKernel,
                          [&](const SqliteRows& rows) { take_kernel(rows, builder); }));
  RUNG_CHECK(for_each_row(file, "rocpd_event" + ending, kEvent,
                          [&](const SqliteRows& rows) { take_event(rows, builder, links); }));
  const auto by_id = [](const Event& a, const Event& b) { return a.id < b.id; };
  if (!std::is_sorted(events_.begin(), events_.end(), by_id)) std::sort(events_.begin(), events_.end(), by_id);
  return {};
}

void RocpdTables::take_agent(const SqliteRows& rows, RecordingBuilder& builder) {
  const auto id = rows.integer(0);
  if (!id || agents_.size() == kMostRows) return;
  const Agent agent{rows.integer(2).value_or(*id), rows.text(1) == "GPU"};
  agents_[*id] = agent;
  if (agent.gpu && agent.number >= 0)
    builder.name_device(static_cast<size_t>(agent.number), rows.text(4).empty() ? rows.text(3) : rows.text(4));
}

void RocpdTables::take_kernel(const SqliteRows& rows, RecordingBuilder& builder) {
  const auto id = rows.integer(0);
  if (!id || kernels_.size() == kMostKernels) return;
  const std::string_view name = rows.text(1).empty() ? rows.text(2) : rows.text(1);
  kernels_[*id] = {builder.text(kernel_name(name)), registers_of(count_of(rows.integer(3)), count_of(rows.integer(4)))};
}

void RocpdTables::take_event(const SqliteRows& rows, RecordingBuilder& builder, const Links& links) {
  const auto id = rows.integer(0);
  if (!id) return;
  if (events_.size() == kMostRocpdEvents) return builder.skip("correlations beyond 8,000,000");
  Event event{.id = *id, .link = links.numbers.of(links.process, rows.integer(2).value_or(0))};
  event.domain = found_in<const DomainRule*>(domains_, rows.integer(1).value_or(-1), nullptr);
  if (event.domain && event.domain->kind == EventKind::range) event.message = builder.text(message_in(rows.text(3)));
  events_.push_back(event);
}

RocpdTables::Agent RocpdTables::agent(int64_t id) const { return found_in(agents_, id, Agent{}); }
RocpdTables::Kernel RocpdTables::kernel(int64_t id) const { return found_in(kernels_, id, Kernel{}); }
int64_t RocpdTables::process(int64_t id) const { return found_in(processes_, id, id); }
int64_t RocpdTables::thread(int64_t id) const { return found_in(threads_, id, id); }

RocpdTables::Event RocpdTables::event(int64_t id) const {
  const auto known = std::lower_bound(events_.begin(), events_.end(), id,
                                      [](const Event& event, int64_t wanted) { return event.id < wanted; });
  return known == events_.end() || known->id != id ? Event{} : *known;
}

}  // namespace rung::trace
