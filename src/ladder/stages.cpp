// Groups launches by stage.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/stages.hpp"

#include <algorithm>

namespace rung {
namespace {

struct Part {
  StageTime time;
  std::vector<size_t> steps;
};

// One for each of the model's stages, then those that labels name, kRest at the end.
class Parts {
 public:
  explicit Parts(const std::vector<Stage>& stages) {
    for (const Stage& stage : stages) list_.push_back({{.name = stage.name}, {}});
    list_.push_back({{.name = std::string(kRest)}, {}});
  }

  Part& named(std::string_view name) {
    auto it = std::ranges::find_if(list_, [&](const Part& part) { return part.time.name == name; });
    return it != list_.end() ? *it : *list_.insert(list_.end() - 1, Part{{.name = std::string(name)}, {}});
  }
  std::vector<Part>& list() { return list_; }

 private:
  std::vector<Part> list_;
};

}  // namespace

Result<std::vector<StageTime>> time_stages(Session& session, std::vector<OpTime>& ops) {
  const std::vector<Stage>& known = session.plan().stages;
  Parts parts(known);
  for (size_t i = 0; i < ops.size(); ++i) {
    ops[i].stage = stage_of(known, ops[i].label);
    Part& part = parts.named(ops[i].stage);
    part.steps.push_back(i);
    part.time.launches += 1;
    part.time.us += ops[i].us;
    part.time.floor_us += ops[i].floor_us;
  }
  std::vector<StageTime> stages;
  for (Part& part : parts.list()) {
    if (part.steps.empty()) continue;
    RUNG_TRY(std::optional<double> us, session.recorder().together_us(part.steps));
    if (us) part.time.us = *us;
    stages.push_back(std::move(part.time));
  }
  return stages;
}

}  // namespace rung
