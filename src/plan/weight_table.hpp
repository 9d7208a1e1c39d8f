// The constants of a plan in their final layout: the table lists them while launches are chosen, then computes all
// values at once, packs each for the kernel that reads it, and shares equal ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>

#include "ir/graph.hpp"
#include "plan/plan.hpp"
#include "plan/weight_store.hpp"

namespace rung {

class WeightTable {
 public:
  // The graph and the machine outlive the table; the machine is the plan's.
  WeightTable(const Graph& graph, const Machine& machine) : graph_(graph), machine_(machine) {}

  // Adds a constant node without packing; returns its index.
  uint32_t plain(NodeId node);
  // Operand `index` of a problem, in the layout of its kernel.
  struct Use {
    NodeId node;
    const Kernel& kernel;
    const Problem& problem;
    size_t index;
  };
  uint32_t packed(const Use& use);

  size_t size() const { return entries_.size(); }
  uint64_t bytes(uint32_t weight) const { return entries_[weight].bytes; }
  // A weight in a kernel's layout, and the row of gather that reads its rows there.
  struct Gathered {
    uint32_t weight = 0;
    KernelChoice row;
  };
  // Returns where gathers find the rows of a weight that is not packed.
  std::vector<Gathered> gathered_instead(uint32_t weight) const;
  // Drops the others. Returns the new index of each that is kept, by its old one.
  std::vector<uint32_t> keep(const std::vector<bool>& is_kept);

  // Returns the names and sizes of all weights listed, without contents.
  std::vector<PlanWeight> list() const;
  // Returns the same list with contents; several threads make them. Looks in `store` first, and adds new contents to
  // it; null: makes all contents. Errors: a constant cannot be loaded, or holds a NaN or an infinity (masks may hold
  // infinities); no memory.
  Result<std::vector<PlanWeight>> make(WeightStore* store) const;

 private:
  using Data = WeightStore::Data;
  struct Entry {
    NodeId node = 0;
    uint64_t bytes = 0;
    std::string layout;              // names the layout that the node gets
    const Kernel* kernel = nullptr;  // packs it; null: not packed
    Problem problem;
    size_t index = 0;
  };
  uint32_t add(Entry entry);
  // Returns the key under which entries share contents: an expression and a layout. None where the store has no name
  // for the node.
  std::optional<std::string> key_of(const Entry& entry, WeightStore& store) const;
  // Returns the entries in groups, in order, each of which needs the results of one op, computed once for all of them.
  std::vector<std::vector<size_t>> of_one_op(const std::vector<size_t>& indices) const;
  Status make(const std::vector<size_t>& indices, std::vector<PlanWeight>& weights) const;  // one group
  Result<Data> data_of(const Entry& entry, Tensor tensor) const;
  Result<std::vector<Tensor>> values(const std::vector<NodeId>& nodes) const;  // of one op
  Result<Tensor> checked_weight(NodeId node) const;
  Status check_sources(NodeId node) const;  // checks every weight that a constant expression reads

  const Graph& graph_;
  const Machine& machine_;
  std::vector<Entry> entries_;
  std::map<std::pair<NodeId, std::string>, uint32_t> by_layout_;
};

}  // namespace rung
