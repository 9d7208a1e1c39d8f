// Opening models and making plans of them.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/model.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "kernels/device_word.hpp"
#include "ladder/rungs.hpp"
#include "plan/build.hpp"
#include "tasks/names.hpp"

namespace rung::tasks {
namespace {

constexpr uint64_t kVerificationInputs = 3;

// Shapes are those of the values given; `shapes` says those of other inputs.
Result<ImportOptions> import_options(const ModelOptions& options) {
  ImportOptions import;
  for (const auto& [name, type] : options.inputs.types) import.given[name] = type.shape;
  for (const auto& [name, shape] : options.shapes)
    if (auto value = import.given.find(name); value != import.given.end() && value->second != shape)
      return wrong_usage("{} {}={}: {} gives '{}' the shape {}", options.named("shape"), name, fmt::join(shape, ","),
                         options.named("inputs"), name, value->second);
  import.shapes = options.shapes;
  import.random_seed = options.random_weights;
  import.observed = options.observed;
  import.drop_head = options.drop_head;
  if (options.dtype) import.dtype = DType::f32;  // bf16 is a rung on top of the f32 model
  return import;
}

Status freeze(const ModelOptions& options, NamedTensors& given, Subject& subject) {
  for (const auto& name : options.freeze) {
    auto it = given.find(name);
    if (it == given.end())
      return wrong_usage("{} {}: {} gives it no value", options.named("freeze"), name, options.named("inputs"));
    subject.frozen.insert(*it);
    given.erase(it);
  }
  return freeze_inputs(subject.model, {subject.frozen.begin(), subject.frozen.end()});
}

// What is asked for beside a recipe must not contradict it.
Status check_beside(const Recipe& recipe, const ModelOptions& options) {
  if (options.threads > 0 && options.threads != recipe.threads)
    return wrong_usage("the recipe is for {} threads, got {} {}", recipe.threads, options.named("threads"),
                       options.threads);
  if (options.dtype == (recipe.precision == DType::bf16 ? DType::f32 : DType::bf16))
    return wrong_usage("the recipe's precision is {}, got {} {}", recipe.precision, options.named("dtype"),
                       *options.dtype);
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

// The inputs given, which may be of these types alone.
Result<NamedTensors> read_inputs(const GivenArrays& inputs, const Types& types) {
  if (!inputs.read) return NamedTensors{};
  const std::string in_file = inputs.source.empty() ? "" : fmt::format("'{}': ", inputs.source);
  return inputs.read([&](const std::string& name, const Type& type) -> Result<bool> {
    auto known = types.find(name);
    if (known == types.end())
      return mismatch("{}there is no input '{}'; the inputs are: {}", in_file, name, names_in(types));
    if (!(type == known->second)) return mismatch("input '{}': got {}, wanted {}", name, type, known->second);
    return true;
  });
}

// What a directory's subject is judged by and what of it is constant; its inputs, less those.
Status complete(const ModelOptions& options, ImportOptions import, Opened& opened) {
  Subject& subject = *opened.subject;
  RUNG_TRY(opened.given, read_inputs(options.inputs, input_types(subject.model)));
  RUNG_CHECK(freeze(options, opened.given, subject));
  if (import.dtype == DType::f32) return subject.reference = subject.model.graph, Status{};
  import.dtype = DType::f32;
  RUNG_TRY(Model reference, import_model(options.path, import));
  RUNG_CHECK(freeze_inputs(reference, {subject.frozen.begin(), subject.frozen.end()}));
  subject.reference = std::move(reference.graph);
  return {};
}

Status check_options_of_plan(const ModelOptions& options) {
  if (options.shapes.empty() && options.freeze.empty() && options.observed.empty() && !options.random_weights &&
      !options.dtype && !options.drop_head)
    return {};
  return wrong_usage("'{}' is a plan: {}, {}, {}, {}, {} and {} were decided when it was built", options.path,
                     options.named("shape"), options.named("freeze"), options.named("observe"), options.named("dtype"),
                     options.named("random-weights"), options.named("drop-head"));
}

// What the library says of an option begins with its name.
Status check_device(const ModelOptions& options) {
  if (options.device.empty()) return {};
  auto word = parse_device(options.device);
  return word ? Status{} : wrong_usage("{}{}", options.named(""), word.error().message);
}

// What does not fit the model and is a flag's is a command line that cannot be meant.
template <class Any>
Any of_options(const ModelOptions& options, Any result) {
  if (options.command_line && !result && result.error().kind == ErrorKind::mismatch)
    result.error().kind = ErrorKind::usage;
  return result;
}

// Which device it is for is no flag's mistake: most plans are opened without one.
Result<OpenedModel> open_plan_file(const ModelOptions& options) {
  RUNG_CHECK(check_options_of_plan(options));
  RUNG_TRY(OpenedModel opened, rung::open_model(options.path, {.device = options.device}));
  RUNG_CHECK(of_options(options, check_threads(*opened.plan, options.path, options.threads)));
  return opened;
}

}  // namespace

GivenArrays given_arrays(NamedTensors arrays) {
  GivenArrays given;
  for (const auto& [name, tensor] : arrays) given.types.emplace(name, tensor.type());
  given.read = [arrays = std::move(arrays)](const WantsArray& wants) -> Result<NamedTensors> {
    NamedTensors kept;
    for (const auto& [name, tensor] : arrays) {
      RUNG_TRY(bool wanted, wants ? wants(name, tensor.type()) : Result<bool>(true));
      if (wanted) kept.emplace(name, tensor);
    }
    return kept;
  };
  return given;
}

std::vector<std::string> command_line_of(const ModelOptions& options) {
  std::vector<std::string> all{options.path};
  auto add = [&](const char* flag, const std::string& value) { all.insert(all.end(), {flag, value}); };
  if (options.dtype) add("--dtype", std::string(name_of(*options.dtype)));
  if (!options.device.empty()) add("--device", options.device);
  if (options.threads > 0) add("--threads", std::to_string(options.threads));
  for (const auto& [name, shape] : options.shapes) add("--shape", fmt::format("{}={}", name, fmt::join(shape, ",")));
  for (const auto& name : options.freeze) add("--freeze", name);
  for (const auto& label : options.observed) add("--observe", label);
  if (options.random_weights) add("--random-weights", std::to_string(*options.random_weights));
  if (options.drop_head) all.emplace_back("--drop-head");
  return all;
}

Result<std::optional<DType>> parse_dtype(std::string_view word) {
  if (word == "model") return std::nullopt;
  for (DType dtype : {DType::f32, DType::bf16})
    if (word == name_of(dtype)) return dtype;
  return wrong_usage("dtype: got '{}', wanted model, f32 or bf16", word);
}

Result<Recipe> parse_recipe(std::string_view text) {
  RUNG_TRY(auto json, errors_of(ErrorKind::usage, parse_json(text, "recipe")));
  return errors_of(ErrorKind::usage, recipe_from_json(json));
}

Result<Opened> open_model(const ModelOptions& options) {
  RUNG_CHECK(check_device(options));
  Opened opened;
  if (is_plan_file(options.path)) {
    RUNG_TRY(static_cast<OpenedModel&>(opened), open_plan_file(options));
    RUNG_TRY(opened.given, read_inputs(options.inputs, input_types(*opened.plan)));
    return opened;
  }
  RUNG_TRY(ImportOptions import, import_options(options));
  const OpenOptions open{.device = options.device, .threads = options.threads, .import = import};
  RUNG_TRY(static_cast<OpenedModel&>(opened), of_options(options, rung::open_model(options.path, open)));
  RUNG_CHECK(complete(options, std::move(import), opened));
  return opened;
}

NamedTensors sample_missing(const Subject& subject, const NamedTensors& given, uint64_t seed) {
  NamedTensors inputs = given;
  for (NodeId id : subject.model.graph.inputs()) {
    const auto& name = subject.model.graph.as<Input>(id)->name;
    const auto& input = subject.model.defaults.at(name);
    if (!inputs.contains(name)) inputs[name] = input.value ? *input.value : input.sample(seed);
  }
  return inputs;
}

NamedTensors sample_missing(const Plan& plan, const NamedTensors& given, uint64_t seed) {
  NamedTensors inputs = given;
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

std::vector<NamedTensors> verification_inputs(const Opened& opened) {
  std::vector<NamedTensors> inputs;
  for (uint64_t seed = 1; seed <= kVerificationInputs; ++seed)
    inputs.push_back(sample_missing(*opened.subject, opened.given, seed));
  if (inputs[0].size() == opened.given.size()) inputs.resize(1);
  return inputs;
}

Result<Recipe> recipe_of(const Opened& opened, const std::optional<Recipe>& recipe, const ModelOptions& options) {
  const Target& target = *opened.target;
  if (!recipe)
    return default_recipe(threads_for(target, options.threads),
                          options.dtype == DType::bf16 ? DType::bf16 : DType::f32);
  RUNG_CHECK(check_beside(*recipe, options));
  if (recipe->choices.empty()) return *recipe;
  RUNG_TRY(Built listed, build_plan(opened.subject->model.graph, *recipe, {.target = &target, .contents = false}));
  RUNG_CHECK(check_choices(*recipe, listed.plan));
  return *recipe;
}

Result<std::shared_ptr<const Plan>> plan_by_recipe(const Opened& opened, const std::optional<Recipe>& recipe,
                                                   const ModelOptions& options) {
  RUNG_TRY(Recipe decided, recipe_of(opened, recipe, options));
  return build_subject(*opened.subject, decided, *opened.target);
}

void note_if_unjudged(const Plan& plan) {
  for (const Step& step : plan.steps)
    if (DType dtype = step.output.view.dtype; is_float(dtype) && dtype != DType::f32)
      return log(0, "computes in {}, and no climb has judged this plan; 'rung verify' does", dtype);
}

Result<std::shared_ptr<const Plan>> plan_of(const Opened& opened, const std::optional<Recipe>& recipe,
                                            const ModelOptions& options) {
  if (opened.plan && recipe) return wrong_usage("'{}' is a plan: its recipe is in it", options.path);
  if (opened.plan) return opened.plan;
  RUNG_TRY(auto plan, plan_by_recipe(opened, recipe, options));
  if (!recipe) note_if_unjudged(*plan);
  return plan;
}

}  // namespace rung::tasks
