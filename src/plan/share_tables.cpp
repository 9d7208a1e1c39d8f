// Finds tables that a plan would hold twice.
// SPDX-License-Identifier: Apache-2.0
#include "plan/share_tables.hpp"

#include <algorithm>
#include <optional>

namespace rung {
namespace {

bool reads_weight(const PlanOperand& operand, uint32_t weight) {
  return operand.storage == Storage::weight && operand.index == weight;
}

class TableSharer {
 public:
  TableSharer(Plan& plan, WeightTable& weights) : plan_(plan), weights_(weights) {}

  void run() {
    std::vector<bool> is_kept(weights_.size(), true);
    for (uint32_t weight = 0; weight < is_kept.size(); ++weight)
      for (const WeightTable::Gathered& held : weights_.gathered_instead(weight))
        if (is_kept[weight] && moves_readers(weight, held)) is_kept[weight] = false;
    renumber(weights_.keep(is_kept));
  }

 private:
  // Lets the gathers that read a weight read the other one. Returns false, with the plan as it was, if some step that
  // reads the weight cannot.
  bool moves_readers(uint32_t weight, const WeightTable::Gathered& held) {
    std::vector<Step*> readers;
    for (Step& step : plan_.steps)
      if (std::ranges::any_of(step.inputs, [&](const PlanOperand& input) { return reads_weight(input, weight); }))
        readers.push_back(&step);
    if (!std::ranges::all_of(readers, [&](const Step* step) { return can_read(*step, weight, held); })) return false;
    for (Step* step : readers) step->inputs[0].index = held.weight, step->choice = held.row;
    return true;
  }

  bool can_read(Step step, uint32_t weight, const WeightTable::Gathered& held) const {
    if (!as<Gather>(step.op) || !reads_weight(step.inputs[0], weight) || step.inputs[0].offset != 0) return false;
    step.choice = held.row;
    const Kernel* row = plan_.target->kernel_named(held.row.kernel);
    const Problem problem = problem_of(step, plan_.recipe.threads);
    return row && plan_.target->supports(*row, problem) &&
           row->packed_for(problem, plan_.target->machine, 0) == weights_.bytes(held.weight);
  }

  void renumber(const std::vector<uint32_t>& indices) {
    for (Step& step : plan_.steps)
      for (PlanOperand& input : step.inputs)
        if (input.storage == Storage::weight) input.index = indices[input.index];
  }

  Plan& plan_;
  WeightTable& weights_;
};

}  // namespace

void share_tables(Plan& plan, WeightTable& weights) { TableSharer(plan, weights).run(); }

}  // namespace rung
