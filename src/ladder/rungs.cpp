// The ladder.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/rungs.hpp"

#include <fmt/format.h>

#include <array>

#include "base/words.hpp"
#include "plan/joined.hpp"
#include "session/session.hpp"

namespace rung {
namespace {

void capture(Recipe& recipe, bool on) { recipe.capture = on; }
std::vector<std::string> capture_notes(Session& session) { return session.recorder().capture_notes(); }
void join(Recipe& recipe, bool on) { recipe.joined = on; }
std::vector<std::string> join_notes(Session& session) {
  const Plan& plan = session.plan();
  return {fmt::format("{} steps in {}", plan.steps.size(), words::counted(steps_of_launches(plan).size(), "launch"))};
}
void tuned(Recipe& recipe, bool on) {
  recipe.tuned_kernels = on;
  if (!on) recipe.choices.clear();
}
void narrow(Recipe& recipe, bool on) { recipe.precision = everywhere(on ? DType::bf16 : DType::f32); }

using enum Category;

constexpr std::array<Rung, 10> kLadder{{
    {.name = "reduce", .what = "exact work removal", .touches = bits_of(copy, elementwise, other)},
    {.name = "capture",
     .what = "one bound launch list instead of dispatching op by op",
     .passes = false,
     .set = capture,
     .notes = capture_notes,
     .touches = bits_of(launch)},
    {.name = "attention", .what = "softmax(QK)V as one kernel, no transposes", .touches = bits_of(attention, copy)},
    {.name = "gemm",
     .what = "backend and algorithm per problem, by measurement",
     .passes = false,
     .set = tuned,
     .touches = bits_of(gemm, attention, normalisation, other)},
    {.name = "projection", .what = "projections of one input as one GEMM", .touches = bits_of(gemm), .reach = 0.2},
    {.name = "fusion",
     .what = "norms, activations, residuals, bias and casts folded into neighbours",
     .touches = bits_of(normalisation, elementwise, copy)},
    {.name = "regions",
     .what = "what is left around reductions of rows as one kernel",
     .touches = bits_of(normalisation, elementwise, copy, other)},
    {.name = "join",
     .what = "products that follow from each other in one launch",
     .passes = false,
     .set = join,
     .notes = join_notes,
     .touches = bits_of(gemm, launch)},
    {.name = "tune",
     .what = "kernel choices refined on the whole model",
     .passes = false,
     .how = How::refine,
     .needs = "gemm",
     .touches = bits_of(gemm, attention, normalisation, other),
     .reach = 0.1},
    {.name = "precision",
     .what = "bf16 contractions",
     .set = narrow,
     .opt_in = true,
     .touches = bits_of(gemm, attention)},
}};

}  // namespace

void Rung::apply(Recipe& recipe) const {
  if (passes) recipe.rungs.emplace(name);
  if (set) set(recipe, true);
}

void Rung::remove(Recipe& recipe) const {
  if (passes) recipe.rungs.erase(std::string(name));
  if (set) set(recipe, false);
}

std::span<const Rung> ladder() { return kLadder; }
const Rung* rung_named(std::string_view name) {
  for (const Rung& rung : kLadder)
    if (rung.name == name) return &rung;
  return nullptr;
}

Recipe baseline_recipe(int threads, Precision precision) {
  Recipe recipe{.as_written = true, .precision = std::move(precision), .threads = threads};
  if (narrowest(recipe.precision) != DType::f32) recipe.rungs.emplace("precision");
  return recipe;
}

}  // namespace rung
