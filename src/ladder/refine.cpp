// The rung "tune": near-best kernel candidates tried one at a time on the whole model (coordinate descent), heaviest
// problems first.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ladder/climber.hpp"

namespace rung {
namespace {

constexpr double kNear = 1.3;           // alone, a candidate this close to the best may win in the model
constexpr double kBudgetShare = 0.2;    // of the whole climb
constexpr size_t kMaxAlternatives = 4;  // per problem

// Alternatives to the current choice for a problem, best first.
std::vector<KernelChoice> alternatives(const TunedProblem& tuned, const KernelChoice& current) {
  double best = 1e300;
  for (const auto& candidate : tuned.candidates)
    if (candidate.us > 0) best = std::min(best, candidate.us);
  std::vector<std::pair<double, KernelChoice>> near;
  for (const auto& candidate : tuned.candidates) {
    KernelChoice choice{candidate.kernel, {candidate.params.begin(), candidate.params.end()}};
    if (candidate.us > 0 && candidate.us < best * kNear && !(choice == current))
      near.emplace_back(candidate.us, std::move(choice));
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (near.size() > kMaxAlternatives) near.resize(kMaxAlternatives);
  std::vector<KernelChoice> choices;
  for (auto& [us, choice] : near) choices.push_back(std::move(choice));
  return choices;
}

}  // namespace

Status Climber::refine_choices(int number) {
  Receipt receipt{.name = "tune", .before_ms = current_ms_, .attempt = number};
  receipt.kernels = static_cast<int>(current_.plan->steps.size());
  if (!current_.recipe.tuned_kernels) return refuse(std::move(receipt), "needs the rung gemm"), Status{};
  Attempt start = std::move(current_);
  RUNG_TRY(current_, bench_->attempt(start.recipe));
  Budget clock(budget_.share(kBudgetShare));
  std::vector<TuneTask> tasks = bench_->tasks_of(*current_.plan);
  std::sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.headroom > b.headroom; });
  size_t tried = 0, kept = 0;
  for (const TuneTask& task : tasks) {
    const auto* tuned = valid_entry(bench_->database(), task);
    auto chosen = current_.recipe.choices.find(task.key);
    if (!tuned || chosen == current_.recipe.choices.end()) continue;
    for (const KernelChoice& choice : alternatives(*tuned, chosen->second)) {
      if (clock.left() <= 0) break;
      RUNG_CHECK(tell(fmt::format("tune {}", task.key)));
      Recipe recipe = current_.recipe;
      recipe.choices[task.key] = choice;
      auto candidate = bench_->attempt(std::move(recipe));
      if (device_failed(candidate)) return tl::unexpected(candidate.error());
      if (!candidate || !candidate->right) continue;
      ++tried;
      RUNG_TRY(InterleaveResult raced,
               race(*current_.session, *candidate->session, std::min(0.4, std::max(0.1, clock.left())), 0.005));
      if (raced.ratio.lo <= 1) continue;
      receipt.notes.push_back(
          fmt::format("{}: {} is {:.3f} x faster in the model", task.key, choice.kernel, raced.ratio.ratio));
      current_ = std::move(*candidate);
      ++kept;
    }
  }
  receipt.notes.push_back(fmt::format("{} alternatives tried on the whole model, {} kept", tried, kept));
  if (kept == 0) {
    current_ = std::move(start);
    return refuse(std::move(receipt),
                  tried ? "no alternative is clearly faster in the model" : "no near-best alternatives, or no time"),
           Status{};
  }
  Attempt refined = std::move(current_);
  current_ = std::move(start);
  receipt.rel_l2 = refined.rel_l2;
  receipt.max_abs = refined.max_abs;
  RUNG_TRY(bool accepted, decide(std::move(receipt), std::move(refined)));
  if (accepted) accepted_.insert("tune");
  return {};
}

}  // namespace rung
