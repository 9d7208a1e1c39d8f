// Tunes problems in order of what they can gain.
// SPDX-License-Identifier: Apache-2.0
#include "tune/tuner.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace rung {
namespace {

constexpr double kWorthIt = 1.02;  // smaller differences are noise, and the default stays
// How much faster a linear must be that has the plan hold a table twice. Tables of tokens take a quarter of the memory
// of a model of 0.6 billion parameters, and of a token's time: a run would be little more than a hundredth faster.
constexpr double kWorthATable = 1.05;
constexpr double kSecondsEach = 0.012;  // for timed runs per candidate and round
constexpr std::string_view kNoTimeLeft = "no time left";

// The first measurement is the default's.
Margin margin_of(const std::vector<Measured>& measured) {
  Margin margin;
  const TrialTime *standard = &measured[0].time, *other = nullptr;
  for (const Measured& m : measured) {
    margin.disturbance = std::max(margin.disturbance, m.time.disturbance);
    const bool timed = m.time.us > 0 && &m != &measured[0];
    if (timed && (!other || m.time.us < other->us)) other = &m.time;
  }
  if (!other || standard->us == 0 || other->ci95.lo <= 0) return margin;
  margin.ratio = standard->us / other->us;
  margin.ci95 = {standard->ci95.lo / other->ci95.hi, standard->ci95.hi / other->ci95.lo};
  return margin;
}

TunedProblem conclude(const Candidates& candidates, const std::vector<Measured>& measured) {
  size_t best = winner_of(measured);
  TunedProblem tuned{candidates.list[best].choice(), {}};
  tuned.margin = margin_of(measured);
  for (size_t i = 0; i < measured.size(); ++i) {
    Candidate row{candidates.list[i].choice(), measured[i].time.us, measured[i].failure};
    if (i == best)
      row.verdict = i == 0 ? "chosen: the default" : "chosen";
    else if (row.verdict.empty())
      row.verdict = fmt::format("{:.2f} x the chosen one's time", row.us / std::max(measured[best].time.us, 1e-9));
    tuned.candidates.push_back(std::move(row));
  }
  for (const auto& refused : candidates.refused)
    tuned.candidates.push_back({{refused.kernel, {}}, 0, "cannot run it: " + refused.reason});
  return tuned;
}

// Returns whether an entry has all candidates, not only those that an earlier budget reached or an earlier version had.
// An entry without candidates was put in by hand, and stays.
bool is_complete(const TunedProblem& entry, const TuneTask& task) {
  if (entry.candidates.empty()) return true;
  const auto knows = [&](const KernelCandidate& offered) {
    return std::any_of(entry.candidates.begin(), entry.candidates.end(), [&](const Candidate& known) {
      return known.choice == offered.choice() && known.verdict != kNoTimeLeft;
    });
  };
  const Candidates offered = candidates_for(*task.target, task.problem, task.rows);
  return std::all_of(offered.list.begin(), offered.list.end(), knows);
}

// Returns the database's winner, if it can still run the problem.
const TunedProblem* runnable_entry(const TuningDatabase& database, const TuneTask& task) {
  const auto* entry = database.find(task.key);
  if (!entry) return nullptr;
  const auto* kernel = task.target->kernel_named(entry->choice.kernel);
  bool runs = kernel && kernel->op == op_family(task.problem.op) && task.target->supports(*kernel, task.problem) &&
              takes_params(*task.target, *kernel, task.problem, entry->choice.params);
  return runs ? entry : nullptr;
}

// Returns whether the earlier result stays, because the new one is weaker. Never so if a whole model disproved it.
bool is_better_known(const TunedProblem& before, const TunedProblem& now, const TuneTask& task) {
  return !is_sure(now) && !before.lost && before.margin && is_complete(before, task) &&
         is_weaker(*now.margin, *before.margin);
}

void tune_one(const TuneTask& task, TuningDatabase& database, const TuneOptions& options) {
  Candidates candidates = candidates_for(*task.target, task.problem, task.rows);
  if (candidates.list.empty()) return;
  std::vector<Measured> measured(candidates.list.size());
  if (candidates.list.size() > 1) {
    auto out_of_time = [&] { return options.seconds_left() <= 0 || options.interrupted(); };
    measured = measure_in_worker({task.target, task.problem, candidates.list, options.working_set_bytes, kSecondsEach,
                                  std::clamp(options.seconds_left(), 1.0, 5.0), out_of_time});
    bool reached_all =
        std::none_of(measured.begin(), measured.end(), [](const auto& m) { return m.failure == kNoTimeLeft; });
    if (!reached_all && measured[0].time.us == 0) return;  // nothing to compare with: leaves it to another climb
  }
  TunedProblem tuned = conclude(candidates, measured);
  const TunedProblem* before = runnable_entry(database, task);
  if (before && !options.doubted.contains(task.key) && is_better_known(*before, tuned, task)) tuned = *before;
  const Verdict sure = is_sure(tuned);
  log(3, "tune {}: {}{}", task.key, tuned.choice.kernel, sure ? "" : ", not sure: " + sure.reason);
  database.put(task.key, std::move(tuned));
}

// Returns whether gathers can read the rows of the linear's table where the candidate has it.
bool leaves_rows_readable(const KernelChoice& choice, const TuneTask& task) {
  constexpr auto kTable = static_cast<size_t>(LinearSlot::w);
  const Kernel* kernel = task.target->kernel_named(choice.kernel);
  if (!kernel) return false;
  Problem problem = task.problem;
  problem.params = choice.params;
  const Machine& machine = task.target->machine;
  return kernel->packed_for(problem, machine, kTable) == 0 ||
         !kernel->gather_for(problem, machine, kTable).kernel.empty();
}

}  // namespace

