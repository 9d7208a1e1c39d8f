// A session: a plan bound to a team of threads, ready to take inputs and answer.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>

#include "plan/plan.hpp"
#include "session/recorder.hpp"

namespace rung {

struct SessionOptions {
  bool stepwise = false;  // ops run one by one, so that a fault of the device names its op; never as a graph
};

// Used by one thread at a time, whichever it is; several sessions, of one plan too, by several threads at once, if each
// has a team of its own.
class Session {
 public:
  // The plan must have been built for team.size() threads, or for a GPU: then the team may be null. Errors: another
  // thread count, no memory.
  static Result<Session> create(std::shared_ptr<const Plan> plan, std::shared_ptr<cpu::Team> team,
                                SessionOptions options = {});

  // Sets every input: those given (checked: known name, type, range of integers, floats without NaN or infinity but
  // -inf in a mask, the frozen value of a frozen input), the others by their defaults. On an error nothing has changed.
  Status set_inputs(const NamedTensors& given);
  Status run() { return recorder_->run(); }
  // Copies of the last run's outputs, by name, in the plan's order.
  Result<std::vector<std::pair<std::string, Tensor>>> outputs() const;
  // set_inputs, run, outputs.
  Result<std::vector<std::pair<std::string, Tensor>>> infer(const NamedTensors& given);

  const Plan& plan() const { return *plan_; }
  Recorder& recorder() { return *recorder_; }
  cpu::Team& team() { return *team_; }

 private:
  Session(std::shared_ptr<const Plan> plan, std::shared_ptr<cpu::Team> team, std::unique_ptr<Recorder> recorder)
      : plan_(std::move(plan)), team_(std::move(team)), recorder_(std::move(recorder)) {}
  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<cpu::Team> team_;
  std::unique_ptr<Recorder> recorder_;
};

// One value for an input of the plan, checked. Errors name the input, what was got and what was wanted.
Status check_plan_input(const Plan& plan, const PlanInput& input, const Tensor& value);
// A frozen input has the value that the plan was built for, and no other.
Status check_frozen_input(const FrozenInput& input, const Tensor& value);

}  // namespace rung
