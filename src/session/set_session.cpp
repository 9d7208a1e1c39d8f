// Selects a plan of a set by shapes.
// SPDX-License-Identifier: Apache-2.0
#include "session/set_session.hpp"

#include "device/cpu/start_team.hpp"

namespace rung {

Result<SetSession> SetSession::create(PlanSet plans, SessionOptions options) {
  std::map<int, std::shared_ptr<cpu::Team>> teams;  // by number of threads
  std::vector<Session> sessions;
  RUNG_TRY(options.states, States::make(plans));
  for (const auto& plan : plans) {
    auto& team = teams[plan->recipe.threads];
    if (!team && !plan->target->gpu) {
      RUNG_TRY(team, cpu::start_team(plan->recipe.threads));
    }
    RUNG_TRY(Session session, Session::create(plan, team, options));
    sessions.push_back(std::move(session));
  }
  RUNG_CHECK(options.states->reset());
  return SetSession(std::move(plans), std::move(options.states), std::move(sessions));
}

Status SetSession::select(const Shapes& shapes) {
  RUNG_TRY(const size_t serving, plans_.serving(shapes));
  // Runs in flight may write states that the other plan reads.
  if (serving != selected_ && !plans_[selected_]->states.empty()) RUNG_CHECK(selected().wait());
  selected_ = serving;
  return {};
}

Status SetSession::reset_states() {
  for (Session& session : sessions_) RUNG_CHECK(session.wait());
  return selected().reset_states();
}

Status SetSession::set_state(std::string_view name, const Tensor& value) {
  for (Session& session : sessions_) RUNG_CHECK(session.wait());
  return selected().set_state(name, value);
}

Result<NamedTensors> SetSession::states() {
  for (Session& session : sessions_) RUNG_CHECK(session.wait());
  return states_->values();
}

Result<SetSession> SetSession::fork() {
  for (Session& session : sessions_) RUNG_CHECK(session.wait());
  RUNG_TRY(SetSession other, create(plans_));
  RUNG_CHECK(other.states_->copy(*states_));
  return other;
}

Result<std::vector<std::pair<std::string, Tensor>>> SetSession::infer(const NamedTensors& given) {
  if (plans_.size() > 1) RUNG_CHECK(select(shapes_of(given)));
  return selected().infer(given);
}

}  // namespace rung
