// Compares two plans, models, recipes or builds of the tool in turns: which is faster, and whether outputs agree.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "ladder/speedup.hpp"
#include "measure/compare.hpp"
#include "measure/disturbance.hpp"
#include "open/options.hpp"
#include "plan/recipe.hpp"

namespace rung::tasks {

struct CompareSide {
  std::string path;              // a model directory or a plan
  std::optional<Recipe> recipe;  // of a directory; none: the default one
  std::string recipe_name;       // its name in results: the file's
  std::string tool;              // the program of another build; empty: this one
};

struct CompareTask {
  CompareSide a, b;
  OpenOptions model;  // of both sides; if one is a plan, of the directory only. Its path is not read
  double max_slowdown = 0.03;
  double budget_s = 20;  // of the race only
  std::function<bool()> interrupted = [] { return false; };
};
inline constexpr double kLeastSlowdown = 0.001, kMostSlowdown = 100;

// States where the interval of B's time over A's lies: below 1, below the limit, above it, or on both sides of it.
enum class Pace : uint8_t { faster, within_limit, slower, unclear };
std::string_view name_of(Pace pace);
Pace pace_of(const Speedup& b_over_a, double max_slowdown);

// Facts about one side; for another tool, its model and its version.
struct ComparedSide {
  std::string path, recipe, tool, version;
  DType precision = DType::f32;
  std::optional<int> threads, launches;
};

struct Compared {
  ComparedSide a, b;
  std::string device;
  Speedup speedup;  // of B over A
  int starts = 0;   // of each side, as a new session or process; 1: the ratio includes that start's chance
  double max_slowdown = 0;
  Verification outputs;  // B's against A's, of the outputs that both have
  Tolerance tolerance;
  std::vector<std::string> only_in_a, only_in_b;  // outputs
  Disturbance disturbance;                        // from the first start of a side to the end of the race

  Pace pace() const { return pace_of(speedup, max_slowdown); }
  bool outputs_agree() const { return outputs.passed && only_in_a.empty() && only_in_b.empty(); }
};

// Runs both sides in this process, like the sides of a climb's races; if either has a tool, runs both in separate
// programs, which answer in turns. Errors: those of opening and building; sides that cannot be compared
// (check_comparable()), a limit or budget out of range (usage), a tool that does not start or answer, a run that takes
// no time, an interrupt.
Result<Compared> compare(const CompareTask& task);
nlohmann::json to_json(const Compared& compared);

// Returns "B is 1.08 × slower than A, beyond the limit of 3 %".
std::string headline_of(const Compared& compared);
// Returns "B takes 1.081 × the time of A [1.072, 1.090], in 125 pairs".
std::string ratio_line(const Compared& compared);
std::string outputs_line(const Compared& compared);
// Returns Markdown for a comment on a pull request.
std::string to_markdown(const Compared& compared);

}  // namespace rung::tasks