size_t winner_of(const std::vector<Measured>& measured) {
  size_t best = 0;
  for (size_t i = 1; i < measured.size(); ++i) {
    const double us = measured[i].time.us, standard_us = measured[0].time.us;
    if (us == 0) continue;
    bool beats_default = standard_us == 0 || us * kWorthIt < standard_us;
    if (beats_default && (best == 0 || us < measured[best].time.us)) best = i;
  }
  return best;
}

const TunedProblem* valid_entry(const TuningDatabase& database, const TuneTask& task) {
  const auto* entry = runnable_entry(database, task);
  return entry && (database.is_new(task.key) || is_sure(*entry)) ? entry : nullptr;
}

const KernelChoice& choice_of(const TunedProblem& entry, const TuneTask& task) {
  if (!task.is_looked_up || leaves_rows_readable(entry.choice, task)) return entry.choice;
  const Candidate *winner = nullptr, *readable = nullptr;
  for (const Candidate& candidate : entry.candidates) {
    if (candidate.us <= 0) continue;
    if (candidate.choice == entry.choice) winner = &candidate;
    const bool is_faster = !readable || candidate.us < readable->us;
    if (is_faster && leaves_rows_readable(candidate.choice, task)) readable = &candidate;
  }
  if (!winner || !readable) return entry.choice;
  const bool is_worth_it = is_sure(entry) && winner->us * kWorthATable < readable->us;
  return is_worth_it ? entry.choice : readable->choice;
}

void tune(const std::vector<TuneTask>& tasks, TuningDatabase& database, const TuneOptions& options) {
  std::vector<const TuneTask*> open;
  for (const auto& task : tasks) {
    const auto* entry = valid_entry(database, task);
    const bool is_doubted = options.doubted.contains(task.key) && database.is_old(task.key);
    if (!entry || is_doubted || !is_complete(*entry, task)) open.push_back(&task);
  }
  std::stable_sort(open.begin(), open.end(), [](auto* a, auto* b) { return a->headroom > b->headroom; });
  for (size_t i = 0; i < open.size() && options.seconds_left() > 0 && !options.interrupted(); ++i) {
    if (options.progress) options.progress(i, open.size());
    tune_one(*open[i], database, options);
  }
}

}  // namespace rung
