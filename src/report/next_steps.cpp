// Derives reasons for next steps from the receipts of the climb.
// SPDX-License-Identifier: Apache-2.0
#include "report/next_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "report/commands.hpp"
#include "report/format.hpp"
#include "report/speedup_lines.hpp"

namespace rung::report {
namespace {

using Steps = std::vector<NextStep>;

constexpr int kLeastLength = 16;  // tokens: a plan for half of fewer is not worth having

void add_run(const ClimbResult& r, Steps& steps) {
  if (!r.verified) {
    steps.push_back(
        {"Find what breaks the answers",
         "The plan is not verified: do not use it. This turns rungs and passes off until the answers are right.",
         {"rung verify " + subject_words(r) + recipe_words(r) + " --bisect"}});
    return;
  }
  const std::string_view inputs = r.takes_text ? "model.encode(\"A sentence.\")" : "np.load(\"inputs.npz\")";
  steps.push_back(
      {"Run this plan",
       "plan.rung holds the weights and every decision; loading it compiles nothing. From a shell, Python and C++:",
       {r.takes_text ? "rung run plan.rung --text \"A sentence.\""
                     : "rung run plan.rung --inputs inputs.npz --outputs outputs.npz",
        fmt::format("import rung{}\nmodel = rung.load(\"plan.rung\")\noutputs = model(**{})",
                    r.takes_text ? "" : "\nimport numpy as np", inputs),
        "#include <rung/rung.hpp>\nauto model = rung::api::Model::open(\"plan.rung\");\n"
        "auto session = model->session();  // what one thread runs; check both for errors"}});
  steps.push_back({"See the difference yourself",
                   "Both in turns, on the same inputs: the plan, and the model as it runs without a climb.",
                   {"rung compare " + subject_words(r) + kept_dtype_words(r) + " plan.rung"}});
}

void add_precision(const ClimbResult& r, Steps& steps) {
  const CheaperPrecision& cheaper = r.cheaper;
  if (cheaper.dtype.empty() || !cheaper.speedup.is_faster() || cheaper.command.empty()) return;
  steps.push_back(
      {"A cheaper precision",
       fmt::format("{} would be {} {}, with a relative L2 error of {} and a cosine of {}. It changes the answers, "
                   "so this climb only timed it.",
                   printable(cheaper.dtype), factor_text(cheaper.speedup), interval_text(cheaper.speedup),
                   scientific(cheaper.rel_l2), fixed(cheaper.cosine, 6)),
       {printable(cheaper.command)}});
}

// Receipts of other thread counts are named "1 thread", "4 threads".
bool is_of_threads(const Receipt& receipt) {
  return receipt.name.ends_with(" thread") || receipt.name.ends_with(" threads");
}

void add_threads(const ClimbResult& r, Steps& steps) {
  const bool tried = std::ranges::any_of(r.rungs, [](const Receipt& x) { return is_of_threads(x) && was_tried(x); });
  if (tried || r.threads < 2) return;
  steps.push_back({"Threads",
                   fmt::format("Only {} threads were tried. Fewer are often faster beside other programs.", r.threads),
                   {"rung climb " + subject_words(r, {.threads = r.threads / 2, .shape = {}}) + dtype_words(r)}});
}

// Returns the tokens of "input_ids=i64[1,128]" among the shapes; 0: the shapes have no such input.
int tokens_of(const std::string& shapes) {
  constexpr std::string_view kInput = "input_ids=i64[1,";
  const size_t at = shapes.find(kInput);
  int tokens = 0;
  if (at != std::string::npos)
    std::from_chars(shapes.data() + at + kInput.size(), shapes.data() + shapes.size(), tokens);
  return tokens;
}

void add_lengths(const ClimbResult& r, Steps& steps) {
  const int tokens = tokens_of(r.shapes);
  if (!r.takes_text || tokens < kLeastLength) return;
  steps.push_back(
      {"Other lengths",
       fmt::format("A plan reads one length: shorter texts are padded to {} tokens, longer ones are cut. Where "
                   "yours are shorter, climb a plan for them too.",
                   tokens),
       {"rung climb " + subject_words(r, {.shape = fmt::format("input_ids=1,{}", tokens / 2)}) + dtype_words(r)}});
}

void add_budget(const ClimbResult& r, Steps& steps) {
  const long untried = r.untried + std::ranges::count_if(r.rungs, [](const Receipt& x) { return !was_tried(x); });
  if (untried == 0 || !(r.budget_s > 0)) return;
  steps.push_back({"A longer budget",
                   fmt::format("There was no time to try {}. What was tuned is kept for the next climb.",
                               counted(untried, "change")),
                   {climb_command(r) + fmt::format(" --budget {:.0f}s", std::ceil(2 * r.budget_s))}});
}

}  // namespace

std::vector<NextStep> next_steps(const ClimbResult& result) {
  Steps steps;
  add_run(result, steps);
  add_precision(result, steps);
  add_threads(result, steps);
  add_lengths(result, steps);
  add_budget(result, steps);
  return steps;
}

}  // namespace rung::report
