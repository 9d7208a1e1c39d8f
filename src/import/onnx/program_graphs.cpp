// Nodes that run graphs of their own: If becomes the branch that is taken, Loop and Scan their rounds, one by one.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/onnx/program.hpp"

namespace rung::onnx {
namespace {

using exported::refuse;

constexpr int64_t kMostRounds = 1 << 16;

const GraphProto& graph_of(const NodeProto& node, const char* attribute) {
  const auto found = std::ranges::find(node.attributes, attribute, &AttributeProto::name);
  if (found == node.attributes.end() || !found->graph) refuse("got no {}", attribute);
  return *found->graph;
}

std::vector<int64_t> integers(const NodeProto& node, const char* attribute, size_t count) {
  const auto found = std::ranges::find(node.attributes, attribute, &AttributeProto::name);
  std::vector<int64_t> values = found == node.attributes.end() ? std::vector<int64_t>() : found->ints;
  if (values.empty()) values.assign(count, 0);
  if (values.size() != count) refuse("attribute '{}': got {} numbers, wanted {}", attribute, values.size(), count);
  return values;
}

// Returns the value that an input reads; none: it is left out.
std::optional<NodeId> input_of(const NodeProto& node, size_t index, const Environment& names) {
  if (index >= node.inputs.size() || node.inputs[index].empty()) return std::nullopt;
  const auto found = names.find(node.inputs[index]);
  if (found == names.end()) refuse("'{}' is read before it is computed", node.inputs[index]);
  return found->second;
}

// The values that a graph is started with, from this input on.
Outputs inputs_from(const NodeProto& node, size_t first, const Environment& names) {
  Outputs all;
  for (size_t i = first; i < node.inputs.size(); ++i) {
    const auto input = input_of(node, i, names);
    if (!input) refuse("input {} is missing", i);
    all.push_back(*input);
  }
  return all;
}

bool known_truth(const GraphBuilder& builder, NodeId condition, const char* what) {
  const auto value = builder.computed_value(condition);
  if (!value || value->dtype() != DType::boolean || value->elements() != 1)
    refuse("{} depends on an input's values: freeze that input", what);
  return value->as<bool>()[0];
}

}  // namespace

// Adds a graph's nodes, which see the names around it, and returns its results.
Result<Outputs> Program::run_graph(const GraphProto& graph, const Outputs& inputs, const Environment& outer,
                                   int depth) {
  if (inputs.size() != graph.inputs.size())
    return bad_file("its graph has {} inputs, and {} are given", graph.inputs.size(), inputs.size());
  Environment inner = outer;
  for (size_t i = 0; i < inputs.size(); ++i) inner[graph.inputs[i].name] = inputs[i];
  for (const TensorProto& tensor : graph.initializers) inner.erase(tensor.name);
  for (const NodeProto& one : graph.nodes)
    for (const std::string& output : one.outputs) inner.erase(output);
  RUNG_CHECK(add_initializers(graph, inner));
  RUNG_CHECK(run(graph.nodes, inner, depth + 1));
  Outputs results;
  for (const ValueInfo& output : graph.outputs) {
    const auto result = inner.find(output.name);
    if (result == inner.end()) return bad_file("its result '{}' is not computed", output.name);
    results.push_back(result->second);
  }
  return results;
}

// The branch that a condition takes which is known at import.
Result<Outputs> Program::branch(const NodeProto& node, const Environment& names, int depth) {
  const auto condition = input_of(node, 0, names);
  if (!condition) return bad_file("got no condition");
  sequences_.want_tensor(*condition, "its condition");
  const bool taken = known_truth(builder_, *condition, "its condition");
  return run_graph(graph_of(node, taken ? "then_branch" : "else_branch"), {}, names, depth);
}

// Rounds up to a number, while a condition is true. The body takes the round, the condition and what the last round
// left, and gives the condition, what it leaves, and values that stand in a row in the end.
Result<Outputs> Program::loop(const NodeProto& node, const Environment& names, int depth) {
  const GraphProto& body = graph_of(node, "body");
  const exported::Emit emit(builder_, name_of_node(node));
  Outputs carried = inputs_from(node, 2, names);
  if (body.outputs.size() < carried.size() + 1)
    return bad_file("its body has {} outputs, wanted at least {}", body.outputs.size(), carried.size() + 1);
  int64_t most = kMostRounds + 1;
  if (const auto trips = input_of(node, 0, names)) {
    sequences_.want_tensor(*trips, "its number of rounds");
    const auto counts = emit.integers(*trips, "its number of rounds");
    if (counts.size() != 1) return bad_file("its number of rounds has {} elements", counts.size());
    most = counts[0];
  }
  NodeId condition = input_of(node, 1, names).value_or(emit.literal(Tensor::of<bool>({}, {true})));
  std::vector<Outputs> rows(body.outputs.size() - carried.size() - 1);
  for (int64_t round = 0; round < most; ++round) {
    sequences_.want_tensor(condition, "its condition");
    if (!known_truth(builder_, condition, "its condition")) break;
    if (round == kMostRounds) return bad_file("it runs more than {} rounds", kMostRounds);
    Outputs inputs{emit.literal(Tensor::of<int64_t>({}, {round})), condition};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    RUNG_TRY(const Outputs results, run_graph(body, inputs, names, depth));
    condition = results[0];
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = results[i + 1];
    for (size_t i = 0; i < rows.size(); ++i) {
      const NodeId row = results[carried.size() + 1 + i];
      sequences_.want_tensor(row, "a result of each round");
      rows[i].push_back(emit.unsqueeze(row, 0));
    }
  }
  for (const Outputs& row : rows) {
    if (row.empty()) return bad_file("it runs no round, and its results have no shape");
    carried.push_back(emit.concat(row, 0));
  }
  return carried;
}

// A round for each place of an axis of its last inputs.
Result<Outputs> Program::scan(const NodeProto& node, const Environment& names, int depth) {
  const GraphProto& body = graph_of(node, "body");
  const exported::Emit emit(builder_, name_of_node(node));
  const auto attribute = std::ranges::find(node.attributes, "num_scan_inputs", &AttributeProto::name);
  const Outputs inputs = inputs_from(node, 0, names);
  for (const NodeId input : inputs) sequences_.want_tensor(input, "an input");
  const int64_t scanned = attribute == node.attributes.end() ? 0 : attribute->i;
  if (scanned < 1 || scanned > static_cast<int64_t>(inputs.size()))
    return bad_file("got {} scanned inputs of {}", scanned, inputs.size());
  const size_t count = static_cast<size_t>(scanned), states = inputs.size() - count;
  if (body.outputs.size() < states)
    return bad_file("its body has {} outputs, wanted at least {}", body.outputs.size(), states);
  const size_t results = body.outputs.size() - states;
  const auto axes = integers(node, "scan_input_axes", count), turned = integers(node, "scan_input_directions", count);
  const auto out_axes = integers(node, "scan_output_axes", results);
  const auto out_turned = integers(node, "scan_output_directions", results);
  Outputs carried(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(states));
  const auto extent = [&](size_t i) { return emit.shape(inputs[states + i])[emit.axis(inputs[states + i], axes[i])]; };
  std::vector<Outputs> rows(results);
  for (int64_t round = 0; round < extent(0); ++round) {
    if (round == kMostRounds) return bad_file("it runs more than {} rounds", kMostRounds);
    Outputs given = carried;
    for (size_t i = 0; i < count; ++i) {
      if (extent(i) != extent(0)) return bad_file("its scanned inputs have {} and {} places", extent(0), extent(i));
      given.push_back(emit.select_index(inputs[states + i], axes[i], turned[i] ? extent(i) - 1 - round : round));
    }
    RUNG_TRY(const Outputs left, run_graph(body, given, names, depth));
    for (size_t i = 0; i < states; ++i) carried[i] = left[i];
    for (size_t i = 0; i < results; ++i) {
      sequences_.want_tensor(left[states + i], "a result of each round");
      const NodeId row = emit.unsqueeze(left[states + i], out_axes[i]);
      rows[i].insert(out_turned[i] ? rows[i].begin() : rows[i].end(), row);
    }
  }
  for (size_t i = 0; i < results; ++i) {
    if (rows[i].empty()) return bad_file("it runs no round, and its results have no shape");
    carried.push_back(emit.concat(rows[i], out_axes[i]));
  }
  return carried;
}

namespace {

// Keys or values [B,G,S,D] for each of H heads, G of which share one.
NodeId for_each_head(const exported::Emit& emit, NodeId x, int64_t heads) {
  const Shape& from = emit.shape(x);
  if (from[1] == heads) return x;
  if (from[1] < 1 || heads % from[1] != 0) refuse("{} heads that share {}", heads, emit.type(x));
  const Shape apart{from[0], from[1], heads / from[1], from[2], from[3]}, whole{from[0], heads, from[2], from[3]};
  return emit.reshape(emit.broadcast(emit.unsqueeze(x, 2), apart), whole);
}

}  // namespace

// Attention whose scores, and whose weights behind the softmax, go through graphs of the node's own.
Result<Outputs> Program::flex_attention(const NodeProto& node, const Environment& names, int depth) {
  constexpr int64_t kF64 = 11;
  const exported::Emit emit(builder_, name_of_node(node));
  const Outputs inputs = inputs_from(node, 0, names);
  if (inputs.size() != 3) return bad_file("got {} inputs, wanted queries, keys and values", inputs.size());
  for (const NodeId input : inputs) {
    sequences_.want_tensor(input, "an input");
    if (emit.rank(input) != 4) return bad_file("got {}, wanted four axes", emit.type(input));
  }
  const auto attribute = [&](std::string_view name) {
    const auto found = std::ranges::find(node.attributes, name, &AttributeProto::name);
    return found == node.attributes.end() ? nullptr : &*found;
  };
  const AttributeProto *given = attribute("scale"), *precision = attribute("softmax_precision");
  if (precision && precision->i == kF64) return bad_file("softmax_precision: got float64");
  const NodeId q = inputs[0];
  const int64_t heads = emit.shape(q)[1];
  const double scale = given ? static_cast<double>(given->f) : 1 / std::sqrt(static_cast<double>(emit.shape(q)[3]));
  if (!(scale >= 0)) return bad_file("scale: got {}, wanted 0 or more", scale);
  const auto scaled = [&](NodeId x) { return emit.scale(x, std::sqrt(scale)); };
  const NodeId keys = for_each_head(emit, inputs[1], heads), values = for_each_head(emit, inputs[2], heads);
  const auto through = [&](const char* name, NodeId x) -> Result<NodeId> {
    const AttributeProto* graph = attribute(name);
    if (!graph) return x;
    RUNG_TRY(const Outputs results, run_graph(graph_of(node, name), {x}, names, depth));
    if (results.size() != 1) return bad_file("{}: got {} results, wanted one", name, results.size());
    sequences_.want_tensor(results[0], name);
    if (emit.shape(results[0]) != emit.shape(x))
      return bad_file("{}: got {}, wanted {}", name, emit.type(results[0]), emit.shape(x));
    return emit.cast(results[0], DType::f32);
  };
  const NodeId scores = emit.cast(emit.matmul(scaled(q), emit.swap_axes(scaled(keys), -2, -1)), DType::f32);
  RUNG_TRY(const NodeId changed, through("score_mod", scores));
  RUNG_TRY(const NodeId weights, through("prob_mod", emit.softmax(changed, -1)));
  return Outputs{emit.cast(emit.matmul(weights, emit.cast(values, DType::f32)), emit.dtype(inputs[2]))};
}

}  // namespace rung::onnx
