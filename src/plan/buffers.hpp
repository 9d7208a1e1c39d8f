// The memory of a loaded plan: where its buffers lie while they are alive, and which value each of them holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kernels/access.hpp"
#include "plan/plan.hpp"

namespace rung {

// Every buffer lies in the arena, and no two that are alive at a step share an address.
Status check_buffers(const Plan& plan);

// A buffer holds one op's results from the step that writes it on, or is one step's scratch; so no step reads what was
// not written or overwrites a value. Steps are added in order. Errors name what is wrong, not the step.
class Holdings {
 public:
  explicit Holdings(const Plan& plan) : plan_(plan), held_(plan.buffers.size()) {}

  // An input is alive from start to end, as it may be set between any two runs.
  Status add_input(const PlanInput& input);
  // A state is alive as long, and one step may write it.
  Status add_state(const PlanState& state);
  Status add_results(uint32_t buffer, std::vector<ResultPlace> results, uint32_t step);
  // Lets a step that could read a value of that type change it: all of a state, or of a result.
  Status update(uint32_t buffer, const Type& type);
  Status add_scratch(uint32_t buffer, uint64_t bytes, uint32_t step);
  // Checks a read of `access` bytes of the operand at that step.
  Status check_read(const PlanOperand& operand, const Access& access, uint32_t step) const;
  // Checks that the buffer holds the output's whole value after all steps.
  Status check_output(const PlanOutput& output) const;

 private:
  struct Held {
    enum class Kind { nothing, input, state, written_state, result, scratch } kind = Kind::nothing;
    std::vector<ResultPlace> values;  // by offset
  };
  Status take(uint32_t buffer, Held held, uint32_t first_step, uint32_t last_step);
  Status write_state(uint32_t buffer, const std::vector<ResultPlace>& results, uint32_t step);
  Status check_alive(uint32_t buffer, uint32_t step) const;

  const Plan& plan_;
  std::vector<Held> held_;  // by buffer
};

}  // namespace rung
