// Evaluates and packs the constants of a plan.
// SPDX-License-Identifier: Apache-2.0
#include "plan/weight_table.hpp"

#include <set>

#include "base/big_block.hpp"
#include "gemm/problem.hpp"
#include "ir/finite.hpp"
#include "reference/evaluate.hpp"

namespace rung {

Result<Tensor> WeightTable::value(NodeId node) {
  if (graph_.is_constant(node)) return checked_weight(node);
  RUNG_TRY(Tensor tensor, evaluate_constant(graph_, node));
  NonFinite found = count_non_finite(tensor);
  if (found.nan + found.infinity > 0) RUNG_CHECK(check_sources(node));
  return tensor;
}

Result<Tensor> WeightTable::checked_weight(NodeId node) {
  const auto& weight = graph_.weight(node);
  RUNG_TRY(Tensor tensor, weight->load());
  if (!weight->immediate()) RUNG_CHECK(check_finite(fmt::format("tensor '{}'", weight->name()), tensor));
  return tensor;
}

Status WeightTable::check_sources(NodeId node) {
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

Result<WeightTable::Data> WeightTable::shared(NodeId node, const std::string& layout,
                                              const std::function<Result<Data>()>& make) {
  auto name = store_ ? store_->name_of(graph_, node) : std::nullopt;
  if (!name) return make();
  std::string key = *name + " " + layout;
  if (Data held = store_->find(key)) return held;
  RUNG_TRY(Data made, make());
  store_->add(key, made);
  return made;
}

Result<uint32_t> WeightTable::plain(NodeId node) {
  auto [it, added] = by_key_.try_emplace(fmt::format("{}", node), static_cast<uint32_t>(weights_.size()));
  if (!added) return it->second;
  RUNG_TRY(Data data, shared(node, "plain", [&]() -> Result<Data> {
             RUNG_TRY(Tensor tensor, value(node));
             auto holder = std::make_shared<Tensor>(std::move(tensor));
             return Data(holder, holder->data());
           }));
  weights_.push_back({graph_[node].label, graph_.type(node).bytes(), std::move(data)});
  return it->second;
}

Result<uint32_t> WeightTable::packed(const Use& use) {
  std::string layout = fmt::format("{} {} {}", use.index, use.kernel.name, problem_key(use.problem));
  for (const auto& [name, number] : use.problem.params) layout += fmt::format(" {}={}", name, number);
  auto [it, added] =
      by_key_.try_emplace(fmt::format("{} {}", use.node, layout), static_cast<uint32_t>(weights_.size()));
  if (!added) return it->second;
  size_t bytes = use.kernel.packed_bytes(use.problem, use.index);
  RUNG_TRY(Data data, shared(use.node, layout, [&]() -> Result<Data> {
             RUNG_TRY(Tensor tensor, value(use.node));
             auto block = allocate_block(bytes);
             if (!block) return fail("weight '{}': no memory for {} bytes", graph_[use.node].label, bytes);
             use.kernel.pack(use.problem, use.index, tensor.data(), block.get());
             return Data(std::move(block));
           }));
  weights_.push_back({graph_[use.node].label, bytes, std::move(data)});
  return it->second;
}

}  // namespace rung
