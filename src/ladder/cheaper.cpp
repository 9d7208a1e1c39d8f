// Builds one plan in a cheaper precision and races it with the final plan. The climb offers it and does not take it: it
// changes the answers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ladder/climber.hpp"
#include "ladder/precision/forms.hpp"
#include "ladder/roundings.hpp"

namespace rung {
namespace {

constexpr DType kCheaper = DType::bf16;

}  // namespace

bool Climber::has_cheaper_precision() const {
  if (options_.goal.any()) return false;  // the caller said what may be given up
  if (dtype() != DType::f32 || options_.skip.contains("precision") || !multiplies_bf16(*options_.target)) return false;
  const Graph& graph = subject_.model.graph;
  if (rounds_to_bytes(graph)) return false;  // its products are of integers, and cheaper than bf16
  return std::ranges::all_of(graph.order(), [&](NodeId id) { return !is_narrow(graph.type(id).dtype); });
}

Status Climber::offer_cheaper_precision() {
  if (!has_cheaper_precision()) return {};
  CheaperPrecision& cheaper = result_.cheaper;
  cheaper.dtype = name_of(kCheaper);
  if (options_.command) cheaper.command = options_.command(kCheaper);
  cheaper.speedup = Speedup::none(current_ms_, 0, kNoRace);
  if (!has_time_to_try()) return {};
  RUNG_CHECK(tell(fmt::format("what {} would bring", cheaper.dtype)));
  Recipe recipe = current_.recipe;
  recipe.choices.clear();  // they are for problems in f32
  rung_named("precision")->apply(recipe);
  auto built = bench_->attempt_unjudged(std::move(recipe));
  if (device_failed(built)) return tl::unexpected(built.error());
  if (!built || !built->right) {
    cheaper.speedup.unraced = built ? built->reason : built.error().message;
    return {};
  }
  cheaper.rel_l2 = built->rel_l2, cheaper.max_abs = built->max_abs, cheaper.cosine = built->cosine;
  const RaceRule rule = kSchedule.cheaper.within(kSchedule.headline_share_of_rest * budget_.left());
  RUNG_TRY(InterleaveResult raced, race(*current_.session, *built->session, rule));
  cheaper.speedup = Speedup::of(raced);
  return {};
}

}  // namespace rung
