// What the command line also does, as JSON texts.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <memory>
#include <utility>

#include "core/errors.hpp"
#include "core/hearing.hpp"
#include "core/model.hpp"
#include "core/options.hpp"

namespace rung::python {
namespace {

using Task = rung_status (*)(const char*, const rung_task_options*, char**);
constexpr std::pair<const char*, Task> kTasks[] = {
    {"verify", rung_verify}, {"bench", rung_bench}, {"profile", rung_profile}, {"explain", rung_explain}};

Task find_task(const std::string& name) {
  for (const auto& [known, task] : kTasks)
    if (name == known) return task;
  raise(RUNG_USAGE, "there is no task '" + name + "'");
}

// Lets Python's handlers of signals run between runs.
bool goes_on(void* context) {
  return heard(*static_cast<std::exception_ptr*>(context), [] {});
}

// `options`: OpenOptions', inputs, reference, recipe, runs, rate_hz.
std::string run_task(const std::string& name, nb::handle where, const nb::dict& options) {
  const std::string path = path_of(where, "path");
  Task task = find_task(name);
  OpenOptions open(options);
  NamedArrays inputs(options["inputs"]), reference(options["reference"], "output");
  auto recipe = nb::cast<std::optional<std::string>>(options["recipe"]);
  rung_task_options with = RUNG_TASK_OPTIONS_INIT;
  with.model = open.get();
  with.inputs = inputs.data();
  with.input_count = inputs.size();
  with.recipe = recipe ? recipe->c_str() : nullptr;
  with.runs = nb::cast<int32_t>(options["runs"]);
  with.rate_hz = nb::cast<double>(options["rate_hz"]);
  with.reference = reference.data();
  with.reference_count = reference.size();
  std::exception_ptr raised;
  with.goes_on = goes_on;
  with.context = &raised;
  char* json = nullptr;
  rung_status status = RUNG_OK;
  {
    const ReleasedGil released;
    status = task(path.c_str(), &with, &json);
  }
  if (raised) std::rethrow_exception(raised);
  check(status);
  std::unique_ptr<char, decltype(&rung_free)> owned(json, rung_free);
  return json;
}

// `options`: OpenOptions', inputs, recipe_a, recipe_b, tool_a, tool_b, max_slowdown, budget_s.
std::string compare(nb::handle a, nb::handle b, const nb::dict& options) {
  const std::string first = path_of(a, "a"), second = b.is_none() ? "" : path_of(b, "b");
  OpenOptions open(options);
  NamedArrays inputs(options["inputs"]);
  const auto text = [&](const char* name) { return nb::cast<std::optional<std::string>>(options[name]); };
  const auto tool = [&](const char* name) {
    return options[name].is_none() ? std::nullopt : std::optional(path_of(options[name], name));
  };
  const auto recipe_a = text("recipe_a"), recipe_b = text("recipe_b"), tool_a = tool("tool_a"), tool_b = tool("tool_b");
  const auto given = [](const std::optional<std::string>& value) { return value ? value->c_str() : nullptr; };
  rung_compare_options with = RUNG_COMPARE_OPTIONS_INIT;
  with.model = open.get();
  with.inputs = inputs.data();
  with.input_count = inputs.size();
  with.recipe_a = given(recipe_a), with.recipe_b = given(recipe_b);
  with.tool_a = given(tool_a), with.tool_b = given(tool_b);
  with.max_slowdown = nb::cast<double>(options["max_slowdown"]);
  with.budget_s = nb::cast<double>(options["budget_s"]);
  char* json = nullptr;
  rung_status status = RUNG_OK;
  {
    const ReleasedGil released;
    status = rung_compare(first.c_str(), b.is_none() ? nullptr : second.c_str(), &with, &json);
  }
  check(status);
  std::unique_ptr<char, decltype(&rung_free)> owned(json, rung_free);
  return json;
}

}  // namespace

void bind_tasks(nb::module_& module) {
  module.def("run_task", &run_task, nb::arg("name"), nb::arg("path").none(), nb::arg("options"),
             nb::sig("def run_task(name: str, path: str | bytes | os.PathLike[str], options: dict[str, typing.Any]) "
                     "-> str"),
             "The JSON text that the command of that name prints under --json.");
  module.def("compare", &compare, nb::arg("a").none(), nb::arg("b").none(), nb::arg("options"),
             nb::sig("def compare(a: str | bytes | os.PathLike[str], b: str | bytes | os.PathLike[str] | None, "
                     "options: dict[str, typing.Any]) -> str"),
             "The JSON text that the command compare prints under --json.");
}

}  // namespace rung::python
