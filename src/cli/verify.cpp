// rung verify: compares a plan's outputs with the reference, and on request finds the op that breaks them.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/words.hpp"
#include "cli/command.hpp"
#include "cli/fault.hpp"
#include "cli/interrupts.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "tasks/verify.hpp"

namespace rung::cli {
namespace {

struct VerifyFlags {
  CommonOptions common;
  std::string reference, recipe;
  std::vector<std::string> map;
  std::optional<int64_t> replays, seeds, seed;
  bool bisect = false;
};

void print_precision(const std::vector<PrecisionCost>& costs) {
  if (costs.empty()) return;
  const auto word = [](const std::optional<DType>& dtype) { return dtype ? name_of(*dtype) : "-"; };
  fmt::print("\n{:<40} {:<9} {:<9} {:<7} {:>13} {:>15}\n", "precision", "products", "attention", "values",
             "rel L2 alone", "rel L2 without");
  for (const auto& [part, alone, without] : costs)
    fmt::print("{:<40} {:<9} {:<9} {:<7} {:>13.3g} {:>15.3g}\n", part.labels, word(part.products), word(part.attention),
               word(part.values), alone, without);
}

void print_seeds(const tasks::SeedErrors& errors) {
  fmt::print("\n{:<33} {:>11} {:>11} {:>12} {:>12} {:>14}\n", "rel L2 over seeds", "frozen: mean", "worst",
             "fresh: mean", "worst", "of seed");
  for (size_t i = 0; i < errors.of_fresh.size(); ++i) {
    const tasks::ValueErrors &frozen = errors.of_frozen[i], &fresh = errors.of_fresh[i];
    fmt::print("{:<33} {:>11.3g} {:>11.3g} {:>12.3g} {:>12.3g} {:>14}\n", fresh.name, frozen.mean, frozen.worst,
               fresh.mean, fresh.worst, fresh.worst_seed);
  }
  if (const auto& growth = errors.growth)
    fmt::print("the mean error grows most from {} to {}: {:.2f} times\n", growth->from, growth->to, growth->factor);
  fmt::print("{}, from {} on; '--seeds {} --seed {}' takes them again\n",
             words::counted(errors.fresh.size(), "fresh seed"), errors.fresh.front(), errors.fresh.size(),
             errors.fresh.front());
}

void print_verified(const tasks::Verified& verified) {
  for (const auto& o : verified.verification.outputs)
    fmt::print("{:<22} {}  rel L2 {:.3g}  max abs {:.3g}  cosine {:.8f}  non-finite {}\n", o.name,
               o.passed ? "ok  " : "FAIL", o.rel_l2, o.max_abs, o.cosine,
               o.non_finite == SIZE_MAX ? "not counted" : fmt::to_string(o.non_finite));
  fmt::print("tolerance: rel L2 {:.3g}; {}\n", verified.tolerance.rel_l2, verified.reason);
  print_precision(verified.precision);
  if (verified.seeds) print_seeds(*verified.seeds);
}

void print_replays(const tasks::Replays& replays) {
  fmt::print("{}: {}; memory grew by {:.1f} MB of this process, {:.1f} MB of the device\n",
             words::counted(replays.count, "replay"), replays.difference.empty() ? "bit-identical" : replays.difference,
             replays.resident_growth * 1e-6, replays.device_growth * 1e-6);
}

// Parses texts OUTPUT=ARRAY, each output once.
Result<std::map<std::string, std::string>> parse_map(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> map;
  for (const auto& text : texts) {
    size_t equals = text.find('=');
    if (equals == std::string::npos) return wrong_usage("--map: got '{}', wanted OUTPUT=ARRAY", text);
    const std::string output = text.substr(0, equals);
    if (!map.emplace(output, text.substr(equals + 1)).second)
      return wrong_usage("--map {}: '{}' has an array already", text, output);
  }
  return map;
}

Status leave_reproducer(const tasks::Verified& verified) {
  const Culprit& culprit = *verified.culprit;
  std::string path = fmt::format("rung-bisect-{}.txt", culprit.pass.empty() ? culprit.rung : culprit.pass);
  RUNG_CHECK(write_file_atomically(path, verified.reproducer));
  fmt::print(stderr, "rung: rung '{}', pass '{}', found in {}; the graph before it is in {}\n", culprit.rung,
             culprit.pass, words::counted(culprit.builds, "build"), path);
  return {};
}

Status run_replays(const VerifyFlags& options, tasks::VerifyTask task) {
  const InterruptsAwaited awaited;
  task.interrupted = interrupted;
  RUNG_TRY(tasks::Replays replays, tasks::verify_replays(task, *options.replays));
  if (options.common.json)
    print_json(to_json(replays));
  else
    print_replays(replays);
  if (!replays.difference.empty()) return fail("verification failed: {}", replays.difference);
  if (replays.interrupted)
    return was_interrupted("interrupted after {} of {} replays", replays.count, *options.replays);
  return {};
}

Status run_verify(const VerifyFlags& options) {
  log_to_stderr(options.common.log_level);
  tasks::VerifyTask task{.bisect = options.bisect};
  RUNG_TRY(task.model, judged_model_options(options.common));
  RUNG_TRY(task.recipe, recipe_in(options.recipe));
  RUNG_TRY(task.map, parse_map(options.map));
  RUNG_TRY(task.reference, arrays_in(options.reference));
  if (options.seeds) task.seeds = static_cast<size_t>(*options.seeds);
  if (options.seed) task.first_seed = static_cast<uint64_t>(*options.seed);
  if (options.replays) return run_replays(options, std::move(task));
  RUNG_TRY(tasks::Verified verified, tasks::verify(task));
  if (verified.culprit) RUNG_CHECK(leave_reproducer(verified));
  if (options.common.json)
    print_json(to_json(verified));
  else
    print_verified(verified);
  if (verified.verification.passed) return {};
  return fail("verification failed: {}", verified.verification.reason);
}

}  // namespace

std::pair<CLI::App*, Run> verify_command(CLI::App& app) {
  auto options = std::make_shared<VerifyFlags>();
  auto* command = add_command(app, "verify", "check that outputs are right: compare them with a reference");
  add_common(*command, options->common);
  add_trust(*command, options->common);
  Option reference = add(*command, "reference", options->reference);
  add(*command, "map", options->map).needs(reference);
  add(*command, "recipe", options->recipe).described("verify this recipe's plan");
  Option replays = add(*command, "replays", options->replays).within(1, tasks::kMostReplays).excludes(reference);
  Option seeds =
      add(*command, "seeds", options->seeds).within(1, tasks::kMostSeeds).excludes(reference).excludes(replays);
  add(*command, "seed", options->seed)
      .described("the first of --seeds, to take the same ones again; default: drawn")
      .within(1, INT64_MAX)
      .needs(seeds);
  add(*command, "bisect", options->bisect).excludes(reference).excludes(replays);
  return {command, [options] {
            std::vector<std::string> recipe;
            if (!options->recipe.empty()) recipe = {"--recipe", options->recipe};
            return with_op_of_fault(run_verify(*options), options->common, recipe);
          }};
}

}  // namespace rung::cli
