// Tunes problems in order of what they can gain.
// SPDX-License-Identifier: Apache-2.0
#include "gemm/tuner.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace rung {
namespace {

constexpr double kWorthIt = 1.02;       // below this a difference is noise, and the default stays
constexpr double kSecondsEach = 0.012;  // of timed runs per candidate and round
constexpr std::string_view kNoTimeLeft = "no time left";

Candidate describe(const KernelCandidate& candidate, const Measured& measured) {
  Candidate row{std::string(candidate.kernel->name), {}, measured.us, measured.failure};
  for (const auto& [name, value] : candidate.params) row.params[name] = value;
  return row;
}

TunedProblem conclude(const Candidates& candidates, const std::vector<Measured>& measured) {
  size_t best = winner_of(measured);
  TunedProblem tuned{{std::string(candidates.list[best].kernel->name), candidates.list[best].params}, {}};
  for (size_t i = 0; i < measured.size(); ++i) {
    Candidate row = describe(candidates.list[i], measured[i]);
    if (i == best)
      row.verdict = i == 0 ? "chosen: the default" : "chosen";
    else if (row.verdict.empty())
      row.verdict = fmt::format("{:.2f} x the chosen one's time", row.us / std::max(measured[best].us, 1e-9));
    tuned.candidates.push_back(std::move(row));
  }
  for (const auto& refused : candidates.refused)
    tuned.candidates.push_back({refused.kernel, {}, 0, "cannot run it: " + refused.reason});
  return tuned;
}

void tune_one(const TuneTask& task, TuningDatabase& database, const TuneOptions& options) {
  Candidates candidates = candidates_for(*task.target, task.problem);
  if (candidates.list.empty()) return;
  std::vector<Measured> measured(candidates.list.size());
  if (candidates.list.size() > 1) {
    auto out_of_time = [&] { return options.seconds_left() <= 0 || options.interrupted(); };
    measured = measure_in_worker({task.target, task.problem, candidates.list, options.working_set_bytes, kSecondsEach,
                                  std::clamp(options.seconds_left(), 1.0, 5.0), out_of_time});
    bool complete =
        std::none_of(measured.begin(), measured.end(), [](const auto& m) { return m.failure == kNoTimeLeft; });
    if (!complete && measured[0].us == 0) return;  // nothing to compare with: leave it for another climb
  }
  TunedProblem tuned = conclude(candidates, measured);
  log(3, "tune {}: {}", task.key, tuned.choice.kernel);
  database.put(task.key, std::move(tuned));
}

// Does an entry know all candidates: not only those that an earlier budget reached, or that an earlier version had? One
// without any was put in by hand, and stays.
bool complete(const TunedProblem& entry, const TuneTask& task) {
  if (entry.candidates.empty()) return true;
  const auto knows = [&](const KernelCandidate& offered) {
    const Candidate wanted = describe(offered, {});
    return std::any_of(entry.candidates.begin(), entry.candidates.end(), [&](const Candidate& known) {
      return known.kernel == wanted.kernel && known.params == wanted.params && known.verdict != kNoTimeLeft;
    });
  };
  const Candidates offered = candidates_for(*task.target, task.problem);
  return std::all_of(offered.list.begin(), offered.list.end(), knows);
}

}  // namespace

size_t winner_of(const std::vector<Measured>& measured) {
  size_t best = 0;
  for (size_t i = 1; i < measured.size(); ++i) {
    if (measured[i].us == 0) continue;
    bool beats_default = measured[0].us == 0 || measured[i].us * kWorthIt < measured[0].us;
    if (beats_default && (best == 0 || measured[i].us < measured[best].us)) best = i;
  }
  return best;
}

const TunedProblem* valid_entry(const TuningDatabase& database, const TuneTask& task) {
  const auto* entry = database.find(task.key);
  if (!entry) return nullptr;
  const auto* kernel = task.target->kernel_named(entry->choice.kernel);
  bool valid = kernel && kernel->op == op_family(task.problem.op) && task.target->supports(*kernel, task.problem) &&
               takes_params(*kernel, task.problem, entry->choice.params);
  return valid ? entry : nullptr;
}

void tune(const std::vector<TuneTask>& tasks, TuningDatabase& database, const TuneOptions& options) {
  std::vector<const TuneTask*> open;
  for (const auto& task : tasks) {
    const auto* entry = valid_entry(database, task);
    if (!entry || !complete(*entry, task)) open.push_back(&task);
  }
  std::stable_sort(open.begin(), open.end(), [](auto* a, auto* b) { return a->headroom > b->headroom; });
  for (size_t i = 0; i < open.size() && options.seconds_left() > 0 && !options.interrupted(); ++i) {
    if (options.progress) options.progress(i, open.size());
    tune_one(*open[i], database, options);
  }
}

}  // namespace rung
