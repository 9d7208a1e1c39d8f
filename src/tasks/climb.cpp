// Runs a climb, from options to files.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/climb.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/pending_files.hpp"
#include "base/tool.hpp"
#include "ladder/rungs.hpp"
#include "measure/clock.hpp"
#include "open/inputs.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "plan/file.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/markdown.hpp"
#include "report/write.hpp"
#include "tasks/text_start.hpp"

namespace rung::tasks {

namespace {

std::string command_of(const ClimbTask& task, DType dtype) {
  const OpenOptions& model = task.model;
  std::string command = fmt::format("rung climb {} --dtype {}", shell_word(model.path), dtype);
  if (model.device) command += " --device " + shell_word(model.device->word);
  if (model.threads > 0) command += fmt::format(" --threads {}", model.threads);
  command += task.words_of_plans;
  if (task.words_of_plans.empty())
    for (const auto& [name, shape] : model.shapes)
      command += " --shape " + shell_word(fmt::format("{}={}", name, fmt::join(shape, ",")));
  if (model.cache.length > 0) command += fmt::format(" --cache {}", model.cache.length);
  if (model.cache.scored_chunk > 0) command += fmt::format(" --scored-chunk {}", model.cache.scored_chunk);
  if (!model.inputs.source.empty()) command += " --inputs " + shell_word(model.inputs.source);
  if (!model.freeze.empty()) command += " --freeze " + shell_word(fmt::format("{}", fmt::join(model.freeze, ",")));
  if (model.random_weights) command += fmt::format(" --random-weights {}", *model.random_weights);
  return command;
}

// Adds all files that a climb leaves beside its plan.
Status add_notes(PendingFiles& files, const ClimbOutcome& outcome, const std::string& directory) {
  RUNG_CHECK(files.add(directory + "/recipe.json", recipe_text(outcome.recipe)));
  RUNG_CHECK(files.add(directory + "/trace.json", outcome.trace.to_json()));
  for (size_t i = 0; i < outcome.frontier.size(); ++i)
    RUNG_CHECK(files.add(directory + "/" + outcome.result.precision_search.wholes[i].recipe,
                         recipe_text(outcome.frontier[i])));
  return add_reports(files, outcome.result, directory);
}

// Checks limits that a caller stated, and that nothing beside them says another precision.
Status check_goal(const ClimbTask& task) {
  const PrecisionGoal& goal = task.goal;
  const auto named = [&](const char* option) { return task.model.named(option); };
  if (goal.rel_l2 && !(*goal.rel_l2 > 0 && *goal.rel_l2 < 1))
    return wrong_usage("{}: got {}, wanted a relative error above 0 and below 1", named("error"), *goal.rel_l2);
  if (goal.cosine && !(*goal.cosine > 0 && *goal.cosine < 1))
    return wrong_usage("{}: got {}, wanted a cosine above 0 and below 1", named("cosine"), *goal.cosine);
  if (goal.kl && !(*goal.kl > 0 && std::isfinite(*goal.kl)))
    return wrong_usage("{}: got {}, wanted a number above 0", named("kl"), *goal.kl);
  if (!goal.any()) return {};
  if (task.model.dtype == DType::bf16)
    return wrong_usage("{} bf16: a stated error chooses the type of every part; wanted no {}", named("dtype"),
                       named("dtype"));
  if (std::ranges::find(task.skip, "precision") != task.skip.end())
    return wrong_usage("{} precision: a stated error wants this rung", named("skip"));
  return {};
}

}  // namespace

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return text;
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Result<ClimbOptions> climb_options(const ClimbTask& task, const Opened& opened) {
  if (!opened.subject) return wrong_usage("'{}' is already a plan: climb a model directory", task.model.path);
  if (!(task.budget_s >= kLeastBudget))
    return wrong_usage("{}: got {} s, wanted at least {} s", task.model.named("budget"), task.budget_s, kLeastBudget);
  RUNG_CHECK(check_goal(task));
  if (opened.target->gpu) RUNG_CHECK(path_of_tool());  // it runs candidates of a GPU
  ClimbOptions climb{.target = opened.target,
                     .threads = threads_for(*opened.target, task.model.threads),
                     .may_change_threads = task.model.threads == 0,
                     .budget_s = task.budget_s,
                     .spent_s = task.spent_s,
                     .inputs = verification_inputs(opened),
                     .database_path = task.database,
                     .command = [task](DType dtype) { return command_of(task, dtype); }};
  if (task.model.dtype == DType::bf16) climb.dtype = DType::bf16;
  climb.goal = task.goal;
  for (const auto& name : task.skip) {
    if (!rung_named(name)) return wrong_usage("{}: there is no rung '{}'", task.model.named("skip"), name);
    climb.skip.insert(name);
  }
  if (task.interrupted) climb.interrupted = task.interrupted;
  if (task.progress) climb.progress = task.progress;
  if (task.decided) climb.decided = task.decided;
  if (task.device_failed) climb.device_failed = task.device_failed;
  return climb;
}

Result<ClimbOutcome> climb_model(const ClimbTask& task) {
  const int64_t began = now_ns();
  RUNG_TRY(Opened opened, open_model(task.model));
  RUNG_TRY(ClimbOptions options, climb_options(task, opened));
  RUNG_CHECK(begin_behind_texts({&task, 1}, {&opened, 1}));
  options.spent_s += static_cast<double>(now_ns() - began) * 1e-9;
  return climb(*opened.subject, options);
}

ClimbTexts texts_of(const ClimbOutcome& outcome) {
  return {.report = json_text(outcome.result, false),
          .recipe = recipe_text(outcome.recipe),
          .html = render_html(outcome.result),
          .markdown = to_markdown(outcome.result),
          .trace = outcome.trace.to_json()};
}

Result<PlanSet> save_climbs(const std::vector<ClimbOfSet>& climbs, const std::string& directory) {
  std::vector<Plan> made;
  for (const ClimbOfSet& climb : climbs) made.push_back(*climb.outcome.plan);
  RUNG_TRY(PlanSet plans, PlanSet::make(std::move(made)));
  PendingFiles files;
  RUNG_CHECK(add_plans(files, plans, directory + "/plan.rung"));
  for (const ClimbOfSet& climb : climbs) {
    const std::string folder = directory + "/" + climb.folder;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return fail("'{}': cannot make the folder: {}", folder, error.message());
    RUNG_CHECK(add_notes(files, climb.outcome, folder));
  }
  RUNG_CHECK(files.commit());
  return plans;
}

Status save_climb(ClimbOutcome& outcome, const std::string& directory, const std::function<double()>& spent) {
  PendingFiles files;
  RUNG_CHECK(add_plans(files, PlanSet(outcome.plan), directory + "/plan.rung"));
  if (spent) outcome.result.total_s = spent();
  RUNG_CHECK(add_notes(files, outcome, directory));
  return files.commit();
}

}  // namespace rung::tasks
