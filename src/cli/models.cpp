// Opening models and making plans of them.
// SPDX-License-Identifier: Apache-2.0
#include "cli/models.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/random.hpp"
#include "cli/names.hpp"
#include "import/npz.hpp"
#include "kernels/device_word.hpp"
#include "ladder/rungs.hpp"
#include "plan/build.hpp"

namespace rung::cli {
namespace {

// "input_ids=1,128"
Result<std::pair<std::string, Shape>> parse_shape(const std::string& text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return wrong_usage("--shape: got '{}', wanted NAME=1,128", text);
  Shape shape;
  const char *at = text.data() + equals + 1, *end = text.data() + text.size();
  while (at < end) {
    int64_t dim = 0;
    auto [next, code] = std::from_chars(at, end, dim);
    bool separated = next == end || *next == ',';
    if (code != std::errc() || dim < 1 || !separated || shape.rank() == Dims::kMaxRank)
      return wrong_usage("--shape: got '{}', wanted NAME=1,128 with positive dimensions", text);
    shape.push_back(dim);
    at = next == end ? next : next + 1;
  }
  return std::pair(text.substr(0, equals), shape);
}

// Shapes are those of the values given; --shape says those of other inputs.
Result<ImportOptions> import_options(const CommonOptions& options) {
  ImportOptions import;
  if (!options.inputs.empty()) {
    RUNG_TRY(auto types, read_npz_types(options.inputs));
    for (const auto& [name, type] : types) import.given[name] = type.shape;
  }
  for (const auto& text : options.shapes) {
    RUNG_TRY(auto named, parse_shape(text));
    const auto& [name, shape] = named;
    if (auto value = import.given.find(name); value != import.given.end() && value->second != shape)
      return wrong_usage("--shape {}: --inputs gives '{}' the shape {}", text, name, value->second);
    if (!import.shapes.emplace(name, shape).second) return wrong_usage("--shape {}: '{}' has one already", text, name);
  }
  import.random_seed = options.random_weights;
  import.observed = options.observed;
  if (options.dtype != "model") import.dtype = DType::f32;  // bf16 is a rung on top of the f32 model
  return import;
}

Status freeze(const CommonOptions& options, Inputs& given, Subject& subject) {
  for (const auto& name : options.freeze) {
    auto it = given.find(name);
    if (it == given.end()) return wrong_usage("--freeze {}: --inputs gives it no value", name);
    subject.frozen.insert(*it);
    given.erase(it);
  }
  return freeze_inputs(subject.model, {subject.frozen.begin(), subject.frozen.end()});
}

// What a person asks for beside a recipe must not contradict it.
Status check_flags(const Recipe& recipe, const CommonOptions& options) {
  if (options.threads > 0 && options.threads != recipe.threads)
    return wrong_usage("the recipe is for {} threads, got --threads {}", recipe.threads, options.threads);
  if (options.dtype == (recipe.precision == DType::bf16 ? "f32" : "bf16"))
    return wrong_usage("the recipe's precision is {}, got --dtype {}", recipe.precision, options.dtype);
  return {};
}

using Types = std::map<std::string, Type>;

Types input_types(const Model& model) {
  Types types;
  for (const auto& [name, input] : model.defaults) types[name] = input.type;
  return types;
}

Types input_types(const Plan& plan) {
  Types types;
  for (const auto& input : plan.inputs) types[input.name] = input.type;
  for (const auto& frozen : plan.frozen) types[frozen.name] = frozen.value.type();
  return types;
}

// --inputs, which may hold arrays of these types alone.
Result<Inputs> read_inputs(const CommonOptions& options, const Types& types) {
  if (options.inputs.empty()) return Inputs{};
  return read_npz(options.inputs, [&](const std::string& name, const Type& type) -> Result<bool> {
    auto known = types.find(name);
    if (known == types.end())
      return mismatch("'{}': there is no input '{}'; the inputs are: {}", options.inputs, name, names_in(types));
    if (!(type == known->second)) return mismatch("input '{}': got {}, wanted {}", name, type, known->second);
    return true;
  });
}

// What a directory's subject is judged by and what of it is constant; its inputs, less those.
Status complete(const CommonOptions& options, ImportOptions import, Opened& opened) {
  Subject& subject = *opened.subject;
  RUNG_TRY(opened.given, read_inputs(options, input_types(subject.model)));
  RUNG_CHECK(freeze(options, opened.given, subject));
  if (import.dtype == DType::f32) return subject.reference = subject.model.graph, Status{};
  import.dtype = DType::f32;
  RUNG_TRY(Model reference, import_model(options.model, import));
  RUNG_CHECK(freeze_inputs(reference, {subject.frozen.begin(), subject.frozen.end()}));
  subject.reference = std::move(reference.graph);
  return {};
}

Status check_flags_of_plan(const CommonOptions& options) {
  if (options.shapes.empty() && options.freeze.empty() && options.observed.empty() && !options.random_weights &&
      options.dtype == "model")
    return {};
  return wrong_usage(
      "'{}' is a plan: --shape, --freeze, --observe, --dtype and --random-weights were decided when it was built",
      options.model);
}

// What the library says of an option begins with its name.
Status check_device(const CommonOptions& options) {
  if (options.device.empty()) return {};
  auto word = parse_device(options.device);
  return word ? Status{} : wrong_usage("--{}", word.error().message);
}

// What does not fit the model and is a flag's is a command line that cannot be meant.
template <class Any>
Any of_flags(Any result) {
  if (!result && result.error().kind == ErrorKind::mismatch) result.error().kind = ErrorKind::usage;
  return result;
}

}  // namespace

Result<Opened> open_model(const CommonOptions& options) {
  RUNG_CHECK(check_device(options));
  OpenOptions open{.device = options.device};  // other threads than a plan's are asked about once it is open
  if (is_plan_file(options.model)) {
    RUNG_CHECK(check_flags_of_plan(options));
  } else {
    RUNG_TRY(open.import, import_options(options));
  }
  auto opening = rung::open_model(options.model, open);
  if (!is_plan_file(options.model)) opening = of_flags(std::move(opening));  // shapes
  RUNG_TRY(OpenedModel model, std::move(opening));
  if (model.plan) RUNG_CHECK(of_flags(check_threads(*model.plan, options.model, options.threads)));
  Opened opened{std::move(model), {}};
  if (opened.subject) {
    RUNG_CHECK(complete(options, open.import, opened));
  } else {
    RUNG_TRY(opened.given, read_inputs(options, input_types(*opened.plan)));
  }
  return opened;
}

Inputs sample_missing(const Subject& subject, const Inputs& given, uint64_t seed) {
  Inputs inputs = given;
  for (NodeId id : subject.model.graph.inputs()) {
    const auto& name = subject.model.graph.as<Input>(id)->name;
    const auto& input = subject.model.defaults.at(name);
    if (!inputs.contains(name)) inputs[name] = input.value ? *input.value : input.sample(seed);
  }
  return inputs;
}

Inputs sample_missing(const Plan& plan, const Inputs& given, uint64_t seed) {
  Inputs inputs = given;
  for (const auto& input : plan.inputs) {
    if (inputs.contains(input.name) || input.value) continue;
    Tensor values({DType::f32, input.type.shape});
    auto out = values.as<float>();
    uint64_t span = input.first && input.last ? static_cast<uint64_t>(*input.last - *input.first + 1) : 1;
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = is_float(input.type.dtype)
                   ? std::clamp(random_normal(seed, i), -1.0f, 1.0f)
                   : static_cast<float>(input.first.value_or(0) + static_cast<int64_t>(random_bits(seed, i) % span));
    inputs[input.name] = convert(values, input.type.dtype);
  }
  return inputs;
}

Result<Recipe> recipe_of(const Opened& opened, const std::string& file, const CommonOptions& options) {
  const Target& target = *opened.target;
  if (file.empty())
    return default_recipe(threads_for(target, options.threads), options.dtype == "bf16" ? DType::bf16 : DType::f32);
  RUNG_TRY(Recipe recipe, load_recipe(file));
  RUNG_CHECK(check_flags(recipe, options));
  if (recipe.choices.empty()) return recipe;
  RUNG_TRY(Built listed, build_plan(opened.subject->model.graph, recipe, {.target = &target, .contents = false}));
  RUNG_CHECK(check_choices(recipe, listed.plan));
  return recipe;
}

Result<std::shared_ptr<const Plan>> plan_by_recipe(const Opened& opened, const std::string& file,
                                                   const CommonOptions& options) {
  RUNG_TRY(Recipe recipe, recipe_of(opened, file, options));
  return build_subject(*opened.subject, recipe, *opened.target);
}

void note_if_unjudged(const Plan& plan) {
  for (const Step& step : plan.steps)
    if (DType dtype = step.output.view.dtype; is_float(dtype) && dtype != DType::f32)
      return fmt::print(stderr, "rung: computes in {}, and no climb has judged this plan; 'rung verify' does\n", dtype);
}

Result<std::shared_ptr<const Plan>> plan_of(const Opened& opened, const CommonOptions& options,
                                            const std::string& file) {
  if (opened.plan && !file.empty()) return wrong_usage("'{}' is a plan: its recipe is in it", options.model);
  if (opened.plan) return opened.plan;
  RUNG_TRY(auto plan, plan_by_recipe(opened, file, options));
  if (file.empty()) note_if_unjudged(*plan);
  return plan;
}

}  // namespace rung::cli
