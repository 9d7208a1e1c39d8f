// Leave-one-out: measures what each accepted rung is worth in the final plan.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ladder/climber.hpp"

namespace rung {

Status Climber::ablate() {
  for (const Rung& rung : ladder()) {  // skips rungs whose choices go with another's
    if (!accepted_.contains(rung.name) || accepted_.contains(rung.needs)) continue;
    if (const auto known = worth_.find(rung.name); known != worth_.end()) {
      result_.ablation.push_back(known->second);
      continue;
    }
    if (rung.opt_in) continue;  // its baseline has it too
    RUNG_CHECK(tell("without " + std::string(rung.name)));
    if (!has_time_to_try()) break;
    Recipe recipe = current_.recipe;
    (rung.needs.empty() ? rung : *rung_named(rung.needs)).remove(recipe);
    auto without = bench_->attempt(std::move(recipe));
    if (device_failed(without)) return tl::unexpected(without.error());
    if (!without || same_launches(*without->plan, *current_.plan)) continue;
    const double seconds = std::max(kSchedule.ablation_least_s, budget_.share(kSchedule.ablation_share));
    RUNG_TRY(InterleaveResult raced, race(*without->session, *current_.session,
                                          {std::min(seconds, budget_.left()), kSchedule.ablation_half_width}));
    result_.ablation.push_back({std::string(rung.name), raced.ratio.ratio, {raced.ratio.lo, raced.ratio.hi}});
  }
  ++stages_done_;
  return {};
}

}  // namespace rung
