// Opens both sides, gives them the same inputs, compares their outputs, and races them.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/compare.hpp"

#include <algorithm>

#include "base/scratch_folder.hpp"
#include "base/tool.hpp"
#include "ladder/schedule.hpp"
#include "measure/clock.hpp"
#include "measure/interleave.hpp"
#include "tasks/climb.hpp"
#include "tasks/compare_sides.hpp"
#include "tasks/contestant.hpp"
#include "tasks/verify.hpp"

namespace rung::tasks {
namespace {

using Contestants = std::array<std::unique_ptr<Contestant>, 2>;

constexpr std::array<std::string_view, 2> kSides{"A", "B"};
constexpr double kHalfWidth = 0.002;     // a narrower interval is of no use
constexpr double kPatienceShare = 0.25;  // of the budget, spent on narrowing a clear answer
constexpr double kStartsOfBudget = 24;   // if fewer fit, there is one start: a dozen pairs decide any factor

Status check_task(const CompareTask& task) {
  const auto named = [&](std::string_view option) { return task.model.named(option); };
  if (!(task.max_slowdown >= kLeastSlowdown && task.max_slowdown <= kMostSlowdown))
    return wrong_usage("{}: got {}, wanted {} to {} of the time of A",
                       named(task.model.command_line ? "max-slowdown" : "max_slowdown"), task.max_slowdown,
                       kLeastSlowdown, kMostSlowdown);
  if (!(task.budget_s >= kLeastBudget))
    return wrong_usage("{}: got {} s, wanted at least {} s", named("budget"), task.budget_s, kLeastBudget);
  return {};
}

// One side of the race. Each block runs in a new session or process, so that pairs of blocks are independent, and the
// interval includes what varies by chance between starts. If too few starts fit the budget it is started once.
class Racer {
 public:
  Racer(Contestant& side, std::string_view name, const CompareTask& task) : side_(&side), name_(name), task_(&task) {}

  Result<double> block() {
    if (task_->interrupted()) return was_interrupted("interrupted");
    if (starts_ == 0 || start_s_ <= task_->budget_s / kStartsOfBudget) RUNG_CHECK(start());
    auto seconds = side_->block();
    if (!seconds) return fail_in(seconds.error(), "{}", name_);
    if (!(*seconds > 0))  // the clock cannot measure it, and it has no ratio
      return fail("{}: a run took {} s, wanted more than 0: there is nothing to compare", name_, *seconds);
    return *seconds;
  }
  int starts() const { return starts_; }

