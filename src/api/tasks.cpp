// Tasks of the command line from the C interface: each result as its JSON.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "api/answer.hpp"
#include "api/asked_to_end.hpp"
#include "api/options.hpp"
#include "base/json.hpp"
#include "open/recipe.hpp"
#include "tasks/bench.hpp"
#include "tasks/compare.hpp"
#include "tasks/explain.hpp"
#include "tasks/profile.hpp"
#include "tasks/verify.hpp"

namespace rung {
namespace {

// Reads the options that all tasks take.
template <class Task>
Result<Task> task_of(const char* path, const rung_task_options& options) {
  Task task;
  RUNG_TRY(task.model, model_options(path, options.model));
  RUNG_TRY(task.model.inputs, arrays_of(options.inputs, options.input_count, "inputs"));
  if (options.recipe) {
    RUNG_TRY(task.recipe, parse_recipe(options.recipe));
  }
  if constexpr (requires { task.interrupted; }) task.interrupted = asked_to_end(options.goes_on, options.context);
  return task;
}

// Runs a task: `run` takes its options and gives its result, of which to_json() makes the text.
template <class Run>
rung_status told(const char* path, const rung_task_options* options, char** json, const Run& run) {
  return answer([&]() -> Status {
    RUNG_CHECK(want(json, "json"));
    RUNG_TRY(auto given, options_of(options, rung_task_options RUNG_TASK_OPTIONS_INIT, "rung_task_options"));
    RUNG_TRY(auto result, run(path, given));
    *json = copy_of(dump_json(to_json(result)));
    return {};
  });
}

Result<tasks::Verified> run_verify(const char* path, const rung_task_options& options) {
  RUNG_TRY(auto task, task_of<tasks::VerifyTask>(path, options));
  if (options.reference_count > 0) {
    RUNG_TRY(task.reference, arrays_of(options.reference, options.reference_count, "reference"));
  }
  return tasks::verify(task);
}

Result<tasks::Benched> run_bench(const char* path, const rung_task_options& options) {
  RUNG_TRY(auto task, task_of<tasks::BenchTask>(path, options));
  if (options.runs != 0) task.runs = options.runs;
  task.rate_hz = options.rate_hz;
  RUNG_TRY(tasks::Benched benched, tasks::bench(task));
  if (benched.interrupted)
    return was_interrupted("interrupted after {} of {} runs", benched.measured.latency.runs, task.runs);
  return benched;
}

Result<tasks::Profiled> run_profile(const char* path, const rung_task_options& options) {
  RUNG_TRY(auto task, task_of<tasks::ProfileTask>(path, options));
  return tasks::profile(task);
}

Result<tasks::Explanation> run_explain(const char* path, const rung_task_options& options) {
  RUNG_TRY(auto task, task_of<tasks::ExplainTask>(path, options));
  return tasks::explain(task);
}

Result<tasks::CompareSide> side_of(const char* path, const char* recipe, const char* tool) {
  tasks::CompareSide side{.path = path, .recipe = {}, .recipe_name = {}, .tool = tool ? tool : ""};
  if (!recipe) return side;
  side.recipe_name = "given";
  RUNG_TRY(side.recipe, parse_recipe(recipe));
  return side;
}

Result<tasks::CompareTask> compare_task(const char* a, const char* b, const rung_compare_options& options) {
  if (!b && !options.recipe_a && !options.recipe_b && !options.tool_a && !options.tool_b)
    return wrong_usage("got NULL for 'b', wanted a path, or a recipe or tool that makes it differ from 'a'");
  tasks::CompareTask task;
  RUNG_TRY(task.model, model_options(a, options.model));
  RUNG_TRY(task.model.inputs, arrays_of(options.inputs, options.input_count, "inputs"));
  RUNG_TRY(task.a, side_of(a, options.recipe_a, options.tool_a));
  RUNG_TRY(task.b, side_of(b ? b : a, options.recipe_b, options.tool_b));
  task.max_slowdown = options.max_slowdown;
  task.budget_s = options.budget_s;
  return task;
}

}  // namespace
}  // namespace rung

rung_status rung_verify(const char* path, const rung_task_options* options, char** json) {
  return rung::told(path, options, json, rung::run_verify);
}

rung_status rung_bench(const char* path, const rung_task_options* options, char** json) {
  return rung::told(path, options, json, rung::run_bench);
}

rung_status rung_profile(const char* path, const rung_task_options* options, char** json) {
  return rung::told(path, options, json, rung::run_profile);
}

rung_status rung_explain(const char* path, const rung_task_options* options, char** json) {
  return rung::told(path, options, json, rung::run_explain);
}

rung_status rung_compare(const char* a, const char* b, const rung_compare_options* options, char** json) {
  return rung::answer([&]() -> rung::Status {
    RUNG_CHECK(rung::want(json, "json"));
    RUNG_TRY(auto given,
             rung::options_of(options, rung_compare_options RUNG_COMPARE_OPTIONS_INIT, "rung_compare_options"));
    RUNG_TRY(const rung::tasks::CompareTask task, rung::compare_task(a, b, given));
    RUNG_TRY(const rung::tasks::Compared compared, rung::tasks::compare(task));
    *json = rung::copy_of(rung::dump_json(to_json(compared)));
    return {};
  });
}

void rung_free(char* text) { delete[] text; }
