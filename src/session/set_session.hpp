// The sessions of a set's plans; runs go to the one selected.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan_set.hpp"
#include "session/session.hpp"

namespace rung {

// One thread at a time may use it, as for each of its sessions. The first plan is selected at first. Inputs and outputs
// that were bound in one session stay bound there while another is selected.
class SetSession {
 public:
  // Makes one session for each plan, in the set's order; CPU plans with equal thread counts share a team. Errors: those
  // of Session::create() and of starting threads.
  static Result<SetSession> create(PlanSet plans, SessionOptions options = {});

  const PlanSet& plans() const { return plans_; }
  Session& operator[](size_t index) { return sessions_[index]; }
  Session& selected() { return sessions_[selected_]; }
  size_t selected_index() const { return selected_; }
  // Selects the plan that serves these shapes. Errors (mismatch): none does, or several do; then nothing changes.
  Status select(const Shapes& shapes);
  // Waits for all runs, then resets states to their initial values. Errors: the device failed.
  Status reset_states();
  // Waits for all runs, then gives a state another value. Errors: those of Session::set_state().
  Status set_state(std::string_view name, const Tensor& value);
  // Waits for all runs, then returns copies of the states that hold a value, by name. Errors: the device failed.
  Result<NamedTensors> states();
  // Makes sessions of the same plans, with threads and memory of their own, whose states begin with copies of these.
  // Waits for all runs first. Errors: those of create(); the device failed.
  Result<SetSession> fork();
  // Selects by the shapes of the given inputs, if there are several plans; then calls Session::infer().
  Result<std::vector<std::pair<std::string, Tensor>>> infer(const NamedTensors& given);

 private:
  SetSession(PlanSet plans, std::shared_ptr<States> states, std::vector<Session> sessions)
      : plans_(std::move(plans)), states_(std::move(states)), sessions_(std::move(sessions)) {}

  PlanSet plans_;
  std::shared_ptr<States> states_;
  std::vector<Session> sessions_;
  size_t selected_ = 0;
};

}  // namespace rung
