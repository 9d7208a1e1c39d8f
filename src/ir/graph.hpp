// The graph: nodes in execution order, each an op over earlier nodes with its first result's type. Ids stay valid while
// other nodes come and go, as do references to nodes, ops and types; insertion, replacement and erasure take constant
// time (plus the users touched).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/semantics.hpp"
#include "ir/tensor.hpp"

namespace rung {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

struct Node {
  Op op;
  Type type;
  std::vector<NodeId> operands;
  std::vector<NodeId>
      users;          // one entry per use: a node that reads a value twice is listed twice; graph outputs do not count
  std::string label;  // its place in the model's author's names: "encoder.layer.0.attention.query"
  NodeId previous = kNoNode, next = kNoNode;
  NodeId heir = kNoNode;     // see Graph::heir()
  uint32_t output_uses = 0;  // number of graph outputs that are this node
  bool alive = true;
};

// Nodes by id. References to them stay valid while others are added, and moving allocates nothing, as a Result wants of
// what it holds; a std::deque's moving does.
class Nodes {
 public:
  Nodes() = default;
  Nodes(const Nodes& other);
  Nodes(Nodes&& other) noexcept = default;
  Nodes& operator=(Nodes other) noexcept {
    all_.swap(other.all_);
    return *this;
  }
  ~Nodes() = default;
  Node& operator[](NodeId id) { return *all_[id]; }
  const Node& operator[](NodeId id) const { return *all_[id]; }
  size_t size() const { return all_.size(); }
  void push_back(Node node) { all_.push_back(std::make_unique<Node>(std::move(node))); }

 private:
  std::vector<std::unique_ptr<Node>> all_;
};

struct Output {
  std::string name;
  NodeId node;
};

// A value that outlives a run: an input that the next run finds as this run's output left it. Neither is the caller's.
struct State {
  std::string input, next;                // names of an input and an output of one type
  std::shared_ptr<const Weight> initial;  // what the first run finds; null: nothing, so that a run must write it first
};

class Graph {
 public:
  // Building. New nodes go before the insertion point: the end, unless an Insertion says otherwise.
  NodeId input(std::string name, Type type);
  NodeId constant(std::shared_ptr<const Weight> weight);
  NodeId literal(std::string name, Tensor value);  // constant() of a Literal
  // Infers the result's type; an error names op, label, got and wanted.
  Result<NodeId> try_add(Op op, std::vector<NodeId> operands, std::string label = {});
  // Returns the type that try_add() gives an op over these operands.
  Result<Type> infer(const Op& op, std::span<const NodeId> operands) const;
  // Adds like try_add() where a type error can only be a bug of ours (passes): asserts.
  NodeId add(Op op, std::vector<NodeId> operands, std::string label = {});
  void set_output(std::string name, NodeId node);  // adds, or replaces the output of that name
  void add_state(State state) { states_.push_back(std::move(state)); }
  // Gives a state's input another dtype, and the first run another value of it. The caller replaces its readers, and
  // sets an output of that type as its next value.
  void retype_state(NodeId input, DType dtype, std::shared_ptr<const Weight> initial);

  // Editing.
  // Replaces operands and outputs; types must agree. Further results of an op stay its own, unless `to` has the op.
  void replace_uses(NodeId from, NodeId to);
  void set_operand(NodeId user, size_t index, NodeId to);
  void erase(NodeId id);  // must have no uses
  size_t erase_dead();    // erases all that no output needs; inputs stay. Returns how many went
  // Makes a constant of an input (freezing it); the id stays.
  void freeze_input(NodeId input, std::shared_ptr<const Weight> value);

  // Reading.
  const Node& operator[](NodeId id) const { return nodes_[id]; }
  const Type& type(NodeId id) const { return nodes_[id].type; }
  std::vector<Type> operand_types(NodeId id) const;
  const Shape& shape(NodeId id) const { return nodes_[id].type.shape; }
  template <class T>
  const T* as(NodeId id) const {
    return std::get_if<T>(&nodes_[id].op);
  }
  bool is_constant(NodeId id) const { return as<Constant>(id) != nullptr; }
  const std::shared_ptr<const Weight>& weight(NodeId constant) const;  // asserts that it is a constant
  // Returns the node that does what `id` did when it was added: `id` while it is alive, else the node that replaced it,
  // or that replaced its last reader and so took it in; kNoNode: nothing needed it.
  NodeId heir(NodeId id) const;
  // Says which node does what an erased one did, where that is not the one that replaced its last reader.
  void set_heir(NodeId erased, NodeId by);
  bool single_use(NodeId id) const { return nodes_[id].users.size() + nodes_[id].output_uses == 1; }
  bool is_output(NodeId id) const { return nodes_[id].output_uses > 0; }
  const std::vector<Output>& outputs() const { return outputs_; }
  const std::vector<State>& states() const { return states_; }
  const State* state_of(std::string_view input) const;  // null: the input is the caller's
  bool is_next(std::string_view output) const;          // true if the output is what a state becomes
  std::vector<NodeId> inputs() const;                   // in declaration order
  NodeId input_named(std::string_view name) const;      // kNoNode if none
  std::vector<NodeId> order() const;                    // all live nodes, operands before users
  size_t size() const { return live_; }                 // live nodes
  size_t capacity() const { return nodes_.size(); }     // ids are below this: the size for side tables
  void set_label(NodeId id, std::string label) { nodes_[id].label = std::move(label); }
  NodeId first() const { return head_; }
  NodeId last() const { return tail_; }

  std::string name = "graph";

 private:
  friend class Insertion;
  NodeId append(Node node);
  void unlink(NodeId id);
  void drop_use(NodeId operand, NodeId user);

  Nodes nodes_;                                         // passes hold references to nodes while they add others
  std::vector<std::shared_ptr<const Weight>> weights_;  // by node id; null for other ops
  std::vector<Output> outputs_;
  std::vector<State> states_;
  NodeId head_ = kNoNode, tail_ = kNoNode, insert_before_ = kNoNode;
  size_t live_ = 0;
};
static_assert(std::is_nothrow_move_constructible_v<Graph>, "a Result ends the process where a move throws");

// Inserts new nodes right before `position` while it lives.
class Insertion {
 public:
  Insertion(Graph& graph, NodeId position) : graph_(graph), saved_(graph.insert_before_) {
    graph.insert_before_ = position;
  }
  ~Insertion() { graph_.insert_before_ = saved_; }
  Insertion(const Insertion&) = delete;
  Insertion& operator=(const Insertion&) = delete;

 private:
  Graph& graph_;
  NodeId saved_;
};

Semantics semantics_of(const Graph& graph, NodeId id);

// Returns, by node id, which nodes depend on no input: constants and values computed from constants alone.
std::vector<bool> constant_nodes(const Graph& graph);

}  // namespace rung
