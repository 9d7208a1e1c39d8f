// Tunes one product: runs the tuner's search, then times the winner and the default in turns.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/product_tuner.hpp"

#include <unistd.h>

#include <algorithm>

#include "kernels/params_text.hpp"
#include "kernels/problem_key.hpp"
#include "tune/compare.hpp"

namespace rung::stacks {
namespace {

constexpr int kLeastPairs = 6;  // the least number that gives a ratio an interval

double bytes_of(const Problem& problem) {
  double bytes = static_cast<double>(results_of(problem).back().end());
  for (const Operand& operand : problem.inputs)
    bytes += static_cast<double>(operand.span()) * static_cast<double>(size_of(operand.dtype));
  return bytes;
}

// Returns the refusal of the default, which is the reason why a product cannot be tuned.
std::string refusal_of(const Candidates& candidates, const Target& target, std::string_view family) {
  const Kernel* library = target.library_row(family);
  for (const rung::Refused& refused : candidates.refused)
    if (library && refused.kernel == library->name) return refused.reason;
  return candidates.refused.empty() ? "no library has it" : candidates.refused.front().reason;
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
  const Candidates candidates = candidates_for(target, problem, rows());
  if (candidates.list.empty())
    return void(product.reason = "not tuned: " + refusal_of(candidates, target, op_family(problem.op)));
  const TuneTask task{.key = rows() == Rows::all ? problem_key(problem) : library_key(problem),
                      .problem = problem,
                      .target = &target,
                      .rows = rows()};
  rung::tune({task}, database_,
             {.seconds_left = [&] { return options_.clock.left(); },
              .interrupted = options_.interrupted,
              .progress = {},
              .working_set_bytes = kColdWeights});
  const TunedProblem* entry = database_.find(task.key);
  if (!entry) return void(product.reason = "not tuned: no time left");
  const KernelCandidate& standard = candidates.list.front();
  const auto kept = std::ranges::find(entry->candidates, standard.choice(), &Candidate::choice);
  if (kept != entry->candidates.end() && kept->us <= 0)
    return void(product.reason = "not tuned: the default was not timed: " + kept->verdict);
  product.choice = standard.choice();
  product.default_us = kept == entry->candidates.end() ? 0 : kept->us;
  if (const auto other = best_other(*entry, product.choice))
    compare(task, {standard, {target.kernel_named(other->kernel), other->params}}, product);
  else
    product.reason = "default kept: nothing else can run it";
}

// Returns the fastest eligible candidate that can still run; an entry without candidates was put in by hand.
std::optional<KernelChoice> ProductTuner::best_other(const TunedProblem& entry, const KernelChoice& standard) const {
  const auto eligible = [&](const KernelChoice& choice) {
    const Kernel* row = options_.target.kernel_named(choice.kernel);
    return choice != standard && row && (!options_.stack || options_.stack->can_say({row, choice.params}));
  };
  if (entry.candidates.empty()) return eligible(entry.choice) ? std::optional(entry.choice) : std::nullopt;
  const Candidate* best = nullptr;
  for (const Candidate& candidate : entry.candidates)
    if (candidate.us > 0 && eligible(candidate.choice) && (!best || candidate.us < best->us)) best = &candidate;
  return best ? std::optional(best->choice) : std::nullopt;
}

void ProductTuner::compare(const TuneTask& task, const std::vector<KernelCandidate>& both, TunedProduct& product) {
  const auto compared = compare_in_worker({.target = task.target,
                                           .problem = task.problem,
                                           .candidates = both,
                                           .working_set_bytes = kColdWeights,
                                           .seconds_each = kPairSeconds,
                                           .hang_seconds = kPairHangSeconds,
                                           .out_of_time = [this] { return out_of_time(); }});
  const std::string tried = std::string(both[1].kernel->name) + params_text(both[1].params);
  if (!compared)
    return void(product.reason =
                    fmt::format("default kept: not compared with {}: {}", tried, compared.error().message));
  product.default_us = compared->first_us, product.best_us = compared->second_us, product.ratio = compared->ratio;
  if (product.ratio.pairs < kLeastPairs)
    return void(product.reason = "default kept: no time left to compare it with " + tried);
  if (product.ratio.hi < 1) return void(product.reason = "default kept: it is the fastest");
  if (product.ratio.lo <= 1) return void(product.reason = "default kept: no clear difference");
  product.faster = true;
  product.choice = both[1].choice();
  product.reason = "faster than the default";
}

}  // namespace rung::stacks
