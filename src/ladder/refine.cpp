// The rung "tune": tries near-best kernel candidates one at a time on the whole model (coordinate descent). A kernel's
// time alone leaves out its neighbours: what they leave in the caches, and how launches overlap. The database remembers
// what was tried on which model, so that another climb tries only the rest.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/refine.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "base/words.hpp"
#include "kernels/params_text.hpp"
#include "ladder/climber.hpp"
#include "tune/plan_tasks.hpp"

namespace rung {
namespace {

constexpr double kNear = 1.3;           // this close to the best alone, a candidate may win in the model
constexpr size_t kMaxAlternatives = 4;  // per problem
constexpr double kMayGain = 1.02;  // an interval that reaches further does not settle that an alternative gains nothing

void add_trials(const TuneTask& task, const TunedProblem& tuned, const KernelChoice& current,
                std::vector<ModelTrial>& trials) {
  const double best = best_us(tuned);
  std::vector<std::pair<double, KernelChoice>> near;
  for (const auto& candidate : tuned.candidates) {
    KernelChoice choice = changed(current, candidate.choice);
    if (candidate.us > 0 && candidate.us < best * kNear && !(choice == current))
      near.emplace_back(candidate.us, std::move(choice));
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (near.size() > kMaxAlternatives) near.resize(kMaxAlternatives);
  for (size_t rank = 0; rank < near.size(); ++rank)
    trials.push_back({task.key, std::move(near[rank].second), rank, best * task.count});
}

}  // namespace

double best_us(const TunedProblem& tuned) {
  double best = 1e300;
  for (const auto& candidate : tuned.candidates)
    if (candidate.us > 0) best = std::min(best, candidate.us);
  return best;
}

std::string name_of_model(const std::string& model, const std::vector<TuneTask>& tasks) {
  std::string launches;
  for (const TuneTask& task : tasks) launches += fmt::format("{} {}\n", task.count, task.key);
  return fmt::format("{} {}", model, hex64(hash_text(launches)));
}

KernelChoice changed(const KernelChoice& current, KernelChoice candidate) {
  if (candidate.kernel == current.kernel && !candidate.params.empty())
    candidate.params.insert(current.params.begin(), current.params.end());
  return candidate;
}

std::string text_of(const std::string& problem, const KernelChoice& choice) {
  return fmt::format("{}: {}{}", problem, choice.kernel, params_text(choice.params));
}

std::vector<ModelTrial> trials_of(const std::vector<TuneTask>& tasks, const TuningDatabase& database,
                                  const Recipe& recipe, const std::set<std::string>& tried) {
  std::vector<ModelTrial> trials;
  for (const TuneTask& task : tasks) {
    const auto* tuned = valid_entry(database, task);
    auto chosen = recipe.choices.find(task.key);
    if (tuned && chosen != recipe.choices.end()) add_trials(task, *tuned, chosen->second, trials);
  }
  std::erase_if(trials, [&](const ModelTrial& trial) { return tried.contains(text_of(trial.key, trial.choice)); });
  std::stable_sort(trials.begin(), trials.end(), [](const ModelTrial& a, const ModelTrial& b) {
    return std::pair(a.rank, -a.problem_us) < std::pair(b.rank, -b.problem_us);
  });
  return trials;
}

size_t drop_short(std::vector<ModelTrial>& trials, double least_us) {
  return std::erase_if(trials, [&](const ModelTrial& trial) { return trial.problem_us < least_us; });
}

bool is_outdated(const Rung& rung, const std::vector<Receipt>& receipts) {
  auto last = std::find_if(receipts.rbegin(), receipts.rend(), [&](const Receipt& r) { return r.name == rung.name; });
  return last != receipts.rend() && std::any_of(receipts.rbegin(), last, [](const Receipt& r) { return r.accepted; });
}

// Keeps the alternative if the model is faster with it.
Result<ChoiceTrial> Climber::try_choice(const std::string& key, const KernelChoice& choice, RaceRule rule) {
  Recipe recipe = current_.recipe;
  recipe.choices[key] = choice;
  auto candidate = bench_->attempt_as_is(std::move(recipe));
  if (device_failed(candidate)) return tl::unexpected(candidate.error());
  if (!candidate || !candidate->right) return ChoiceTrial{.settled = true};
  RUNG_TRY(InterleaveResult raced, race(*current_.session, *candidate->session, rule));
  if (raced.ratio.lo <= 1) return ChoiceTrial{.settled = raced.ratio.hi <= kMayGain};
  current_ = std::move(*candidate);
  return ChoiceTrial{.ratio = raced.ratio.ratio, .settled = true};
}

// Goes on from what earlier climbs kept for the model, and forgets choices that cannot be built, are wrong or clearly
// lose now.
Status Climber::resume_choices(RefinedModel& known) {
  SplitTrial split{
      .base = current_.recipe, .clock = Budget(budget_.share(kSchedule.choices_share)), .keeps_ties = true};
  for (const auto& [problem, choice] : current_.recipe.choices)
    if (auto kept = known.kept.find(problem); kept != known.kept.end() && !(kept->second == choice))
      split.parts.push_back({.problem = problem, .choice = kept->second, .pass = {}});
  if (split.parts.empty()) return {};
  RUNG_CHECK(try_parts(split.parts, split));
  std::erase_if(known.kept, [&](const auto& kept) {
    return std::ranges::find(split.lost, text_of(kept.first, kept.second)) != split.lost.end();
  });
  if (split.best) current_ = std::move(*split.best);
  return {};
}

// Tries the remaining trials within `seconds`, and records them in `refined`.
Result<RefineCounts> Climber::try_choices(RefinedModel& refined, double seconds, Receipt& receipt) {
  Budget clock(seconds);
  std::set<std::string> tried = refined.tried;
  tried.insert(unsettled_.begin(), unsettled_.end());
  std::vector<ModelTrial> trials = trials_of(tasks_of(*current_.plan), bench_->database(), current_.recipe, tried);
  if (size_t dropped = drop_short(trials, kSchedule.visible * current_ms_ * 1e3))
    receipt.notes.push_back(fmt::format("{} left out, of problems that take less than {:.1f} % of a run",
                                        words::counted(dropped, "alternative"), 100 * kSchedule.visible));
  RefineCounts counts{.trials = trials.size()};
  for (; counts.tried < trials.size() && clock.left() > 0 && has_time_to_try(); ++counts.tried) {
    const ModelTrial& trial = trials[counts.tried];
    RUNG_CHECK(tell(fmt::format("{} {}", receipt.name, trial.key)));
    const KernelChoice& current = current_.recipe.choices.at(trial.key);
    const KernelChoice choice = changed(current, trial.choice);  // an earlier trial may have changed another parameter
    const std::string replaced = text_of(trial.key, current);
    RUNG_TRY(ChoiceTrial done, try_choice(trial.key, choice,
                                          with_pairs(kSchedule.choice).within(std::min(clock.left(), budget_.left()))));
    (done.settled ? refined.tried : unsettled_).insert(text_of(trial.key, choice));
    if (done.ratio == 0) continue;
    ++counts.kept;
    refined.kept[trial.key] = choice;
    refined.tried.insert(replaced);
    receipt.notes.push_back(fmt::format("{} is {:.3f} x faster in the model", text_of(trial.key, choice), done.ratio));
  }
  return counts;
}

// Puts the best choices found into the current attempt. Returns whether any was tried, now or by earlier climbs.
Result<bool> Climber::search_choices(Receipt& receipt) {
  const std::string model = name_of_model(subject_.model.name, tasks_of(*current_.plan));
  RefinedModel refined;
  if (const RefinedModel* known = bench_->database().find_model(model)) refined = *known;
  RUNG_CHECK(resume_choices(refined));
  if (!refined.tried.empty())
    receipt.notes.push_back(fmt::format("{} alternatives tried on the whole model by earlier climbs, {} kept",
                                        refined.tried.size(), refined.kept.size()));
  auto counts = try_choices(refined, budget_.share(kSchedule.choices_share), receipt);
  const bool tried = !refined.tried.empty();
  bench_->database().put_model(model, std::move(refined));  // also after an interruption
  bench_->save_tuning();
  if (!counts) return tl::unexpected(counts.error());
  receipt.notes.push_back(fmt::format("{} of {} alternatives tried on the whole model, {} kept", counts->tried,
                                      counts->trials, counts->kept));
  return tried;
}

Status Climber::refine_choices(const Rung& rung, int number) {
  Receipt receipt = new_receipt(std::string(rung.name), number);
  if (options_.skip.contains(rung.needs))
    return refuse(std::move(receipt), fmt::format("needs the rung {}", rung.needs)), Status{};
  if (!has_time_to_try()) return refuse(std::move(receipt), std::string(kNoTime)), Status{};
  const Recipe own = with_own_kernels();  // if the rung gemm lost, its single choices may still win
  Attempt start = std::move(current_);
  RUNG_TRY(current_, bench_->attempt(own));
  RUNG_TRY(const bool tried, search_choices(receipt));
  Attempt candidate = std::exchange(current_, std::move(start));
  if (candidate.recipe == own)
    return refuse(std::move(receipt),
                  tried ? "no alternative is clearly faster in the model" : "no near-best alternatives, or no time"),
           Status{};
  receipt.rel_l2 = candidate.rel_l2;
  receipt.max_abs = candidate.max_abs;
  RUNG_TRY(receipt, decide(std::move(receipt), candidate));
  if (enter(std::move(receipt), std::move(candidate))) accepted_.insert(std::string(rung.name));
  return {};
}

}  // namespace rung
