// Leave-one-out: what each accepted rung is worth in the final plan.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ladder/climber.hpp"

namespace rung {

Status Climber::ablate() {
  for (const Rung& rung : ladder()) {
    const bool tune = rung.name == "tune";
    if (!accepted_.contains(rung.name) || (tune && accepted_.contains("gemm"))) continue;  // its choices go with gemm
    RUNG_CHECK(tell("without " + std::string(rung.name)));
    if (!has_time_to_try()) break;
    Recipe recipe = current_.recipe;
    (tune ? *rung_named("gemm") : rung).remove(recipe);
    auto without = bench_->attempt(std::move(recipe));
    if (device_failed(without)) return tl::unexpected(without.error());
    if (!without) continue;
    RUNG_TRY(InterleaveResult raced, race(*without->session, *current_.session,
                                          std::min(std::max(0.2, budget_.share(0.02)), budget_.left()), 0.01));
    result_.ablation.push_back({std::string(rung.name), raced.ratio.ratio, {raced.ratio.lo, raced.ratio.hi}});
  }
  ++stages_done_;
  return {};
}

}  // namespace rung
