// The rung "tune": near-best kernel candidates tried one at a time on the whole model (coordinate descent). What a
// kernel takes alone leaves out its neighbours: what they leave in the caches, and how launches overlap.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ladder/climber.hpp"

namespace rung {
namespace {

constexpr double kNear = 1.3;           // alone, a candidate this close to the best may win in the model
constexpr double kBudgetShare = 0.2;    // of the whole climb
constexpr size_t kMaxAlternatives = 4;  // per problem
constexpr double kRaceSeconds = 0.6, kRaceHalfWidth = 0.002;

// Another kernel for all launches of a problem.
struct Trial {
  std::string key;
  KernelChoice choice;
  size_t rank = 0;        // among the alternatives of its problem, the fastest alone first
  double problem_us = 0;  // of all launches together, alone
};

double best_us(const TunedProblem& tuned) {
  double best = 1e300;
  for (const auto& candidate : tuned.candidates)
    if (candidate.us > 0) best = std::min(best, candidate.us);
  return best;
}

void add_trials(const TuneTask& task, const TunedProblem& tuned, const KernelChoice& current,
                std::vector<Trial>& trials) {
  const double best = best_us(tuned);
  std::vector<std::pair<double, KernelChoice>> near;
  for (const auto& candidate : tuned.candidates) {
    KernelChoice choice{candidate.kernel, {candidate.params.begin(), candidate.params.end()}};
    if (candidate.us > 0 && candidate.us < best * kNear && !(choice == current))
      near.emplace_back(candidate.us, std::move(choice));
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (near.size() > kMaxAlternatives) near.resize(kMaxAlternatives);
  for (size_t rank = 0; rank < near.size(); ++rank)
    trials.push_back({task.key, std::move(near[rank].second), rank, best * task.count});
}

// Every problem's first alternative before any second one, problems that take most of the time first: a budget that
// ends early has then tried what promises most.
std::vector<Trial> trials_of(const std::vector<TuneTask>& tasks, const TuningDatabase& database, const Recipe& recipe) {
  std::vector<Trial> trials;
  for (const TuneTask& task : tasks) {
    const auto* tuned = valid_entry(database, task);
    auto chosen = recipe.choices.find(task.key);
    if (tuned && chosen != recipe.choices.end()) add_trials(task, *tuned, chosen->second, trials);
  }
  std::stable_sort(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) {
    return std::pair(a.rank, -a.problem_us) < std::pair(b.rank, -b.problem_us);
  });
  return trials;
}

}  // namespace

// Keeps the alternative if the model is faster with it: the ratio, else 0.
Result<double> Climber::try_choice(const std::string& key, const KernelChoice& choice, double seconds) {
  Recipe recipe = current_.recipe;
  recipe.choices[key] = choice;
  auto candidate = bench_->attempt_as_is(std::move(recipe));
  if (device_failed(candidate)) return tl::unexpected(candidate.error());
  if (!candidate || !candidate->right) return 0;
  RUNG_TRY(InterleaveResult raced, race(*current_.session, *candidate->session, seconds, kRaceHalfWidth));
  if (raced.ratio.lo <= 1) return 0;
  current_ = std::move(*candidate);
  return raced.ratio.ratio;
}

Status Climber::refine_choices(int number) {
  Receipt receipt{.name = "tune", .before_ms = current_ms_, .attempt = number};
  receipt.kernels = static_cast<int>(current_.plan->steps.size());
  if (!current_.recipe.tuned_kernels) return refuse(std::move(receipt), "needs the rung gemm"), Status{};
  Attempt start = std::move(current_);
  RUNG_TRY(current_, bench_->attempt(start.recipe));
  Budget clock(budget_.share(kBudgetShare));
  const std::vector<Trial> trials = trials_of(bench_->tasks_of(*current_.plan), bench_->database(), current_.recipe);
  size_t tried = 0, kept = 0;
  for (; tried < trials.size() && clock.left() > 0; ++tried) {
    const Trial& trial = trials[tried];
    RUNG_CHECK(tell(fmt::format("tune {}", trial.key)));
    RUNG_TRY(double ratio, try_choice(trial.key, trial.choice, std::clamp(clock.left(), 0.1, kRaceSeconds)));
    if (ratio == 0) continue;
    ++kept;
    receipt.notes.push_back(
        fmt::format("{}: {} is {:.3f} x faster in the model", trial.key, trial.choice.kernel, ratio));
  }
  receipt.notes.push_back(
      fmt::format("{} of {} alternatives tried on the whole model, {} kept", tried, trials.size(), kept));
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
