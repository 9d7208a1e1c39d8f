// Runs a plan as one side of a comparison.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "measure/statistics.hpp"
#include "open/open_model.hpp"
#include "session/timed_run.hpp"
#include "tasks/contestant.hpp"

namespace rung::tasks {
namespace {

constexpr double kBlockSeconds = 0.003;  // for the timed runs of one block
constexpr int kMostRuns = 10;            // in one block

class SessionContestant : public Contestant {
 public:
  SessionContestant(std::shared_ptr<const Plan> plan, const NamedTensors& inputs)
      : plan_(std::move(plan)), inputs_(inputs) {}
  Status renew() override {
    session_.reset();
    RUNG_TRY(Session session, open_session(plan_));
    session_.emplace(std::move(session));
    RUNG_CHECK(session_->set_inputs(inputs_));
    return session_->run();  // the first run of a session is not typical
  }
  // Runs once before the timed runs: caches and branch predictors hold the other side's state.
  Result<double> block() override {
    const auto timed = timed_runs(*session_);
    RUNG_TRY(const double first, timed());
    const int runs = first > 0 ? static_cast<int>(std::clamp(kBlockSeconds / first, 1.0, double{kMostRuns})) : 1;
    std::vector<double> seconds;
    for (int i = 0; i < runs; ++i) {
      RUNG_TRY(seconds.emplace_back(), timed());
    }
    return median(std::move(seconds));
  }
  Result<NamedTensors> outputs() override {
    RUNG_CHECK(session_->run());
    RUNG_TRY(auto outputs, session_->outputs());
    return NamedTensors(std::make_move_iterator(outputs.begin()), std::make_move_iterator(outputs.end()));
  }

 private:
  std::shared_ptr<const Plan> plan_;
  const NamedTensors& inputs_;
  std::optional<Session> session_;
};

}  // namespace

Result<std::unique_ptr<Contestant>> contestant_of(std::shared_ptr<const Plan> plan, const NamedTensors& inputs) {
  auto contestant = std::make_unique<SessionContestant>(std::move(plan), inputs);
  RUNG_CHECK(contestant->renew());
  return contestant;
}

}  // namespace rung::tasks
