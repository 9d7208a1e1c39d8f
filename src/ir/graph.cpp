// Edits a graph, which is a linked list in one vector.
// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.hpp"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>

namespace rung {
namespace {

[[noreturn]] void report_bug(const std::string& message) {
  std::fputs(("rung: internal error: " + message + "\n").c_str(), stderr);
  std::abort();
}

}  // namespace

Nodes::Nodes(const Nodes& other) {
  all_.reserve(other.all_.size());
  for (const auto& node : other.all_) push_back(*node);
}

NodeId Graph::append(Node node) {
  auto id = static_cast<NodeId>(nodes_.size());
  node.next = insert_before_;
  node.previous = insert_before_ == kNoNode ? tail_ : nodes_[insert_before_].previous;
  (node.previous == kNoNode ? head_ : nodes_[node.previous].next) = id;
  (node.next == kNoNode ? tail_ : nodes_[node.next].previous) = id;
  for (NodeId operand : node.operands) nodes_[operand].users.push_back(id);
  nodes_.push_back(std::move(node));
  weights_.emplace_back();
  ++live_;
  return id;
}

NodeId Graph::input(std::string input_name, Type type) {
  Node node{.op = Input{input_name}, .type = type, .operands = {}, .users = {}, .label = {}};
  node.label = std::move(input_name);
  return append(std::move(node));
}

void Graph::retype_state(NodeId input, DType dtype, std::shared_ptr<const Weight> initial) {
  const auto state = std::ranges::find(states_, as<Input>(input)->name, &State::input);
  assert(state != states_.end());
  nodes_[input].type.dtype = dtype;
  state->initial = std::move(initial);
}

NodeId Graph::constant(std::shared_ptr<const Weight> weight) {
  Node node{
      .op = Constant{weight->name()}, .type = weight->type(), .operands = {}, .users = {}, .label = weight->name()};
  NodeId id = append(std::move(node));
  weights_[id] = std::move(weight);
  return id;
}

NodeId Graph::literal(std::string literal_name, Tensor value) {
  return constant(std::make_shared<Literal>(std::move(literal_name), std::move(value)));
}

Result<Type> Graph::infer(const Op& op, std::span<const NodeId> operands) const {
  if (const auto* further = rung::as<NthResult>(op)) {
    if (operands.size() != 1) return fail("result: got {} operands, wanted 1", operands.size());
    const auto types = result_types(nodes_[operands[0]].op, operand_types(operands[0]), type(operands[0]));
    if (further->index >= 1 && static_cast<size_t>(further->index) < types.size())
      return types[static_cast<size_t>(further->index)];
    return fail("result: got index {} of {}, wanted 1 to {}", further->index, name_of(nodes_[operands[0]].op),
                types.size() - 1);
  }
  std::vector<Type> types;
  types.reserve(operands.size());
  for (NodeId operand : operands) types.push_back(nodes_[operand].type);
  return infer_type(op, types);
}

std::vector<Type> Graph::operand_types(NodeId id) const {
  std::vector<Type> types;
  for (NodeId operand : nodes_[id].operands) types.push_back(nodes_[operand].type);
  return types;
}

Result<NodeId> Graph::try_add(Op op, std::vector<NodeId> operands, std::string label) {
  auto type = infer(op, operands);
  if (!type) {
    if (label.empty()) return tl::unexpected<Error>(type.error());
    return fail_in(type.error(), "{}", label);
  }
  Node node{
      .op = std::move(op), .type = *type, .operands = std::move(operands), .users = {}, .label = std::move(label)};
  return append(std::move(node));
}

NodeId Graph::add(Op op, std::vector<NodeId> operands, std::string label) {
  auto id = try_add(std::move(op), std::move(operands), std::move(label));
  if (!id) report_bug(id.error().message);
  return *id;
}

void Graph::set_output(std::string output_name, NodeId node) {
  ++nodes_[node].output_uses;
  for (auto& output : outputs_) {
    if (output.name != output_name) continue;
    --nodes_[output.node].output_uses;
    output.node = node;
    return;
  }
  outputs_.push_back({std::move(output_name), node});
}

void Graph::drop_use(NodeId operand, NodeId user) {
  auto& users = nodes_[operand].users;
  auto it = std::find(users.rbegin(), users.rend(), user);
  assert(it != users.rend());
  users.erase(std::next(it).base());
}

void Graph::replace_uses(NodeId from, NodeId to) {
  if (from == to) return;
  if (nodes_[from].type != nodes_[to].type)
    report_bug(fmt::format("replacing {} by {}", nodes_[from].type, nodes_[to].type));
  nodes_[from].heir = to;
  nodes_[to].heir = kNoNode;
  std::vector<NodeId> users = std::move(nodes_[from].users);
  nodes_[from].users.clear();
  for (NodeId user : users) {
    // If the user is `to`, it would read itself. A further result belongs to the op, not to the value.
    const bool keeps = user == to || (as<NthResult>(user) && !(nodes_[from].op == nodes_[to].op));
    if (keeps) {
      nodes_[from].users.push_back(user);
      continue;
    }
    auto& operands = nodes_[user].operands;
    *std::find(operands.begin(), operands.end(), from) = to;
    nodes_[to].users.push_back(user);
  }
  for (auto& output : outputs_) {
    if (output.node != from) continue;
    output.node = to;
    --nodes_[from].output_uses;
    ++nodes_[to].output_uses;
  }
}

void Graph::set_operand(NodeId user, size_t index, NodeId to) {
  NodeId from = nodes_[user].operands[index];
  drop_use(from, user);
  nodes_[from].heir = to;
  nodes_[to].heir = kNoNode;
  nodes_[user].operands[index] = to;
  nodes_[to].users.push_back(user);
}

void Graph::unlink(NodeId id) {
  Node& node = nodes_[id];
  (node.previous == kNoNode ? head_ : nodes_[node.previous].next) = node.next;
  (node.next == kNoNode ? tail_ : nodes_[node.next].previous) = node.previous;
}

void Graph::erase(NodeId id) {
  Node& node = nodes_[id];
  assert(node.alive && node.users.empty() && node.output_uses == 0);
  for (NodeId operand : node.operands) {
    drop_use(operand, id);
    if (nodes_[operand].users.empty() && !is_output(operand)) nodes_[operand].heir = id;
  }
  // The value that a view shows is there as long as what it views.
  const bool shows = is_view(node.op) || as<NthResult>(id);
  if (shows && !nodes_[node.operands[0]].users.empty()) node.heir = node.operands[0];
  unlink(id);
  node.alive = false;
  node.operands.clear();
  weights_[id].reset();
  --live_;
}

size_t Graph::erase_dead() {
  size_t erased = 0;
  for (NodeId id = tail_; id != kNoNode;) {
    NodeId previous = nodes_[id].previous;
    if (nodes_[id].users.empty() && !is_output(id) && !as<Input>(id)) erase(id), ++erased;
    id = previous;
  }
  return erased;
}

void Graph::freeze_input(NodeId id, std::shared_ptr<const Weight> value) {
  assert(as<Input>(id) && value->type() == nodes_[id].type);
  nodes_[id].op = Constant{value->name()};
  weights_[id] = std::move(value);
}

NodeId Graph::heir(NodeId id) const {
  while (id != kNoNode && !nodes_[id].alive) id = nodes_[id].heir;
  return id;
}

void Graph::set_heir(NodeId erased, NodeId by) {
  assert(!nodes_[erased].alive && erased != by);
  nodes_[erased].heir = by;
}

const State* Graph::state_of(std::string_view input_name) const {
  const auto it = std::ranges::find(states_, input_name, &State::input);
  return it == states_.end() ? nullptr : &*it;
}

bool Graph::is_next(std::string_view output) const {
  return std::ranges::find(states_, output, &State::next) != states_.end();
}

const std::shared_ptr<const Weight>& Graph::weight(NodeId constant) const {
  assert(weights_[constant]);
  return weights_[constant];
}

std::vector<NodeId> Graph::inputs() const {
  std::vector<NodeId> found;
  for (NodeId id = head_; id != kNoNode; id = nodes_[id].next)
    if (as<Input>(id)) found.push_back(id);
  return found;
}

NodeId Graph::input_named(std::string_view input_name) const {
  for (NodeId id : inputs())
    if (as<Input>(id)->name == input_name) return id;
  return kNoNode;
}

std::vector<NodeId> Graph::order() const {
  std::vector<NodeId> all;
  all.reserve(live_);
  for (NodeId id = head_; id != kNoNode; id = nodes_[id].next) all.push_back(id);
  return all;
}

Semantics semantics_of(const Graph& graph, NodeId id) {
  return semantics_of(graph[id].op, graph.operand_types(id), graph.type(id));
}

std::vector<bool> constant_nodes(const Graph& graph) {
  std::vector<bool> constant(graph.capacity());
  for (NodeId id : graph.order()) {
    const Node& node = graph[id];
    constant[id] = graph.is_constant(id) ||
                   (!node.operands.empty() &&
                    std::all_of(node.operands.begin(), node.operands.end(), [&](NodeId o) { return constant[o]; }));
  }
  return constant;
}

}  // namespace rung
