// Adds up the launches of each problem, and notices tables that are looked up, too.
// SPDX-License-Identifier: Apache-2.0
#include "tune/plan_tasks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace rung {
namespace {

// Operations that take as long as moving a byte: today's matrix units do 100 to 250, vector units of a CPU 10 to 50.
// The value only orders problems, not all of which the budget may reach.
constexpr double kFlopsPerByte = 100;

std::set<uint32_t> looked_up_weights(const Plan& plan) {
  std::set<uint32_t> weights;
  for (const Step& step : plan.steps)
    if (as<Gather>(step.op) && step.inputs[0].storage == Storage::weight) weights.insert(step.inputs[0].index);
  return weights;
}

bool multiplies_by(const Step& step, const std::set<uint32_t>& weights) {
  if (!as<Linear>(step.op)) return false;
  const PlanOperand& w = step.inputs[static_cast<size_t>(LinearSlot::w)];
  return w.storage == Storage::weight && weights.contains(w.index);
}

}  // namespace

std::vector<TuneTask> tasks_of(const Plan& plan) {
  const std::set<uint32_t> looked_up = looked_up_weights(plan);
  std::map<std::string, TuneTask> by_key;
  for (const Step& step : plan.steps) {
    Problem problem = problem_of(step, plan.recipe.threads);
    problem.params.clear();
    auto [it, added] = by_key.try_emplace(step.problem, TuneTask{step.problem, problem, plan.target, 0, 0});
    it->second.count += 1;
    it->second.headroom += std::max(step.flops / kFlopsPerByte, step.bytes);
    if (multiplies_by(step, looked_up)) it->second.is_looked_up = true;
  }
  std::vector<TuneTask> tasks;
  for (auto& [key, task] : by_key)
    if (candidates_for(*task.target, task.problem).list.size() > 1) tasks.push_back(std::move(task));
  return tasks;
}

}  // namespace rung
