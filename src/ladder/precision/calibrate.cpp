// Adds the largest |x| of each linear to the outputs of a plan, and runs it.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/calibrate.hpp"

#include <algorithm>
#include <map>

namespace rung {
namespace {

constexpr std::string_view kPrefix = "calibration.";

// x => max |x|, of all elements
NodeId largest_of(Graph& graph, NodeId x) {
  if (graph.type(x).dtype != DType::f32) x = graph.add(Cast{DType::f32}, {x});
  x = graph.add(Unary{UnaryKind::abs}, {x});
  x = graph.add(Reshape{Shape{graph.type(x).elements()}}, {x});
  return graph.add(Reduce{.kind = ReduceKind::max, .axis = 0, .keep_dim = true}, {x});
}

// Returns the graph with those values as further outputs; `labels`: the linear of each.
Graph with_largest(Graph graph, std::vector<std::string>& labels) {
  const auto constant = constant_nodes(graph);
  for (NodeId id : graph.order()) {
    const auto& operands = graph[id].operands;
    if (!graph.as<Linear>(id) || graph[id].label.empty() || !constant[operands[1]] || constant[operands[0]]) continue;
    graph.set_output(fmt::format("{}{}", kPrefix, labels.size()), largest_of(graph, operands[0]));
    labels.push_back(graph[id].label);
  }
  return graph;
}

}  // namespace

Result<Calibration> calibrate(Workbench& bench, const Recipe& recipe) {
  Recipe unquantised = recipe;
  unquantised.disabled_passes.emplace(kQuantisingPass);
  RUNG_TRY(Graph passed, apply_passes(bench.subject().model.graph, unquantised, nullptr, {.target = &bench.target()}));
  std::vector<std::string> labels;
  const Graph measuring = with_largest(std::move(passed), labels);
  const Recipe as_it_is{.as_written = true, .capture = recipe.capture, .precision = {}, .threads = recipe.threads};
  RUNG_TRY(auto session, bench.session_of(measuring, as_it_is));
  RUNG_TRY(const auto runs, bench.judge().answers_of(*session));
  Calibration largest;
  for (const NamedAnswers& answers : runs)
    for (const auto& [name, value] : answers) {
      if (!name.starts_with(kPrefix)) continue;
      float& most = largest[labels[std::stoul(name.substr(kPrefix.size()))]];
      most = std::max(most, value.as<float>()[0]);
    }
  return largest;
}

Calibration needed(const Calibration& calibration, const Precision& precision) {
  Calibration some;
  for (const auto& [label, largest] : calibration)
    if (is_quantised(precision_at(precision, label).products)) some[label] = largest;
  return some;
}

}  // namespace rung
