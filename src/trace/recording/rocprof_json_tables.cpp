// Scans each row, a small object, for the members wanted.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/rocprof_json_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/recording/amd_names.hpp"
#include "trace/recording/json_cursor.hpp"
#include "trace/recording/json_numbers.hpp"
#include "trace/recording/launch_numbers.hpp"
#include "trace/recording/rocprof_json_record.hpp"

namespace rung::trace {
namespace {

constexpr size_t kMostAgents = 1024;
constexpr size_t kMostKernels = 500'000;
constexpr size_t kMostKinds = 1024;
constexpr size_t kMostOperations = 100'000;
constexpr size_t kMostMessages = 1'000'000;
constexpr uint64_t kGpu = 2;  // value of an agent's "type"

// Returns the first of these members that is a non-empty string.
std::string first_text(std::string_view object, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const std::string_view text = member_of(object, key);
    if (is_string(text) && text.size() > 2 && text.size() <= kLongestText) return unescaped(text);
  }
  return {};
}

uint64_t number_of(std::string_view object, std::string_view key) {
  return unsigned_of(member_of(object, key)).value_or(0);
}

}  // namespace

void RocprofTables::take_agent(std::string_view json) {
  const auto handle = handle_of(member_of(json, "id"));
  if (!handle || agent(*handle) || agents_.size() == kMostAgents)
    return builder_.skip("agents that are not understood");
  const auto node = integer_of(member_of(json, "logical_node_id"));
  agents_.push_back(
      {*handle, node ? *node : integer_of(member_of(json, "node_id")).value_or(-1), number_of(json, "type") == kGpu});
  if (agents_.back().gpu && agents_.back().node >= 0)
    builder_.name_device(static_cast<size_t>(agents_.back().node), first_text(json, {"product_name", "name"}));
}

void RocprofTables::take_kernel(std::string_view json) {
  const auto id = unsigned_of(member_of(json, "kernel_id"));
  if (!id || kernels_.size() == kMostKernels) return builder_.skip("kernels' symbols that are not understood");
  const std::string name = first_text(json, {"demangled_kernel_name", "formatted_kernel_name", "kernel_name"});
  const auto count = [&](std::string_view key) { return count_of(integer_of(member_of(json, key))); };
  kernels_[*id] = {builder_.text(kernel_name(name)), registers_of(count("arch_vgpr_count"), count("accum_vgpr_count"))};
}

void RocprofTables::take_kind(std::string_view json) {
  if (kinds_.size() == kMostKinds) return builder_.skip("kinds of records that are not understood");
  Kind& kind = kinds_.emplace_back();
  kind.domain = first_text(json, {"kind"});
  const std::string_view list = member_of(json, "operations");
  JsonCursor cursor(list.data(), list.data() + list.size());
  if (list.empty() || !cursor.take('[') || cursor.take(']')) return;
  for (bool closed = false; !closed;) {
    std::string_view text;
    if (cursor.value(text) != Scan::ok || cursor.comma_or(']', closed) != Scan::ok) return;
    if (operations_++ == kMostOperations) return builder_.skip("kinds of records that are not understood");
    kind.operations.emplace_back(RecordingBuilder::short_name(unescaped(text)), 0);
  }
}

void RocprofTables::take_message(std::string_view json) {
  const auto correlation = unsigned_of(member_of(json, "key"));
  if (!correlation || messages_.size() == kMostMessages)
    return builder_.skip("texts of ranges that are not understood");
  messages_[*correlation] = builder_.text(first_text(json, {"value"}));
}

const RocprofTables::Agent* RocprofTables::agent(uint64_t handle) const {
  const auto known = std::find_if(agents_.begin(), agents_.end(), [&](const Agent& a) { return a.handle == handle; });
  return known == agents_.end() ? nullptr : &*known;
}

RocprofTables::Kernel RocprofTables::kernel(uint64_t id) {
  if (const auto known = kernels_.find(id); known != kernels_.end()) return known->second;
  return {builder_.text(fmt::format("kernel {}", id)), 0};
}

std::string_view RocprofTables::domain(uint64_t kind) const {
  return kind < kinds_.size() ? std::string_view(kinds_[kind].domain) : std::string_view();
}

uint32_t RocprofTables::operation(uint64_t kind, uint64_t number) {
  if (kind >= kinds_.size() || number >= kinds_[kind].operations.size()) return 0;
  auto& [text, known] = kinds_[kind].operations[number];
  if (known == 0) known = builder_.text(text);
  return known;
}

std::string_view RocprofTables::operation_text(uint64_t kind, uint64_t number) const {
  if (kind >= kinds_.size() || number >= kinds_[kind].operations.size()) return {};
  return kinds_[kind].operations[number].first;
}

uint32_t RocprofTables::message(uint64_t correlation) const {
  const auto known = messages_.find(correlation);
  return known == messages_.end() ? 0 : known->second;
}

}  // namespace rung::trace
