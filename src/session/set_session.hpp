// The sessions of a set's plans, one of which is selected: runs go to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/plan_set.hpp"
#include "session/session.hpp"

namespace rung {

// Used by one thread at a time, as each of its sessions is. The first plan is selected at first. Inputs and outputs
// that were bound in one session stay bound there while another is selected.
class SetSession {
 public:
  // One session for each plan, in the set's order; on a processor, plans of as many threads share a team. Errors: those
  // of Session::create() and of starting threads.
  static Result<SetSession> create(PlanSet plans, SessionOptions options = {});

  const PlanSet& plans() const { return plans_; }
  Session& operator[](size_t index) { return sessions_[index]; }
  Session& selected() { return sessions_[selected_]; }
  size_t selected_index() const { return selected_; }
  // The plan that serves these shapes is selected. Errors (mismatch): none does, or several do; nothing changes then.
  Status select(const Shapes& shapes);
  // Waits for all runs; then states hold their initial values again. Errors: the device failed.
  Status reset_states();
  // Selects by the shapes of the inputs given, where there are several plans; then Session::infer().
  Result<std::vector<std::pair<std::string, Tensor>>> infer(const NamedTensors& given);

 private:
  SetSession(PlanSet plans, std::vector<Session> sessions) : plans_(std::move(plans)), sessions_(std::move(sessions)) {}

  PlanSet plans_;
  std::vector<Session> sessions_;
  size_t selected_ = 0;
};

}  // namespace rung
