// Verifies a plan by the judge, or against given outputs.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/verify.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ladder/workbench.hpp"
#include "open/inputs.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "plan/precision_json.hpp"
#include "reference/sequence.hpp"
#include "tasks/text_start.hpp"

namespace rung::tasks {
namespace {

using Json = nlohmann::json;

constexpr double kMostSeconds = 600;

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <class Named>
std::vector<std::string> names_in(const Named& values) {
  std::vector<std::string> names;
  for (const auto& value : values) names.push_back(value.first);
  return names;
}

// The array with which each output is compared, by output.
using ArrayNames = std::map<std::string, std::string>;

// Returns the array of the output's own name, or the one named in `map`.
Result<ArrayNames> array_names(const VerifyTask& task, const Plan& plan) {
  ArrayNames names;
  for (const auto& output : plan.outputs) names[output.name] = output.name;
  for (const auto& [output, array] : task.map) {
    auto name = names.find(output);
    if (name == names.end())
      return wrong_usage("{} {}={}: got output '{}', wanted one of: {}", task.model.named("map"), output, array, output,
                         fmt::join(names_in(names), ", "));
    name->second = array;
  }
  return names;
}

std::string in_file(const GivenArrays& arrays) {
  return arrays.source.empty() ? "" : fmt::format("'{}': ", arrays.source);
}

// Checks that every output has an array: an output that is not compared is not verified.
Status check_arrays(const GivenArrays& reference, const ArrayNames& names) {
  for (const auto& [output, array] : names)
    if (!reference.types.contains(array))
      return mismatch("{}holds no array '{}' to compare output '{}' with; it has: {}", in_file(reference), array,
                      output, fmt::join(names_in(reference.types), ", "));
  return {};
}

// Reads the arrays with which outputs are compared; other arrays are not unpacked.
Result<NamedTensors> read_reference(const GivenArrays& reference, const Plan& plan, const ArrayNames& names) {
  RUNG_CHECK(check_arrays(reference, names));
  return reference.read([&](const std::string& name, const Type& type) -> Result<bool> {
    bool wanted = false;
    for (const auto& output : plan.outputs) {
      if (names.at(output.name) != name) continue;
      if (type.shape != output.type.shape)
        return mismatch("{}array '{}': got shape {}, wanted {} for output '{}'", in_file(reference), name, type.shape,
                        output.type.shape, output.name);
      wanted = true;
    }
    return wanted;
  });
}

// Returns how far rounding alone moves the answers of a directory's f32 plan; used if the error is larger than the
// plan's length explains.
Result<std::optional<Sway>> sway_of(const VerifyTask& task, const Opened& opened, const Plan& plan) {
  const bool can = opened.subject && narrowest(plan.recipe.precision) == DType::f32 &&
                   can_evaluate(opened.subject->reference, 1, kMostSeconds);
  if (!can) return std::optional<Sway>();
  const NamedTensors inputs = sample_missing(*opened.subject, opened.given, 1);
  const Graph& reference = opened.subject->reference;
  RUNG_TRY(auto exact, evaluate_sequence(reference, {inputs}, {.interrupted = task.interrupted}));
  RUNG_TRY(Sway sway, rounding_sway(reference, exact, task.interrupted));
  return std::optional(sway);
}

// Refuses several sets of inputs where an option is for the answers to one.
Status wants_one_set(const OpenOptions& model, const Opened& opened, std::string_view option) {
  if (opened.further.empty()) return {};
  return wrong_usage("got {} sets of {}, wanted one with {}", 1 + opened.further.size(), model.named("inputs"),
                     model.named(option));
}

// Compares with given outputs. The tolerance is that of the output's dtype over a deep graph: f32 rounding of sums that
// long, and the sway of this model's answers; or the unit roundoff of bf16 if the recipe asks for it; or that of a
// graph in 16 bits, if its author made it so.
Result<Verified> verify_given(const VerifyTask& task, const Opened& opened) {
  RUNG_TRY(auto plan, plan_of(opened, task.recipe, task.model));
  RUNG_TRY(auto names, array_names(task, *plan));
  RUNG_TRY(auto arrays, read_reference(task.reference, *plan, names));
  RUNG_TRY(Session session, open_session(plan));
  RUNG_TRY(auto outputs, session.infer(opened.given));
  std::vector<std::string> compared;
  std::vector<Tensor> got, want;
  for (auto& [name, tensor] : outputs) {
    compared.push_back(name);
    got.push_back(std::move(tensor));
    want.push_back(arrays.at(names.at(name)));
  }
  const DType asked = narrowest(plan->recipe.precision);
  Verified verified{
      .tolerance = asked == DType::f32 ? tolerance_of_graph(computed_in(*plan)) : tolerance_for(asked, kDeepSum),
      .reason = "against " + (task.reference.source.empty() ? "given outputs" : task.reference.source)};
  verified.verification = verify_outputs(compared, got, want, verified.tolerance);
  if (verified.verification.passed) return verified;
  RUNG_TRY(std::optional<Sway> sway, sway_of(task, opened, *plan));
  if (!sway) return verified;
  verified.reason += fmt::format("; rounding alone moves the answers by {:.2g}", sway->rel_l2);
  verified.tolerance = tolerance_for_sway(verified.tolerance, *sway);
  verified.verification = verify_outputs(compared, got, want, verified.tolerance);
  return verified;
}

Status find_culprit(Workbench& bench, const Recipe& recipe, Verified& verified) {
  auto is_right = [&](const Recipe& tried) -> Result<bool> {
    RUNG_TRY(Attempt attempt, bench.attempt_as_is(tried));
    return attempt.right;
  };
  RUNG_TRY(verified.culprit, bisect(recipe, is_right));
  RUNG_TRY(verified.reproducer, reproducer(bench.subject().model.graph, *verified.culprit));
  return {};
}

// Lets a chunk of an encoder-decoder read a sampled source, whose states its encoder leaves. Others stay as they are.
Status give_source(const VerifyTask& task, Opened& opened) {
  const ClimbTask chunk{.model = task.model, .interrupted = task.interrupted};
  return begin_behind_texts({&chunk, 1}, {&opened, 1});
}

// Adds inputs of fresh seeds to those of the frozen ones, and makes the reference tell the watched values, too. Returns
// the fresh seeds.
Result<std::vector<uint64_t>> add_seeds(const VerifyTask& task, const Opened& opened, Subject& subject,
                                        std::vector<NamedTensors>& inputs) {
  if (task.seeds > kMostSeeds)
    return wrong_usage("{}: got {}, wanted 1 to {}", task.model.named("seeds"), task.seeds, kMostSeeds);
  if (task.seeds == 0) return std::vector<uint64_t>();
  if (gives_all_inputs(opened))
    return wrong_usage("{} {}: {} gives every input, wanted one that is left out, for seeds to sample",
                       task.model.named("seeds"), task.seeds, task.model.named("inputs"));
  const std::vector<uint64_t> seeds = fresh_seeds(task.seeds, task.first_seed);
  for (const uint64_t seed : seeds) inputs.push_back(sample_missing(subject, opened.given, seed));
  for (const std::string& label : subject.model.watched) RUNG_CHECK(observe(subject.reference, label));
  return seeds;
}

// Judges the plan that `rung build` makes of the recipe and `rung run` of a directory: tunes nothing and looks up
// nothing in a database.
Result<Verified> verify_subject(const VerifyTask& task, const Opened& opened) {
  Budget budget(kMostSeconds);
  std::vector<NamedTensors> inputs = verification_inputs(opened);
  Subject subject = *opened.subject;
  RUNG_TRY(const std::vector<uint64_t> fresh, add_seeds(task, opened, subject, inputs));
  RUNG_TRY(Recipe recipe, recipe_of(opened, task.recipe, task.model));
  WorkbenchOptions options{.target = opened.target, .threads = recipe.threads, .database_path = ""};
  if (task.interrupted) options.interrupted = task.interrupted;
  RUNG_TRY(auto bench, Workbench::create(subject, inputs, std::move(options), budget));
  RUNG_TRY(Attempt attempt, bench->attempt_as_is(recipe));
  RUNG_TRY(Tolerance tolerance, bench->judge().tolerance_for_recipe(recipe));
  Verified verified{
      .verification = attempt.verdicts[0], .tolerance = tolerance, .reason = bench->judge().account(attempt)};
  for (const auto& verdict : attempt.verdicts)
    if (!verdict.passed) verified.verification = verdict;
  attempt.session.reset();  // two sessions at once would take twice the memory
  if (!fresh.empty()) {
    RUNG_TRY(verified.seeds, errors_over_seeds(*bench, recipe, fresh));
  }
  if (recipe.precision.size() > 1) {
    RUNG_TRY(verified.precision, bench->judge().costs_of_precision(recipe));
  }
  if (!attempt.right && task.bisect) RUNG_CHECK(find_culprit(*bench, attempt.recipe, verified));
  return verified;
}

}  // namespace

// tolerance_for() allows for a single rounding to 16 bits; a deep model has many in sequence, whose errors grow with
// the root of their number. The factor is the root of 16; two layers of an encoder differ by 1.5 times one rounding.
Tolerance tolerance_of_graph(DType precision) {
  constexpr double kNarrowRoundings = 4;
  const Tolerance one = tolerance_for(precision, kDeepSum);
  const double factor = is_narrow(precision) ? kNarrowRoundings : 1;
  return {factor * one.rel_l2, factor * one.element};
}

Result<Verified> verify(const VerifyTask& task) {
  RUNG_TRY(Opened opened, open_model(task.model));
  if (task.reference.read) {
    RUNG_CHECK(wants_one_set(task.model, opened, "reference"));
    return verify_given(task, opened);
  }
  if (!opened.subject)
    return wrong_usage("'{}' is a plan: give {} or {}, or verify the model directory with {}", task.model.path,
                       task.model.named("reference"), task.model.named("replays"), task.model.named("recipe"));
  RUNG_CHECK(give_source(task, opened));
  return verify_subject(task, opened);
}

Json outputs_json(const Verification& verification) {
  Json outputs = Json::array();
  for (const auto& o : verification.outputs)
    outputs.push_back({{"name", o.name},
                       {"rel_l2", number_or_null(o.rel_l2)},
                       {"max_abs", number_or_null(o.max_abs)},
                       {"cosine", number_or_null(o.cosine)},
                       {"non_finite", o.non_finite == SIZE_MAX ? Json(nullptr) : Json(o.non_finite)},
                       {"passed", o.passed}});
  return outputs;
}

Json to_json(const Verified& verified) {
  const Tolerance& tolerance = verified.tolerance;
  Json precision = Json::array();
  for (const PrecisionCost& cost : verified.precision) {
    precision.push_back(to_json(cost.part));
    precision.back()["rel_l2_alone"] = number_or_null(cost.rel_l2_alone);
    precision.back()["rel_l2_without"] = number_or_null(cost.rel_l2_without);
  }
  Json json{{"passed", verified.verification.passed},
            {"outputs", outputs_json(verified.verification)},
            {"tolerance", {{"rel_l2", tolerance.rel_l2}, {"element", tolerance.element}}},
            {"reason", verified.reason},
            {"precision", std::move(precision)}};
  if (verified.seeds) json["seeds"] = to_json(*verified.seeds);
  return json;
}

Result<Replays> verify_replays(const VerifyTask& task, int64_t count) {
  RUNG_TRY(Opened opened, open_model(task.model));
  RUNG_CHECK(wants_one_set(task.model, opened, "replays"));
  RUNG_TRY(PlanSet plans, plans_of(opened, task.recipe, task.model));
  RUNG_TRY(SetSession session, SetSession::create(plans));
  for (size_t i = 0; i < plans.size(); ++i)
    RUNG_CHECK(session[i].set_inputs(sample_missing(*plans[i], opened.given, 1)));
  return replay(session, count, task.interrupted);
}

Json to_json(const Replays& replays) {
  return {{"passed", replays.difference.empty() && !replays.interrupted},
          {"replays", replays.count},
          {"interrupted", replays.interrupted},
          {"difference", replays.difference},
          {"resident_growth_bytes", replays.resident_growth},
          {"device_growth_bytes", replays.device_growth}};
}

}  // namespace rung::tasks
