// Evaluates and packs the constants of a plan.
// SPDX-License-Identifier: Apache-2.0
#include "plan/weight_table.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/big_block.hpp"
#include "base/parallel.hpp"
#include "ir/finite.hpp"
#include "ir/mask_flow.hpp"
#include "kernels/params_text.hpp"
#include "kernels/problem_key.hpp"
#include "reference/evaluate.hpp"

namespace rung {

uint32_t WeightTable::add(Entry entry) {
  auto next = static_cast<uint32_t>(entries_.size());
  auto [it, added] = by_layout_.try_emplace({entry.node, entry.layout}, next);
  if (added) entries_.push_back(std::move(entry));
  return it->second;
}

uint32_t WeightTable::plain(NodeId node) {
  return add({.node = node, .bytes = graph_.type(node).bytes(), .layout = "plain", .problem = {}});
}

uint32_t WeightTable::packed(const Use& use) {
  std::string layout =
      fmt::format("{} {} {}{}", use.index, use.kernel.name, problem_key(use.problem), params_text(use.problem.params));
  return add({.node = use.node,
              .bytes = use.kernel.packed_for(use.problem, machine_, use.index),
              .layout = std::move(layout),
              .kernel = &use.kernel,
              .problem = use.problem,
              .index = use.index});
}

std::vector<WeightTable::Gathered> WeightTable::gathered_instead(uint32_t weight) const {
  std::vector<Gathered> found;
  if (entries_[weight].kernel) return found;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (!entry.kernel || entry.node != entries_[weight].node) continue;
    KernelChoice row = entry.kernel->gather_for(entry.problem, machine_, entry.index);
    if (!row.kernel.empty()) found.push_back({i, std::move(row)});
  }
  return found;
}

std::vector<uint32_t> WeightTable::keep(const std::vector<bool>& is_kept) {
  std::vector<uint32_t> indices(entries_.size());
  std::vector<Entry> kept;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    indices[i] = static_cast<uint32_t>(kept.size());
    if (is_kept[i]) kept.push_back(std::move(entries_[i]));
  }
  entries_ = std::move(kept);
  by_layout_.clear();
  for (uint32_t i = 0; i < entries_.size(); ++i) by_layout_[{entries_[i].node, entries_[i].layout}] = i;
  return indices;
}

std::vector<PlanWeight> WeightTable::list() const {
  std::vector<PlanWeight> weights;
  for (const Entry& entry : entries_) weights.push_back({graph_[entry.node].label, entry.bytes, nullptr});
  return weights;
}

Result<std::vector<PlanWeight>> WeightTable::make(WeightStore* store) const {
  std::vector<PlanWeight> weights = list();
  std::vector<std::optional<std::string>> keys(entries_.size());
  std::map<std::string, size_t> makers;  // by key
  std::vector<size_t> open, later;       // entries to make; entries that share another one's contents
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (store) keys[i] = key_of(entries_[i], *store);
    if (keys[i] && (weights[i].data = store->find(*keys[i]))) continue;
    bool first = !keys[i] || makers.try_emplace(*keys[i], i).second;
    (first ? open : later).push_back(i);
  }
  // Starts the largest first, so that no large one starts when all others are done.
  std::stable_sort(open.begin(), open.end(), [&](size_t a, size_t b) { return weights[a].bytes > weights[b].bytes; });
  const std::vector<std::vector<size_t>> groups = of_one_op(open);
  std::vector<Status> done(groups.size());
  parallel_for(groups.size(), [&](size_t n) { done[n] = make(groups[n], weights); });
  for (Status& status : done) RUNG_CHECK(std::move(status));
  for (size_t i : open)
    if (keys[i]) store->add(*keys[i], weights[i].data);
  for (size_t i : later) weights[i].data = weights[makers.at(*keys[i])].data;
  return weights;
}

std::vector<std::vector<size_t>> WeightTable::of_one_op(const std::vector<size_t>& indices) const {
  std::vector<std::vector<size_t>> groups;
  std::map<NodeId, size_t> found;  // by op
  for (const size_t i : indices) {
    const NodeId node = entries_[i].node;
    const NodeId op = graph_.as<NthResult>(node) ? graph_[node].operands[0] : node;
    const auto [group, is_new] = found.try_emplace(op, groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].push_back(i);
  }
  return groups;
}

Status WeightTable::make(const std::vector<size_t>& indices, std::vector<PlanWeight>& weights) const {
  std::vector<NodeId> nodes;
  for (const size_t i : indices) nodes.push_back(entries_[i].node);
  RUNG_TRY(std::vector<Tensor> tensors, values(nodes));
  for (size_t n = 0; n < indices.size(); ++n) {
    RUNG_TRY(weights[indices[n]].data, data_of(entries_[indices[n]], std::move(tensors[n])));
  }
  return {};
}

std::optional<std::string> WeightTable::key_of(const Entry& entry, WeightStore& store) const {
  auto name = store.name_of(graph_, entry.node);
  return name ? std::optional(*name + " " + entry.layout) : std::nullopt;
}

Result<WeightTable::Data> WeightTable::data_of(const Entry& entry, Tensor tensor) const {
  if (!entry.kernel) {
    auto holder = std::make_shared<Tensor>(std::move(tensor));
    return Data(holder, holder->data());
  }
  auto block = allocate_block(entry.bytes);
  if (!block) return no_memory("weight '{}': no memory for {} bytes", graph_[entry.node].label, entry.bytes);
  entry.kernel->pack(entry.problem, machine_, entry.index, tensor.data(), block.get());
  return Data(std::move(block));
}

Result<std::vector<Tensor>> WeightTable::values(const std::vector<NodeId>& nodes) const {
  if (graph_.is_constant(nodes[0])) {  // and all others are the same
    RUNG_TRY(Tensor tensor, checked_weight(nodes[0]));
    return std::vector<Tensor>(nodes.size(), tensor);
  }
  RUNG_TRY(std::vector<Tensor> tensors, evaluate_constants(graph_, nodes));
  for (size_t i = 0; i < nodes.size(); ++i) {
    NonFinite found = count_non_finite(tensors[i]);
    if (found.nan + found.infinity > 0) RUNG_CHECK(check_sources(nodes[i]));
  }
  return tensors;
}

Result<Tensor> WeightTable::checked_weight(NodeId node) const {
  const auto& weight = graph_.weight(node);
  RUNG_TRY(Tensor tensor, weight->load());
  if (!weight->immediate())
    RUNG_CHECK(check_input_floats(fmt::format("tensor '{}'", weight->name()), tensor, [&] {
      return leads_to_mask(graph_, node) ? Tolerates::minus_infinity : Tolerates::numbers;
    }));
  return tensor;
}

Status WeightTable::check_sources(NodeId node) const {
  std::vector<NodeId> open{node};
  std::set<NodeId> seen;
  while (!open.empty()) {
    NodeId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    if (graph_.is_constant(id)) RUNG_CHECK(checked_weight(id));
    open.insert(open.end(), graph_[id].operands.begin(), graph_[id].operands.end());
  }
  return {};
}

}  // namespace rung
