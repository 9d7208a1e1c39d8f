// rung run: one inference per set of inputs or per text.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/text_inputs.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "cli/command.hpp"
#include "cli/fault.hpp"
#include "cli/models.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "import/npz.hpp"
#include "open/inputs.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "session/set_session.hpp"

namespace rung::cli {
namespace {

using Json = nlohmann::json;
using Outputs = std::vector<std::pair<std::string, Tensor>>;

struct RunFlags {
  CommonOptions common;
  std::string outputs, recipe, truncate = "warn";
  std::vector<std::string> texts;
  bool stepwise = false;
};

Json summary(const Outputs& outputs) {
  Json json = Json::array();
  for (const auto& [name, tensor] : outputs) {
    Tensor values = convert(tensor, DType::f32);
    auto v = values.as<float>();
    double sum = 0, squares = 0;
    for (float x : v) sum += x, squares += static_cast<double>(x) * x;
    std::vector<float> first(v.begin(), v.begin() + std::min<ptrdiff_t>(4, static_cast<ptrdiff_t>(v.size())));
    double count = std::max<double>(1, static_cast<double>(v.size()));
    json.push_back({{"name", name},
                    {"type", to_string(tensor.type())},
                    {"mean", sum / count},
                    {"rms", std::sqrt(squares / count)},
                    {"first", first}});
  }
  return json;
}

double cosine(const Tensor& a, const Tensor& b) {
  Tensor x = convert(a, DType::f32), y = convert(b, DType::f32);
  double dot = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.as<float>().size(); ++i) {
    double p = x.as<float>()[i], q = y.as<float>()[i];
    dot += p * q, xx += p * p, yy += q * q;
  }
  return dot / std::sqrt(std::max(xx * yy, 1e-30));
}

// Returns the cosines of every pair of sentence embeddings; null if the model gives none.
Json similarity(const std::vector<Outputs>& all) {
  std::vector<const Tensor*> embeddings;
  for (const Outputs& outputs : all)
    for (const auto& [name, tensor] : outputs)
      if (name == "sentence_embedding") embeddings.push_back(&tensor);
  if (embeddings.size() != all.size() || all.size() < 2) return nullptr;
  Json matrix = Json::array();
  for (const auto* a : embeddings) {
    Json row = Json::array();
    for (const auto* b : embeddings) row.push_back(cosine(*a, *b));
    matrix.push_back(std::move(row));
  }
  return matrix;
}

void print_outputs(const RunFlags& options, const std::vector<Outputs>& all, const Json& matrix) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (!options.texts.empty()) fmt::print("[{}] {}\n", i, options.texts[i]);
    if (!matrix.is_null()) continue;
    for (const auto& output : summary(all[i])) fmt::print("{}\n", dump_json(output));
  }
  if (matrix.is_null()) return;
  fmt::print("\ncosine similarity\n     ");
  for (size_t i = 0; i < all.size(); ++i) fmt::print("{:>8}", fmt::format("[{}]", i));
  for (size_t i = 0; i < all.size(); ++i) {
    fmt::print("\n{:<5}", fmt::format("[{}]", i));
    for (const auto& value : matrix[i]) fmt::print("{:8.4f}", value.get<double>());
  }
  fmt::print("\n");
}

// Writes one output file for all runs: with several texts, arrays get the text's number as suffix.
Status write_outputs(const std::string& path, const std::vector<Outputs>& all) {
  NamedTensors arrays;
  for (size_t i = 0; i < all.size(); ++i)
    for (const auto& [name, tensor] : all[i]) arrays[all.size() > 1 ? fmt::format("{}_{}", name, i) : name] = tensor;
  return write_npz(path, arrays);
}

