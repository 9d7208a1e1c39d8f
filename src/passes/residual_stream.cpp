// Follows a stream from value to value, both to what makes them and to what reads them.
// SPDX-License-Identifier: Apache-2.0
#include "passes/residual_stream.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "passes/channels.hpp"
#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

class Follower {
 public:
  Follower(const Graph& graph, const std::vector<bool>& constant) : graph_(graph), constant_(constant) {}

  ResidualStream from(NodeId value) {
    join(value);
    while (!pending_.empty()) {
      const NodeId next = pending_.back();
      pending_.pop_back();
      if (graph_.is_output(next)) refuse("an output of the model", next);
      see_maker(next);
      const std::set<NodeId> readers(graph_[next].users.begin(), graph_[next].users.end());
      for (const NodeId reader : readers) see_reader(next, reader);
    }
    return std::move(stream_);
  }

 private:
  void join(NodeId value) {
    if (stream_.values.insert(value).second) pending_.push_back(value);
  }
  void refuse(std::string_view what, NodeId at) {
    if (stream_.reason.empty())
      stream_.reason = fmt::format("the residual stream has {} in it, '{}'", what, graph_[at].label);
  }
  bool is_sum(NodeId id) const {
    const auto* binary = graph_.as<Binary>(id);
    return binary && binary->kind == BinaryKind::add &&
           std::ranges::all_of(graph_[id].operands, [&](NodeId o) { return graph_.shape(o) == graph_.shape(id); });
  }
  bool passes_on(NodeId id) const { return keeps_channels(graph_, id) || is_sum(id); }

  void see_maker(NodeId value) {
    const std::vector<NodeId>& operands = graph_[value].operands;
    if (passes_on(value)) {
      for (const NodeId operand : operands) join(operand);
    } else if (const auto* gather = graph_.as<Gather>(value); gather && constant_[operands[0]]) {
      const bool is_rows = gather->axis == 0 && graph_.shape(operands[0]).rank() == 2;
      if (!is_rows) refuse("what is no row of a table", value);
      stream_.gathers.push_back(value);
    } else if (graph_.as<Linear>(value)) {
      see_linear(value);
    } else {
      refuse("what no constants make", value);
    }
  }
  void see_linear(NodeId id) {
    const auto& op = *graph_.as<Linear>(id);
    const std::vector<NodeId>& operands = graph_[id].operands;
    const NodeId* bias = op.slots.find(operands, LinearSlot::bias);
    const bool is_plain = op.is_within({LinearSlot::bias, LinearSlot::residual}) && !op.epilogue.gated &&
                          op.epilogue.activation == Activation::none && op.epilogue.factor == 1;
    if (!is_plain || !constant_[operands[1]] || (bias && !constant_[*bias]))
      return refuse("a product that does more than add", id);
    stream_.makers.push_back(id);
    if (const NodeId* residual = op.slots.find(operands, LinearSlot::residual)) join(*residual);
  }
  void see_reader(NodeId value, NodeId reader) {
    const std::vector<NodeId>& operands = graph_[reader].operands;
    const auto* linear = graph_.as<Linear>(reader);
    const NodeId* residual = linear ? linear->slots.find(operands, LinearSlot::residual) : nullptr;
    if (passes_on(reader) || (residual && *residual == value && operands[0] != value)) return join(reader);
    if (!graph_.as<RmsNorm>(reader) || !constant_[operands[1]]) return refuse("another reader than RMS norms", reader);
    stream_.norms.push_back(reader);
  }

  const Graph& graph_;
  const std::vector<bool>& constant_;
  ResidualStream stream_;
  std::vector<NodeId> pending_;
};

}  // namespace

ResidualStream residual_stream(const Graph& graph, const std::vector<bool>& constant, NodeId value) {
  return Follower(graph, constant).from(value);
}

}  // namespace rung::passes
