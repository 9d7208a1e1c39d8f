// Tasks that the command line does as well: verify, bench, profile, explain, compare.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rung/model.hpp>

#include <exception>
#include <functional>

namespace rung::api {

// Options of a task; the fields are documented in rung_task_options.
struct TaskOptions {
  Options model = {};
  Tensors inputs = {}, reference = {};
  std::string recipe = {};  // JSON; empty: the default one
  int runs = 0;
  double rate_hz = 0;
  std::function<bool()> goes_on = {};  // an exception that it throws ends the work, and leaves the call
};

// Options of a comparison; the fields are documented in rung_compare_options.
struct CompareOptions {
  Options model = {};
  Tensors inputs = {};
  std::string recipe_a = {}, recipe_b = {};  // JSON; empty: the default one
  std::string tool_a = {}, tool_b = {};      // programs; empty: this build
  double max_slowdown = 0.03;
  double budget_s = 20;
};

namespace detail {

// A callback that C can call: it keeps an exception until the work has ended.
struct Asker {
  const std::function<bool()>& goes_on;
  std::exception_ptr thrown;
  static bool ask(void* context) {
    auto* self = static_cast<Asker*>(context);
    try {
      return self->goes_on();
    } catch (...) {
      self->thrown = std::current_exception();
      return false;
    }
  }
};

using Task = rung_status (*)(const char*, const rung_task_options*, char**);

inline Result<std::string> run_task(Task task, const std::string& path, const TaskOptions& options) {
  if (Status status = check_nuls(path, options.model); !status) return status;
  if (Status status = check_nul("recipe", options.recipe); !status) return status;
  for (const Tensors* tensors : {&options.inputs, &options.reference})
    if (Status status = check_bytes(*tensors); !status) return status;
  const COptions model(options.model);
  const CTensors inputs(options.inputs), reference(options.reference);
  rung_task_options c RUNG_TASK_OPTIONS_INIT;
  c.model = &model.options;
  c.inputs = inputs.named.data(), c.input_count = inputs.named.size();
  c.reference = reference.named.data(), c.reference_count = reference.named.size();
  if (!options.recipe.empty()) c.recipe = options.recipe.c_str();
  c.runs = options.runs;
  c.rate_hz = options.rate_hz;
  Asker asker{options.goes_on, nullptr};
  if (options.goes_on) c.goes_on = &Asker::ask, c.context = &asker;
  char* json = nullptr;
  const rung_status code = task(path.c_str(), &c, &json);
  if (asker.thrown) std::rethrow_exception(asker.thrown);
  if (code) return Status::of(code);
  const std::unique_ptr<char, Closer<&rung_free>> owner(json);
  return std::string(json);
}

}  // namespace detail

// Return the JSON that the command of that name prints. A verification that fails gives a text with "passed": false.
inline Result<std::string> verify(const std::string& path, const TaskOptions& options = {}) {
  return detail::run_task(&rung_verify, path, options);
}
inline Result<std::string> bench(const std::string& path, const TaskOptions& options = {}) {
  return detail::run_task(&rung_bench, path, options);
}
inline Result<std::string> profile(const std::string& path, const TaskOptions& options = {}) {
  return detail::run_task(&rung_profile, path, options);
}
inline Result<std::string> explain(const std::string& path, const TaskOptions& options = {}) {
  return detail::run_task(&rung_explain, path, options);
}

// Returns the JSON that `rung compare` prints. If `b` is empty, `a` runs by another recipe or tool. The text's
// "verdict" says if B is slower.
inline Result<std::string> compare(const std::string& a, const std::string& b, const CompareOptions& options = {}) {
  for (const std::string* path : {&a, &b})
    if (Status status = detail::check_nuls(*path, options.model); !status) return status;
  const std::pair<const char*, const std::string*> texts[] = {{"recipe_a", &options.recipe_a},
                                                              {"recipe_b", &options.recipe_b},
                                                              {"tool_a", &options.tool_a},
                                                              {"tool_b", &options.tool_b}};
  for (const auto& [name, text] : texts)
    if (Status status = detail::check_nul(name, *text); !status) return status;
  if (Status status = detail::check_bytes(options.inputs); !status) return status;
  const detail::COptions model(options.model);
  const detail::CTensors inputs(options.inputs);
  const auto given = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
  rung_compare_options c RUNG_COMPARE_OPTIONS_INIT;
  c.model = &model.options;
  c.inputs = inputs.named.data(), c.input_count = inputs.named.size();
  c.recipe_a = given(options.recipe_a), c.recipe_b = given(options.recipe_b);
  c.tool_a = given(options.tool_a), c.tool_b = given(options.tool_b);
  c.max_slowdown = options.max_slowdown, c.budget_s = options.budget_s;
  char* json = nullptr;
  if (auto code = rung_compare(a.c_str(), given(b), &c, &json)) return Status::of(code);
  const std::unique_ptr<char, detail::Closer<&rung_free>> owner(json);
  return std::string(json);
}

}  // namespace rung::api
