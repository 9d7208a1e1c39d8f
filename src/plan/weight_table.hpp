// The constants of a plan in their final layout: listed while launches are chosen, then made all at once, each value
// computed, packed for the kernel that reads it, and shared where equal.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>

#include "ir/graph.hpp"
#include "plan/plan.hpp"
#include "plan/weight_store.hpp"

namespace rung {

class WeightTable {
 public:
  // Both outlive it; the machine is the one that the plan is for.
  WeightTable(const Graph& graph, const Machine& machine) : graph_(graph), machine_(machine) {}

  // A constant node as it is.
  uint32_t plain(NodeId node);
  // Operand `index` of a problem, laid out by its kernel.
  struct Use {
    NodeId node;
    const Kernel& kernel;
    const Problem& problem;
    size_t index;
  };
  uint32_t packed(const Use& use);

  // Names and sizes of what was listed, without contents.
  std::vector<PlanWeight> list() const;
  // The same with contents, made by several threads. Looks in `store` before it makes anything, and adds what it
  // makes; null: makes everything. Errors: a constant cannot be loaded, or holds a NaN or an infinity (masks may hold
  // infinities); no memory.
  Result<std::vector<PlanWeight>> make(WeightStore* store) const;

 private:
  using Data = WeightStore::Data;
  struct Entry {
    NodeId node = 0;
    uint64_t bytes = 0;
    std::string layout;              // tells what is made of the node
    const Kernel* kernel = nullptr;  // packs it; null: plain
    Problem problem;
    size_t index = 0;
  };
  uint32_t add(Entry entry);
  // The key under which entries share contents: an expression and a layout. None where the store has no name for the
  // node.
  std::optional<std::string> key_of(const Entry& entry, WeightStore& store) const;
  Result<Data> data_of(const Entry& entry) const;
  Result<Tensor> value(NodeId node) const;
  Result<Tensor> checked_weight(NodeId node) const;
  Status check_sources(NodeId node) const;  // every weight that a constant expression reads

  const Graph& graph_;
  const Machine& machine_;
  std::vector<Entry> entries_;
  std::map<std::pair<NodeId, std::string>, uint32_t> by_layout_;
};

}  // namespace rung
