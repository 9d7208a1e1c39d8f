// The constants of a plan in their final layout: evaluated once, packed for the kernel that reads them, shared where
// equal.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>

#include "ir/graph.hpp"
#include "plan/plan.hpp"
#include "plan/weight_store.hpp"

namespace rung {

class WeightTable {
 public:
  // Looks in `store` before it makes anything, and adds what it makes; null: makes everything.
  WeightTable(const Graph& graph, WeightStore* store) : graph_(graph), store_(store) {}

  // A constant node as it is. Errors: its contents cannot be loaded, or hold a NaN or an infinity (masks may hold
  // infinities).
  Result<uint32_t> plain(NodeId node);
  // Operand `index` of a problem, laid out by its kernel.
  struct Use {
    NodeId node;
    const Kernel& kernel;
    const Problem& problem;
    size_t index;
  };
  Result<uint32_t> packed(const Use& use);

  std::vector<PlanWeight> take() { return std::move(weights_); }

 private:
  using Data = WeightStore::Data;
  // What `make` returns; kept in the store under the node's name and `layout`.
  Result<Data> shared(NodeId node, const std::string& layout, const std::function<Result<Data>()>& make);
  Result<Tensor> value(NodeId node);
  Result<Tensor> checked_weight(NodeId node);
  Status check_sources(NodeId node);  // every weight that a constant expression reads
  const Graph& graph_;
  WeightStore* store_;
  std::vector<PlanWeight> weights_;
  std::map<std::string, uint32_t> by_key_;
};

}  // namespace rung