// Makes one set of inputs for every text, with the given inputs added; without texts, the given ones alone.
Result<std::vector<TextInputs>> sets_of_inputs(const RunFlags& options, const PlanSet& plans, const Inputs& given) {
  std::vector<TextInputs> sets;
  const TextEncoder encoder(plans);
  for (const auto& text : options.texts) {
    RUNG_TRY(TextInputs set, encoder.inputs_of({.text = text, .may_cut = options.truncate != "error"}));
    for (const auto& [name, value] : given)
      if (!set.inputs.emplace(name, value).second)
        return wrong_usage("'{}' is given twice, by --text and by --inputs", name);
    if (set.truncated() && options.truncate == "warn")
      log(0, "warning: text {} is cut: {}", sets.size(), cut_text_words(set.tokens, set.kept));
    sets.push_back(std::move(set));
  }
  if (sets.empty()) sets.push_back({.inputs = given});
  return sets;
}

Status step_through(const RunFlags& options, const PlanSet& plans, const std::vector<TextInputs>& runs) {
  if (!options.outputs.empty()) return wrong_usage("--stepwise gives no outputs: got --outputs too");
  RUNG_TRY(SetSession session, SetSession::create(plans, {.stepwise = true}));
  for (const TextInputs& set : runs) {
    if (plans.size() > 1) RUNG_CHECK(session.select(shapes_of(set.inputs)));
    RUNG_CHECK(session.selected().infer(sample_missing(session.selected().plan(), set.inputs, 1)));
  }
  const size_t ops = session.selected().plan().steps.size();
  if (options.common.json)
    print_json({{"ops", ops}, {"runs", runs.size()}});
  else
    fmt::print("no fault: {} ran one by one\n", words::counted(ops, "op"));
  return {};
}

Status run_plan(const RunFlags& options) {
  log_to_stderr(options.common.log_level);
  RUNG_TRY(OpenOptions model, model_options(options.common));
  RUNG_TRY(auto recipe, recipe_in(options.recipe));
  RUNG_TRY(Opened opened, rung::open_model(model));
  RUNG_TRY(PlanSet plans, plans_of(opened, recipe, model));
  RUNG_TRY(std::vector<TextInputs> runs, sets_of_inputs(options, plans, opened.given));
  if (options.stepwise) return step_through(options, plans, runs);
  RUNG_TRY(SetSession session, SetSession::create(plans));
  std::vector<Outputs> all;
  for (const TextInputs& set : runs) {
    RUNG_TRY(Outputs outputs, session.infer(set.inputs));
    all.push_back(std::move(outputs));
  }
  if (!options.outputs.empty()) RUNG_CHECK(write_outputs(options.outputs, all));
  Json matrix = similarity(all);
  if (!options.common.json) return print_outputs(options, all, matrix), Status{};
  Json json{{"runs", Json::array()}, {"similarity", matrix}};
  for (size_t i = 0; i < all.size(); ++i) {
    json["runs"].push_back({{"outputs", summary(all[i])}});
    if (options.texts.empty()) continue;
    json["runs"][i].update(
        {{"text", options.texts[i]}, {"tokens", runs[i].tokens}, {"truncated", runs[i].truncated()}});
  }
  print_json(json);
  return {};
}

// Returns the arguments that make the same plan and inputs again, besides the common options.
std::vector<std::string> more_arguments(const RunFlags& options) {
  std::vector<std::string> more;
  if (!options.recipe.empty()) more.insert(more.end(), {"--recipe", options.recipe});
  for (const auto& text : options.texts) more.insert(more.end(), {"--text", text});
  if (!options.texts.empty()) more.insert(more.end(), {"--truncate", options.truncate});
  return more;
}

}  // namespace

std::pair<CLI::App*, Run> run_command(CLI::App& app) {
  auto options = std::make_shared<RunFlags>();
  auto* command = add_command(app, "run", "run a plan, or a model with default kernels");
  add_common(*command, options->common);
  add_trust(*command, options->common);
  add(*command, "outputs", options->outputs);
  auto text = add(*command, "text", options->texts);
  add(*command, "truncate", options->truncate).one_of({"warn", "cut", "error"}).shows_default().needs(text);
  add(*command, "recipe", options->recipe).described("run this recipe's plan");
  add(*command, "stepwise", options->stepwise);
  return {command, [options] {
            if (options->stepwise) return run_plan(*options);
            return with_op_of_fault(run_plan(*options), options->common, more_arguments(*options));
          }};
}

}  // namespace rung::cli
