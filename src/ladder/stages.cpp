// Groups launches by stage.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/stages.hpp"

#include <algorithm>

namespace rung {
namespace {

struct TimedStage {
  StageTime time;
  std::vector<size_t> steps;
};

// The launches of each of the model's stages, then those of stages that labels name, kRest at the end.
class TimedStages {
 public:
  explicit TimedStages(const std::vector<Stage>& stages) {
    for (const Stage& stage : stages) list_.push_back({{.name = stage.name}, {}});
    list_.push_back({{.name = std::string(kRest)}, {}});
  }

  TimedStage& named(std::string_view name) {
    auto it = std::ranges::find_if(list_, [&](const TimedStage& stage) { return stage.time.name == name; });
    return it != list_.end() ? *it : *list_.insert(list_.end() - 1, TimedStage{{.name = std::string(name)}, {}});
  }
  std::vector<TimedStage>& list() { return list_; }

 private:
  std::vector<TimedStage> list_;
};

}  // namespace

Result<std::vector<StageTime>> time_stages(Session& session, std::vector<OpTime>& ops) {
  const std::vector<Stage>& known = session.plan().stages;
  TimedStages timed(known);
  for (size_t i = 0; i < ops.size(); ++i) {
    ops[i].stage = stage_of(known, ops[i].label);
    TimedStage& stage = timed.named(ops[i].stage);
    stage.steps.push_back(i);
    stage.time.launches += 1;
    stage.time.us += ops[i].us;
    stage.time.floor_us += ops[i].floor_us;
  }
  std::vector<StageTime> stages;
  for (TimedStage& stage : timed.list()) {
    if (stage.steps.empty()) continue;
    RUNG_TRY(std::optional<double> us, session.recorder().together_us(stage.steps));
    if (us) stage.time.us = *us;
    stages.push_back(std::move(stage.time));
  }
  return stages;
}

}  // namespace rung
