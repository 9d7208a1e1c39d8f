// Puts each launch of a plan into the scope of the op that does most of its work.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/scopes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ir/scope.hpp"
#include "ir/text.hpp"
#include "measure/cost.hpp"
#include "passes/origins.hpp"

namespace rung::tasks {
namespace {

double work_of(const Graph& graph, NodeId id) {
  const Cost cost = cost_of(graph, id);
  return cost.flops + cost.bytes;
}

ScopedLaunch launch_of(const Step& step, const Graph& model, const std::vector<NodeId>& took) {
  const Type type{step.output.view.dtype, step.output.view.shape};
  ScopedLaunch launch{.kernel = step.choice.kernel, .label = step.label, .type = to_string(type), .took = {}};
  for (NodeId id : took) launch.took.push_back({std::string(name_of(model[id].op)), model[id].label});
  const auto less = [&](NodeId a, NodeId b) { return work_of(model, a) < work_of(model, b); };
  const auto most = std::ranges::max_element(took, less);
  if (most != took.end() && !model[*most].label.empty()) launch.label = model[*most].label;
  return launch;
}

Scope& inner(Scope& scope, std::string_view name) {
  const auto it = std::ranges::find(scope.scopes, name, &Scope::name);
  if (it != scope.scopes.end()) return *it;
  return scope.scopes.emplace_back(Scope{.name = std::string(name), .launches = {}, .scopes = {}});
}

void put(Scope& scope, ScopedLaunch launch) {
  Scope* at = &scope;
  std::string_view rest = launch.label;
  while (rest.find('.') != std::string_view::npos) at = &inner(*at, take_word(rest));
  at->launches.push_back(std::move(launch));
}

}  // namespace

size_t Scope::all_launches() const {
  return std::accumulate(scopes.begin(), scopes.end(), launches.size(),
                         [](size_t sum, const Scope& scope) { return sum + scope.all_launches(); });
}

size_t Scope::all_ops() const {
  size_t sum = 0;
  for (const ScopedLaunch& launch : launches) sum += launch.took.size();
  return std::accumulate(scopes.begin(), scopes.end(), sum,
                         [](size_t all, const Scope& scope) { return all + scope.all_ops(); });
}

Scope scopes_of(const Graph& model, const Built& built) {
  const auto took = origins(model, built.graph);
  Scope whole;
  for (const Step& step : built.plan.steps)
    put(whole, launch_of(step, model, step.node == kNoNode ? std::vector<NodeId>{} : took[step.node]));
  return whole;
}

nlohmann::json to_json(const Scope& scope) {
  nlohmann::json launches = nlohmann::json::array(), inside = nlohmann::json::array();
  for (const ScopedLaunch& launch : scope.launches) {
    nlohmann::json took = nlohmann::json::array();
    for (const ScopedOp& op : launch.took) took.push_back({{"op", op.op}, {"label", op.label}});
    launches.push_back(
        {{"kernel", launch.kernel}, {"label", launch.label}, {"type", launch.type}, {"took", std::move(took)}});
  }
  for (const Scope& child : scope.scopes) inside.push_back(to_json(child));
  return {{"name", scope.name}, {"launches", std::move(launches)}, {"scopes", std::move(inside)}};
}

}  // namespace rung::tasks
