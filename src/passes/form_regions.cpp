// Forms regions of what no named fusion took: element-wise ops around reductions along rows, with any of their values
// as results, in one sweep over memory.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/words.hpp"
#include "passes/passes.hpp"
#include "passes/region_parts.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

constexpr size_t kMostOperands = 8, kMostInstructions = 48;

// A set of nodes that a region may take the place of.
class Rows {
 public:
  Rows(const Graph& graph, const std::vector<bool>& constant, const std::vector<size_t>& position, bool with_scans)
      : graph_(graph), constant_(constant), position_(position), with_scans_(with_scans) {}

  // Starts with `seed` and takes in neighbours as long as any can join.
  bool grow(NodeId seed, const Shape& shape) {
    shape_ = shape;
    if (!try_take(seed)) return false;
    for (bool grown = true; grown;) {
      grown = false;
      for (NodeId neighbour : neighbours()) grown |= try_take(neighbour);
    }
    return true;
  }

  size_t size() const { return members_.size(); }
  const std::vector<NodeId>& members() const { return members_; }
  const Shape& shape() const { return shape_; }

  // Returns the members that are read outside, those of elements first.
  std::vector<NodeId> results() const {
    std::vector<NodeId> results;
    for (NodeId member : members_)
      if (graph_.is_output(member) || std::ranges::any_of(graph_[member].users, [&](NodeId u) { return !has(u); }))
        results.push_back(member);
    std::stable_partition(results.begin(), results.end(), [&](NodeId id) { return graph_.shape(id) == shape_; });
    return results;
  }

  // Returns the first node that reads a result; kNoNode: the graph's outputs alone do.
  NodeId first_reader() const {
    NodeId first = kNoNode;
    for (NodeId member : members_)
      for (NodeId user : graph_[member].users)
        if (!has(user) && (first == kNoNode || position_[user] < position_[first])) first = user;
    return first;
  }

 private:
  bool has(NodeId id) const { return std::ranges::find(members_, id) != members_.end(); }

  std::vector<NodeId> neighbours() const {
    std::vector<NodeId> all;
    for (NodeId member : members_) {
      for (NodeId user : graph_[member].users) all.push_back(user);
      for (NodeId operand : graph_[member].operands)
        if (!is_view(graph_[operand].op)) all.push_back(operand);
    }
    return all;
  }

  bool try_take(NodeId id) {
    if (has(id) || constant_[id] || !can_join(graph_, id, shape_)) return false;
    if (!with_scans_ && is_scan(graph_, id)) return false;
    members_.push_back(id);
    std::ranges::sort(members_, {}, [&](NodeId member) { return position_[member]; });
    if (is_valid()) return true;
    std::erase(members_, id);
    return false;
  }

  // One op can stand in the members' place where all that they read is computed before anything that reads them.
  bool is_valid() const {
    const NodeId reader = first_reader();
    for (NodeId member : members_)
      for (NodeId operand : graph_[member].operands) {
        if (has(operand) && !agrees(graph_, member, shape_, operand)) return false;
        if (!has(operand) && reader != kNoNode && position_[operand] >= position_[reader]) return false;
      }
    if (results().size() > Region::kMostResults) return false;
    RegionWriter writer(graph_, members_, shape_);
    return writer.operands().size() <= kMostOperands && writer.program({}).instructions.size() <= kMostInstructions;
  }

  const Graph& graph_;
  const std::vector<bool>& constant_;
  const std::vector<size_t>& position_;
  const bool with_scans_;
  Shape shape_;
  std::vector<NodeId> members_;  // in order
};

class RegionFormer {
 public:
  RegionFormer(Graph& graph, PassContext& context) : graph_(graph), context_(context) { look(); }

  // Rows with reductions come first: they gain most.
  void run() {
    for (NodeId id : graph_.order())
      if (graph_[id].alive)
        if (const auto shape = reduced_rows(graph_, id)) form_at(id, *shape);
    for (NodeId id : graph_.order())
      if (graph_[id].alive && graph_.shape(id).rank() > 0 && graph_.shape(id).back() > 1) form_at(id, graph_.shape(id));
    if (regions_ > 0) context_.notes.add("{} took {} nodes", words::counted(regions_, "region"), taken_);
  }

 private:
  void look() {
    constant_ = constant_nodes(graph_);
    position_.assign(graph_.capacity(), 0);
    tried_.resize(graph_.capacity());
    for (size_t at = 0; NodeId id : graph_.order()) position_[id] = at++;
  }

  // A region without scans where no row takes the one with them.
  void form_at(NodeId seed, const Shape& shape) {
    if (!tried_[seed] && !form(seed, shape, true)) form(seed, shape, false);
  }

  // reduce(f(x), ...), g(y)  =>  region(x, y)      ops over the same rows, one reduction or two results at least
  // Returns false where a scan among the members was refused.
  bool form(NodeId seed, const Shape& shape, bool with_scans) {
    Rows rows(graph_, constant_, position_, with_scans);
    if (!rows.grow(seed, shape) || (rows.size() < 2 && stays_alone(seed))) return true;
    for (NodeId member : rows.members()) tried_[member] = true;  // they would lead to much the same rows
    const std::vector<NodeId> results = rows.results();
    RegionWriter writer(graph_, rows.members(), rows.shape());
    const RegionProgram program = writer.program(results);
    if (program.inputs == 0 || (!program.reduces() && results.size() < 2)) return true;
    Insertion here(graph_, rows.first_reader());
    std::vector<NodeId> operands;
    for (const auto& [id, lifted] : writer.operands()) operands.push_back(lifted ? lift(id) : id);
    const Region op{print_region(program)};
    const bool fits = are_rows_of(operands, shape) && graph_.infer(op, operands);
    const bool taken = fits && context_.kernel_for(graph_, op, operands);
    if (taken) replace(rows, results, graph_.add(op, operands, graph_[seed].label));
    const bool scans = std::ranges::any_of(rows.members(), [&](NodeId id) { return is_scan(graph_, id); });
    look();
    return taken || !scans;
  }

  // A region has the rows that its operands broadcast to: where a member alone widens them, they are too few.
  bool are_rows_of(const std::vector<NodeId>& operands, const Shape& shape) const {
    std::vector<Type> types;
    for (const NodeId operand : operands) types.push_back(graph_.type(operand));
    const auto rows = region_shape(types);
    return rows && *rows == shape;
  }

  // Some reductions have no kernel of their own.
  bool stays_alone(NodeId id) {
    return !reduced_rows(graph_, id) || context_.kernel_for(graph_, graph_[id].op, graph_[id].operands);
  }

  NodeId lift(NodeId id) {
    Shape shape = graph_.shape(id);
    shape.push_back(1);
    return reshaped(graph_, id, shape, graph_[id].label);
  }

  void replace(const Rows& rows, const std::vector<NodeId>& results, NodeId region) {
    for (size_t i = 0; i < results.size(); ++i) {
      const NodeId value = i == 0 ? region : graph_.add(NthResult{static_cast<int64_t>(i)}, {region});
      replace_with(graph_, results[i], reshaped(graph_, value, graph_.shape(results[i])));
    }
    ++regions_, taken_ += rows.size();
  }

  Graph& graph_;
  PassContext& context_;
  std::vector<bool> constant_;
  std::vector<size_t> position_;  // in the graph's order
  std::vector<bool> tried_;
  size_t regions_ = 0, taken_ = 0;
};

}  // namespace

Status form_regions(Graph& graph, PassContext& context) {
  RegionFormer(graph, context).run();
  return {};
}

}  // namespace rung::passes
