// Two plans, models, recipes or builds of the tool in turns: which is faster, and do they give the same outputs?
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "ladder/speedup.hpp"
#include "measure/compare.hpp"
#include "open/options.hpp"
#include "plan/recipe.hpp"

namespace rung::tasks {

struct CompareSide {
  std::string path;              // a model directory or a plan
  std::optional<Recipe> recipe;  // of a directory; none: the default one
  std::string recipe_name;       // what a result calls it: its file
  std::string tool;              // the program of another build; empty: this one
};

struct CompareTask {
  CompareSide a, b;
  OpenOptions model;  // of both; where one side is a plan, of the directory alone. Its path is not read
  double max_slowdown = 0.03;
  double budget_s = 20;  // of the race alone
  std::function<bool()> interrupted = [] { return false; };
};
inline constexpr double kLeastSlowdown = 0.001, kMostSlowdown = 100;

// Where the interval of the time of B over that of A lies: below 1, below the limit, above it, or on both of its sides.
enum class Pace : uint8_t { faster, within_limit, slower, unclear };
std::string_view name_of(Pace pace);
Pace pace_of(const Speedup& b_over_a, double max_slowdown);

// Facts of one side; of another tool, its model and its version.
struct ComparedSide {
  std::string path, recipe, tool, version;
  DType precision = DType::f32;
  std::optional<int> threads, launches;
};

struct Compared {
  ComparedSide a, b;
  std::string device;
  Speedup speedup;  // of B over A
  int starts = 0;   // of each side, as a session or process of its own: 1, and what is by chance in it is in the ratio
  double max_slowdown = 0;
  Verification outputs;  // B's against A's, of those that both have
  Tolerance tolerance;
  std::vector<std::string> only_in_a, only_in_b;  // outputs

  Pace pace() const { return pace_of(speedup, max_slowdown); }
  bool outputs_agree() const { return outputs.passed && only_in_a.empty() && only_in_b.empty(); }
};

// Both sides run in this process, as the sides of a climb's races do; where either has a tool, both run in programs of
// their own, which answer in turns. Errors: those of opening and building; sides that have nothing to compare by
// (check_comparable()), a limit or budget out of range (usage), a tool that does not start or answer, a run that takes
// no time, an interrupt.
Result<Compared> compare(const CompareTask& task);
nlohmann::json to_json(const Compared& compared);

// "B is 1.08 × slower than A, beyond the limit of 3 %"
std::string headline_of(const Compared& compared);
// "B takes 1.081 × the time of A [1.072, 1.090], in 125 pairs"
std::string ratio_line(const Compared& compared);
std::string outputs_line(const Compared& compared);
// For a comment on a pull request.
std::string to_markdown(const Compared& compared);

}  // namespace rung::tasks
