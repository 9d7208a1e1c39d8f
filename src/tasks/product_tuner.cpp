// One product: the tuner's search, then the winner and the default in turns.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/product_tuner.hpp"

#include <unistd.h>

#include <algorithm>

#include "kernels/params_text.hpp"
#include "tune/compare.hpp"
#include "tune/problem.hpp"

namespace rung::tasks {
namespace {

constexpr double kSecondsEach = 0.006;    // of a trial in a pair
constexpr int kLeastPairs = 6;            // with which a ratio has an interval
constexpr size_t kAnyWeights = SIZE_MAX;  // a model's are more than caches hold

double bytes_of(const Problem& problem) {
  double bytes = static_cast<double>(results_of(problem).back().end());
  for (const Operand& operand : problem.inputs)
    bytes += static_cast<double>(operand.span()) * static_cast<double>(size_of(operand.dtype));
  return bytes;
}

// Of the default: its refusal is why a product cannot be tuned.
std::string refusal_of(const Candidates& candidates, const Target& target, std::string_view family) {
  const Kernel* library = target.library_row(family);
  for (const Refused& refused : candidates.refused)
    if (library && refused.kernel == library->name) return refused.reason;
  return candidates.refused.empty() ? "no library has it" : candidates.refused.front().reason;
}

const Candidate* timed(const TunedProblem& entry, const KernelChoice& choice) {
  auto found = std::ranges::find(entry.candidates, choice, &Candidate::choice);
  return found == entry.candidates.end() || found->us <= 0 ? nullptr : &*found;
}

const Candidate* fastest_but(const TunedProblem& entry, const KernelChoice& choice) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : entry.candidates)
    if (candidate.us > 0 && candidate.choice != choice && (!best || candidate.us < best->us)) best = &candidate;
  return best;
}

}  // namespace

Verdict fits(const Problem& problem, const Target& target) {
  const double here = target.gpu
                          ? static_cast<double>(target.machine.gpu.memory_bytes)
                          : static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double wanted = bytes_of(problem);
  if (wanted <= here / 4) return accept();
  return reject(fmt::format("its operands take {:.3g} GB, wanted at most a quarter of the device's {:.3g}",
                            wanted * 1e-9, here * 1e-9));
}

void ProductTuner::tune(const Problem& problem, TunedProduct& product) {
  const Target& target = options_.target;
  if (Verdict verdict = fits(problem, target); !verdict) return void(product.reason = "not tuned: " + verdict.reason);
  const Candidates candidates = candidates_for(target, problem, options_.rows);
  if (candidates.list.empty())
    return void(product.reason = "not tuned: " + refusal_of(candidates, target, op_family(problem.op)));
  TuneTask task{.key = options_.rows == Rows::all ? problem_key(problem) : library_key(problem),
                .problem = problem,
                .target = &target,
                .rows = options_.rows};
  rung::tune({task}, database_,
             {.seconds_left = [&] { return options_.clock.left(); },
              .interrupted = options_.interrupted,
              .progress = {},
              .working_set_bytes = kAnyWeights});
  const TunedProblem* entry = database_.find(task.key);
  if (!entry) return void(product.reason = "not tuned: no time left");
  const KernelCandidate& standard = candidates.list.front();
  product.choice = valid_entry(database_, task) ? entry->choice : standard.choice();
  conclude(task, *entry, product);
}

void ProductTuner::conclude(const TuneTask& task, const TunedProblem& entry, TunedProduct& product) {
  const KernelCandidate standard = candidates_for(*task.target, task.problem, task.rows).list.front();
  if (product.choice != standard.choice()) return compare(task, standard, product);
  const Candidate *kept = timed(entry, standard.choice()), *other = fastest_but(entry, standard.choice());
  product.default_us = kept ? kept->us : 0;
  if (!kept) {
    product.choice = {};
    product.reason = "not tuned: the default could not be timed";
    for (const Candidate& candidate : entry.candidates)
      if (candidate.choice == standard.choice()) product.reason += ": " + candidate.verdict;
    return;
  }
  if (!other || !entry.evidence) return void(product.reason = "default kept: nothing else can run it");
  product.best_us = other->us;
  product.ratio = {.ratio = entry.evidence->ratio, .lo = entry.evidence->ci95.lo, .hi = entry.evidence->ci95.hi};
  product.reason = product.ratio.hi < 1 ? "default kept: it is the fastest" : "default kept: no clear difference";
}

void ProductTuner::compare(const TuneTask& task, const KernelCandidate& standard, TunedProduct& product) {
  const Kernel* kernel = task.target->kernel_named(product.choice.kernel);
  const std::vector<KernelCandidate> both{standard, {kernel, product.choice.params}};
  const auto compared = compare_in_worker({.target = task.target,
                                           .problem = task.problem,
                                           .candidates = both,
                                           .working_set_bytes = kAnyWeights,
                                           .seconds_each = kSecondsEach,
                                           .hang_seconds = 5,
                                           .out_of_time = [this] { return out_of_time(); }});
  const std::string tried = product.choice.kernel + params_text(product.choice.params);
  const auto keep = [&](std::string reason) {
    product.choice = standard.choice();
    product.reason = "default kept: " + std::move(reason);
  };
  if (!compared) return keep(fmt::format("{} was not compared: {}", tried, compared.error().message));
  product.default_us = compared->first_us, product.best_us = compared->second_us, product.ratio = compared->ratio;
  if (product.ratio.pairs < kLeastPairs) return keep("no time left to compare it with " + tried);
  if (product.ratio.lo <= 1) return keep("no clear difference");
  product.faster = true;
  product.reason = "faster than the default";
}

}  // namespace rung::tasks
