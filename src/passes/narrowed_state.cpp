// Finds states by their writer, and gives them and their initial value another type.
// SPDX-License-Identifier: Apache-2.0
#include "passes/narrowed_state.hpp"

#include <algorithm>

#include "passes/rewrite.hpp"

namespace rung::passes {
namespace {

class Converted : public Weight {
 public:
  Converted(std::shared_ptr<const Weight> from, DType dtype)
      : Weight(from->name(), {dtype, from->type().shape}), from_(std::move(from)) {}
  Result<Tensor> load() const override {
    RUNG_TRY(const Tensor wide, from_->load());
    return convert(wide, type().dtype);
  }

 private:
  std::shared_ptr<const Weight> from_;
};

// Returns a value in that type; one that was widened from it needs no cast.
NodeId in_type(Graph& graph, NodeId id, DType dtype) {
  const NodeId source = graph.as<Cast>(id) ? graph[id].operands[0] : id;
  return graph.type(source).dtype == dtype ? source : cast_to(graph, id, dtype);
}

}  // namespace

std::optional<WrittenRows> written_rows(const Graph& graph, const State& state) {
  const NodeId input = graph.input_named(state.input);
  const NodeId next = std::ranges::find(graph.outputs(), state.next, &Output::name)->node;
  const auto* scatter = graph.as<Scatter>(next);
  if (!scatter || scatter->kind != ScatterKind::set || graph[next].operands[0] != input) return std::nullopt;
  if (!graph.single_use(input) || graph[next].output_uses != 1) return std::nullopt;
  return WrittenRows{input, next};
}

NodeId narrow_rows(Graph& graph, NodeId next, DType dtype) {
  const std::vector<NodeId> operands = graph[next].operands;
  const std::string& name = graph.as<Input>(operands[0])->name;
  const State state = *graph.state_of(name);
  const NodeId rows = in_type(graph, operands[2], dtype);
  graph.retype_state(operands[0], dtype, state.initial ? std::make_shared<Converted>(state.initial, dtype) : nullptr);
  const NodeId narrowed = graph.add(Scatter{}, {operands[0], operands[1], rows}, graph[next].label);
  graph.set_output(state.next, narrowed);
  return narrowed;
}

}  // namespace rung::passes
