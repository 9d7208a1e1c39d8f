// rung verify: compares a plan's outputs with the reference, and on request finds what breaks them.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.hpp"
#include "cli/command.hpp"
#include "cli/fault.hpp"
#include "cli/models.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/replays.hpp"
#include "cli/terminal.hpp"
#include "import/npz.hpp"
#include "ladder/bisect.hpp"
#include "ladder/workbench.hpp"

namespace rung::cli {
namespace {

using Json = nlohmann::json;

struct VerifyFlags {
  CommonOptions common;
  std::string reference, recipe;
  std::vector<std::string> map;
  std::optional<int64_t> replays;
  bool bisect = false;
};

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const Verification& verification, const Tolerance& tolerance, const std::string& reason) {
  Json outputs = Json::array();
  for (const auto& o : verification.outputs)
    outputs.push_back({{"name", o.name},
                       {"rel_l2", number(o.rel_l2)},
                       {"max_abs", number(o.max_abs)},
                       {"cosine", number(o.cosine)},
                       {"non_finite", o.non_finite == SIZE_MAX ? Json(nullptr) : Json(o.non_finite)},
                       {"passed", o.passed}});
  return {{"passed", verification.passed},
          {"outputs", std::move(outputs)},
          {"tolerance", {{"rel_l2", tolerance.rel_l2}, {"element", tolerance.element}}},
          {"reason", reason}};
}

Status print_result(const VerifyFlags& options, const Verification& verification, const Tolerance& tolerance,
                    const std::string& reason) {
  if (options.common.json) {
    print_json(to_json(verification, tolerance, reason));
  } else {
    for (const auto& o : verification.outputs)
      fmt::print("{:<22} {}  rel L2 {:.3g}  max abs {:.3g}  cosine {:.8f}  non-finite {}\n", o.name,
                 o.passed ? "ok  " : "FAIL", o.rel_l2, o.max_abs, o.cosine, o.non_finite);
    fmt::print("tolerance: rel L2 {:.3g}; {}\n", tolerance.rel_l2, reason);
  }
  if (verification.passed) return {};
  return fail("verification failed: {}", verification.reason);
}

// By output: the array that it is compared with.
using ArrayNames = std::map<std::string, std::string>;

// The array of the output's own name, or what --map says.
Result<ArrayNames> array_names(const std::vector<std::string>& map, const Plan& plan) {
  ArrayNames names;
  for (const auto& output : plan.outputs) names[output.name] = output.name;
  std::set<std::string> mapped;
  for (const auto& text : map) {
    size_t equals = text.find('=');
    if (equals == std::string::npos) return wrong_usage("--map: got '{}', wanted OUTPUT=ARRAY", text);
    const std::string output = text.substr(0, equals);
    auto name = names.find(output);
    if (name == names.end())
      return wrong_usage("--map {}: got output '{}', wanted one of: {}", text, output, names_in(names));
    if (!mapped.insert(output).second) return wrong_usage("--map {}: '{}' has an array already", text, output);
    name->second = text.substr(equals + 1);
  }
  return names;
}

// Every output must have one: what is not compared is not verified.
Status check_arrays(const std::string& file, const std::map<std::string, Type>& arrays, const ArrayNames& names) {
  for (const auto& [output, array] : names)
    if (!arrays.contains(array))
      return mismatch("'{}': holds no array '{}' to compare output '{}' with; it has: {}", file, array, output,
                      names_in(arrays));
  return {};
}

// The arrays that outputs are compared with; what else the file holds is not unpacked.
Result<NamedTensors> read_reference(const std::string& file, const Plan& plan, const ArrayNames& names) {
  RUNG_TRY(auto arrays, read_npz_types(file));
  RUNG_CHECK(check_arrays(file, arrays, names));
  return read_npz(file, [&](const std::string& name, const Type& type) -> Result<bool> {
    bool wanted = false;
    for (const auto& output : plan.outputs) {
      if (names.at(output.name) != name) continue;
      if (type.shape != output.type.shape)
        return mismatch("'{}': array '{}': got shape {}, wanted {} for output '{}'", file, name, type.shape,
                        output.type.shape, output.name);
      wanted = true;
    }
    return wanted;
  });
}

// Against given outputs. The tolerance is that of the output's dtype over a deep graph: f32 rounding of 16,384-long
// sums, or the unit roundoff of bf16 where the plan computes in it.
Status verify_against_file(const VerifyFlags& options, const Opened& opened) {
  RUNG_TRY(auto plan, plan_of(opened, options.common, options.recipe));
  RUNG_TRY(auto names, array_names(options.map, *plan));
  RUNG_TRY(auto arrays, read_reference(options.reference, *plan, names));
  RUNG_TRY(Session session, open_session(plan));
  RUNG_TRY(auto outputs, session.infer(opened.given));
  std::vector<std::string> compared;
  std::vector<Tensor> got, want;
  for (auto& [name, tensor] : outputs) {
    compared.push_back(name);
    got.push_back(std::move(tensor));
    want.push_back(arrays.at(names.at(name)));
  }
  Tolerance tolerance = tolerance_for(DType::f32, 16384);
  if (plan->recipe.precision != DType::f32) tolerance = tolerance_for(plan->recipe.precision, 16384);
  return print_result(options, verify_outputs(compared, got, want, tolerance), tolerance,
                      "against " + options.reference);
}

Status verify_replays(const VerifyFlags& options, const Opened& opened) {
  RUNG_TRY(auto plan, plan_of(opened, options.common, options.recipe));
  RUNG_TRY(Session session, open_session(plan));
  RUNG_CHECK(session.set_inputs(sample_missing(*plan, opened.given, 1)));
  RUNG_TRY(Replays replays, replay(session, *options.replays));
  if (options.common.json)
    print_json({{"passed", replays.difference.empty()},
                {"replays", replays.count},
                {"difference", replays.difference},
                {"resident_growth_bytes", replays.resident_growth},
                {"device_growth_bytes", replays.device_growth}});
  else
    fmt::print("{} replays: {}; memory grew by {:.1f} MB of this process, {:.1f} MB of the device\n", replays.count,
               replays.difference.empty() ? "bit-identical" : replays.difference, replays.resident_growth * 1e-6,
               replays.device_growth * 1e-6);
  if (replays.difference.empty()) return {};
  return fail("verification failed: {}", replays.difference);
}

Status explain_mismatch(Workbench& bench, const Recipe& recipe) {
  auto is_right = [&](const Recipe& tried) -> Result<bool> {
    RUNG_TRY(Attempt attempt, bench.attempt_as_is(tried));
    return attempt.right;
  };
  RUNG_TRY(Culprit culprit, bisect(recipe, is_right));
  RUNG_TRY(std::string text, reproducer(bench.subject().model.graph, culprit));
  std::string path = fmt::format("rung-bisect-{}.txt", culprit.pass.empty() ? culprit.rung : culprit.pass);
  RUNG_CHECK(write_file_atomically(path, text));
  fmt::print(stderr, "rung: rung '{}', pass '{}', found in {} builds; the graph before it is in {}\n", culprit.rung,
             culprit.pass, culprit.builds, path);
  return {};
}

// Judges the plan that `rung build` makes of the recipe, and `rung run` of a directory: nothing is tuned, nor looked up
// in a database.
Status verify_subject(const VerifyFlags& options, const Opened& opened) {
  Budget budget(600);
  std::vector<NamedTensors> inputs;
  for (uint64_t seed = 1; seed <= 3; ++seed) inputs.push_back(sample_missing(*opened.subject, opened.given, seed));
  if (inputs[0].size() == opened.given.size()) inputs.resize(1);
  RUNG_TRY(Recipe recipe, recipe_of(opened, options.recipe, options.common));
  RUNG_TRY(auto bench,
           Workbench::create(*opened.subject, inputs, {.target = opened.target, .threads = recipe.threads}, budget));
  RUNG_TRY(Attempt attempt, bench->attempt_as_is(recipe));
  RUNG_TRY(Tolerance tolerance, bench->judge().tolerance_for_recipe(recipe));
  Verification worst = attempt.verdicts[0];
  for (const auto& verdict : attempt.verdicts)
    if (!verdict.passed) worst = verdict;
  if (!attempt.right && options.bisect) RUNG_CHECK(explain_mismatch(*bench, attempt.recipe));
  return print_result(options, worst, tolerance,
                      fmt::format("{} inputs against the {}", inputs.size(), bench->judge().reference_source()));
}

Status run_verify(const VerifyFlags& options) {
  log_to_stderr(options.common.log_level);
  RUNG_TRY(Opened opened, open_model(options.common));
  if (options.replays) return verify_replays(options, opened);
  if (!options.reference.empty()) return verify_against_file(options, opened);
  if (!opened.subject)
    return wrong_usage("'{}' is a plan: give --reference or --replays, or verify the model directory with --recipe",
                       options.common.model);
  return verify_subject(options, opened);
}

}  // namespace

std::pair<CLI::App*, Run> verify_command(CLI::App& app) {
  auto options = std::make_shared<VerifyFlags>();
  auto* command = add_command(app, "verify", "compare outputs with the reference");
  add_common(*command, options->common);
  Option reference = add(*command, "reference", options->reference);
  add(*command, "map", options->map).needs(reference);
  add(*command, "recipe", options->recipe).described("verify this recipe's plan");
  Option replays = add(*command, "replays", options->replays).positive().excludes(reference);
  add(*command, "bisect", options->bisect).excludes(reference).excludes(replays);
  return {command, [options] {
            std::vector<std::string> recipe;
            if (!options->recipe.empty()) recipe = {"--recipe", options->recipe};
            return with_op_of_fault(run_verify(*options), options->common, recipe);
          }};
}

}  // namespace rung::cli