 private:
  Status start() {
    Status started;
    start_s_ = seconds_of([&] { started = side_->renew(); });
    ++starts_;
    return started ? Status{} : fail_in(started.error(), "{}", name_);
  }
  Contestant* side_;
  std::string_view name_;
  const CompareTask* task_;
  double start_s_ = 0;
  int starts_ = 0;
};

// The programs of both sides, and the folder and input file that they share.
struct Tools {
  ScratchFolder folder;
  std::string inputs;
  std::array<std::string, 2> programs;
};

Result<Tools> tools_of(const CompareTask& task, const NamedTensors& inputs) {
  RUNG_TRY(ScratchFolder folder, ScratchFolder::create());
  Tools tools{.folder = std::move(folder), .inputs = {}, .programs = {task.a.tool, task.b.tool}};
  tools.inputs = tools.folder / "inputs.npz";
  RUNG_CHECK(write_npz(tools.inputs, inputs));
  for (std::string& program : tools.programs)
    if (program.empty()) {
      RUNG_TRY(program, path_of_tool());
    }
  return tools;
}

Status start_tools(const Tools& tools, const std::array<OpenedSide, 2>& sides, Contestants& contestants,
                   Compared& compared) {
  for (size_t i = 0; i < 2; ++i) {
    const std::string scratch = tools.folder / (std::string(kSides[i]) + "-");
    RUNG_TRY((i == 0 ? compared.a : compared.b).version, version_of_tool(tools.programs[i], scratch));
    RUNG_TRY(auto arguments, arguments_of(sides[i], scratch + "recipe.json"));
    auto started = contestant_of(OtherTool{tools.programs[i], std::move(arguments), tools.inputs, scratch});
    if (!started) return fail_in(started.error(), "{}", kSides[i]);
    contestants[i] = std::move(*started);
  }
  return {};
}

Status start_sessions(const std::array<OpenedSide, 2>& sides, const NamedTensors& inputs, Contestants& contestants) {
  for (size_t i = 0; i < 2; ++i) {
    auto started = contestant_of(sides[i].plan, inputs);
    if (!started) return fail_in(started.error(), "{}", kSides[i]);
    contestants[i] = std::move(*started);
  }
  return {};
}

ComparedSide facts_of(const OpenedSide& side) {
  ComparedSide facts{.path = side.asked.path,
                     .recipe = side.asked.recipe_name,
                     .tool = side.asked.tool,
                     .version = {},
                     .precision = precision_of(side)};
  if (side.plan) facts.threads = side.plan->recipe.threads, facts.launches = static_cast<int>(side.plan->steps.size());
  return facts;
}

Tensor in_f32(const Tensor& value) { return is_float(value.dtype()) ? convert(value, DType::f32) : value; }

std::vector<std::string> only_in(const NamedTensors& here, const NamedTensors& there) {
  std::vector<std::string> names;
  for (const auto& [name, value] : here)
    if (!there.contains(name)) names.push_back(name);
  return names;
}

// Allows each side the error of its precision: the tolerance between the sides is the sum of both.
Status compare_outputs(const Contestants& sides, Compared& compared) {
  std::array<NamedTensors, 2> given;
  for (size_t i = 0; i < 2; ++i) {
    auto outputs = sides[i]->outputs();
    if (!outputs) return fail_in(outputs.error(), "{}", kSides[i]);
    given[i] = std::move(*outputs);
  }
  std::vector<std::string> names;
  std::vector<Tensor> got, want;
  for (const auto& [name, value] : given[0]) {
    const auto other = given[1].find(name);
    if (other == given[1].end()) continue;
    names.push_back(name), want.push_back(in_f32(value)), got.push_back(in_f32(other->second));
  }
  compared.only_in_a = only_in(given[0], given[1]), compared.only_in_b = only_in(given[1], given[0]);
  for (const DType precision : {compared.a.precision, compared.b.precision}) {
    const Tolerance one = tolerance_of_graph(precision);
    compared.tolerance.rel_l2 += one.rel_l2, compared.tolerance.element += one.element;
  }
  compared.outputs = verify_outputs(names, got, want, compared.tolerance);
  return {};
}

Status race(const CompareTask& task, const Contestants& sides, Compared& compared) {
  const Interleaver interleaver({.half_width = kHalfWidth,
                                 .budget_s = task.budget_s,
                                 .min_pairs = kSchedule.race_least_pairs,
                                 .warmup = 0,
                                 .runs = 1,
                                 .noise = kSchedule.race_noise,
                                 .patience_s = kPatienceShare * task.budget_s,
                                 .boundary = 1 / (1 + task.max_slowdown),
                                 .anytime = true});
  Racer a(*sides[0], kSides[0], task), b(*sides[1], kSides[1], task);
  RUNG_TRY(const InterleaveResult raced, interleaver.compare([&] { return a.block(); }, [&] { return b.block(); }));
  compared.speedup = Speedup::of(raced);
  compared.starts = std::min(a.starts(), b.starts());
  return {};
}

}  // namespace

Result<Compared> compare(const CompareTask& task) {
  RUNG_CHECK(check_task(task));
  RUNG_TRY(const auto sides, open_sides(task));
  RUNG_CHECK(check_comparable(sides[0].ports, sides[1].ports));
  NamedTensors frozen = sides[0].ports.frozen;
  frozen.insert(sides[1].ports.frozen.begin(), sides[1].ports.frozen.end());
  const NamedTensors inputs = shared_inputs(sides[0].opened, sides[0].plan, sides[0].opened.given, frozen);

  Compared compared{.a = facts_of(sides[0]), .b = facts_of(sides[1]), .device = sides[0].ports.fingerprint};
  compared.max_slowdown = task.max_slowdown;
  const bool by_tools = !task.a.tool.empty() || !task.b.tool.empty();
  const DisturbanceWatch watch;
  std::optional<Tools> tools;  // outlives the programs
  Contestants contestants;
  if (by_tools) {
    RUNG_TRY(tools, tools_of(task, inputs));
    RUNG_CHECK(start_tools(*tools, sides, contestants, compared));
  } else {
    RUNG_CHECK(start_sessions(sides, inputs, contestants));
  }
  RUNG_CHECK(compare_outputs(contestants, compared));
  RUNG_CHECK(race(task, contestants, compared));
  contestants = {};  // the work of a program counts as this one's own once it has ended
  compared.disturbance = watch.so_far();
  return compared;
}

std::string_view name_of(Pace pace) {
  constexpr std::array<std::string_view, 4> kNames{"faster", "within_limit", "slower", "unclear"};
  return kNames[static_cast<size_t>(pace)];
}

Pace pace_of(const Speedup& b_over_a, double max_slowdown) {
  const double most = 1 / (1 + max_slowdown);  // the least ratio within the limit
  if (!b_over_a.raced()) return Pace::unclear;
  if (b_over_a.ci95.hi < most) return Pace::slower;
  if (!(b_over_a.ci95.lo >= most)) return Pace::unclear;
  return b_over_a.ci95.lo > 1 ? Pace::faster : Pace::within_limit;
}

}  // namespace rung::tasks
