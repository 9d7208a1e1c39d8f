// Opens the device, then the model for it; a plan names the device that it was built for.
// SPDX-License-Identifier: Apache-2.0
#include "open/open_model.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ranges>

#include "device/cpu/start_team.hpp"
#include "plan/file.hpp"
#include "text/tokenizer.hpp"

namespace rung {
namespace {

// ---- options that contradict each other

Status check_options(const OpenOptions& options) {
  if (options.threads < 0 || options.threads > cpu::kMostThreads)
    return wrong_usage("threads: got {}, wanted at most {}, or 0 for as many as there are cores", options.threads,
                       cpu::kMostThreads);
  if (options.path.find('\0') != std::string::npos) return wrong_usage("path: got a text with a NUL in it");
  return {};
}

Status check_options_of_plan(const OpenOptions& options) {
  if (!options.further_inputs.empty())
    return wrong_usage("'{}' is a plan: got {} sets of {}, wanted one", options.path, 1 + options.further_inputs.size(),
                       options.named("inputs"));
  if (options.freeze.empty() && options.observed.empty() && !options.random_weights && !options.dtype &&
      !options.drop_head && options.cache.length == 0 && options.cache.scored_chunk == 0)
    return {};
  return wrong_usage("'{}' is a plan: {}, {}, {}, {}, {}, {} and {} were fixed when it was built", options.path,
                     options.named("freeze"), options.named("observe"), options.named("dtype"),
                     options.named("random-weights"), options.named("drop-head"), options.named("cache"),
                     options.named("scored-chunk"));
}

Status check_threads(const Plan& plan, const OpenOptions& options) {
  if (plan.target->gpu || options.threads == 0 || options.threads == plan.recipe.threads) return {};
  return mismatch("'{}' was built for {} threads, got {}", options.path, plan.recipe.threads, options.threads);
}

// A flag that does not fit the model is a usage error.
template <class Any>
Any of_options(const OpenOptions& options, Any result) {
  if (options.command_line && !result && result.error().kind == ErrorKind::mismatch)
    result.error().kind = ErrorKind::usage;
  return result;
}

// ---- inputs

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

// NumPy's arrays hold no bf16, so inputs of 16 bits may come as f32. Many programs count in i32.
bool may_convert(const Type& given, const Type& wanted) {
  if (given.shape != wanted.shape) return false;
  if (given.dtype == DType::i32) return wanted.dtype == DType::i64;
  return given.dtype == DType::f32 && is_float(wanted.dtype) && size_of(wanted.dtype) == 2;
}

Result<Tensor> converted(const std::string& name, const Tensor& given, const Type& wanted) {
  if (given.dtype() == DType::i32) return convert(given, wanted.dtype);
  Tensor narrow = convert(given, wanted.dtype);
  const Tensor back = convert(narrow, DType::f32);
  const std::span before = given.as<float>(), after = back.as<float>();
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i] && !std::isnan(before[i]))
      return mismatch("input '{}': got {}, which {} does not hold; nearest is {}", name, before[i], wanted.dtype,
                      after[i]);
  return narrow;
}

// Reads the given inputs, which must be among `types`.
Result<NamedTensors> read_inputs(const GivenArrays& inputs, const Types& types) {
  if (!inputs.read) return NamedTensors{};
  const std::string in_file = inputs.source.empty() ? "" : fmt::format("'{}': ", inputs.source);
  const auto is_wanted = [&](const std::string& name, const Type& type) -> Result<bool> {
    auto known = types.find(name);
    if (known == types.end()) {
      std::vector<std::string> names;
      for (const auto& entry : types) names.push_back(entry.first);
      return mismatch("{}there is no input '{}'; the inputs are: {}", in_file, name, fmt::join(names, ", "));
    }
    if (type != known->second && !may_convert(type, known->second))
      return mismatch("{}input '{}': got {}, wanted {}", in_file, name, type, known->second);
    return true;
  };
  RUNG_TRY(NamedTensors given, inputs.read(is_wanted));
  for (auto& [name, value] : given) {
    const Type& wanted = types.at(name);
    if (value.type() == wanted) continue;
    RUNG_TRY(value, converted(name, value, wanted));
  }
  return given;
}

Status freeze(const OpenOptions& options, NamedTensors& given, Subject& subject) {
  for (const auto& name : options.freeze) {
    auto it = given.find(name);
    if (it == given.end())
      return wrong_usage("{} {}: {} gives it no value", options.named("freeze"), name, options.named("inputs"));
    subject.frozen.insert(*it);
    given.erase(it);
  }
  return freeze_inputs(subject.model, {subject.frozen.begin(), subject.frozen.end()});
}

// ---- a plan

// Opens the target for a plan: the device asked for, which must be of the plan's kind, or else the first of that kind.
Result<const Target*> target_for_plan(const std::string& built_for, const std::optional<DeviceWord>& asked) {
  const auto first = first_of_fingerprint(built_for);
  if (!first) return mismatch("built for '{}', which is no device that rung knows", built_for);
  if (asked && asked->kind != first->kind)
    return mismatch("built for '{}', got the device '{}': name no device, or climb or build again for that device",
                    built_for, asked->word);
  return open_target(asked.value_or(*first));
}

// Selects the plan for the shapes that the options ask for; among several plans the given inputs' shapes count, too.
// Null: there are several plans, and no shape is known.
Result<std::shared_ptr<const Plan>> select_plan(const PlanSet& plans, const OpenOptions& options) {
  Shapes asked(options.shapes.begin(), options.shapes.end());
  if (plans.size() > 1)
    for (const auto& [name, type] : options.inputs.types) asked.emplace(name, type.shape);
  if (plans.size() > 1 && asked.empty()) return std::shared_ptr<const Plan>();
  for (const auto& [name, shape] : options.shapes)
    if (!input_shapes(plans.first()).contains(name))
      return wrong_usage("{} {}={}: '{}' has no input of that name; it serves: {}", options.named("shape"), name,
                         fmt::join(shape, ","), options.path, plans.served());
  auto index = plans.serving(asked);
  if (!index) return wrong_usage("'{}': {}", options.path, index.error().message);
  return plans[*index];
}

// A plan for another device stays a mismatch, even with flags: most plans are opened without a flag for the device.
Result<Opened> open_plan(const OpenOptions& options) {
  RUNG_CHECK(check_options_of_plan(options));
  Opened opened;
  const auto choose = [&](const std::string& built_for) { return target_for_plan(built_for, options.device); };
  RUNG_TRY(opened.plans, load_plans(options.path, choose, options.code));
  opened.target = opened.plans->first().target;
  for (const auto& plan : *opened.plans) RUNG_CHECK(of_options(options, check_threads(*plan, options)));
  RUNG_TRY(opened.plan, select_plan(*opened.plans, options));
  if (opened.plan) {
    RUNG_TRY(opened.given, read_inputs(options.inputs, input_types(*opened.plan)));
  }
  return opened;
}

// ---- a directory

// The types of a model's inputs before any of them is frozen.
Types all_input_types(const Subject& subject) {
  Types types = input_types(subject.model);
  for (const auto& [name, value] : subject.frozen) types[name] = value.type();
  return types;
}
bool have_equal_bits(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

// Reads a further set of inputs: it gives what the first does, and frozen inputs no other value.
Result<NamedTensors> read_further(const GivenArrays& inputs, const OpenOptions& options, const Opened& opened) {
  const std::string &file = inputs.source, &first = options.inputs.source;
  RUNG_TRY(NamedTensors set, read_inputs(inputs, all_input_types(*opened.subject)));
  for (const auto& [name, value] : opened.given)
    if (!set.contains(name)) return mismatch("'{}' gives no '{}', but '{}' does", file, name, first);
  for (const auto& [name, value] : opened.subject->frozen) {
    const auto own = set.find(name);
    if (own == set.end()) continue;
    if (!have_equal_bits(own->second, value))
      return mismatch("'{}' and '{}' give '{}', which is frozen, two values", first, file, name);
    set.erase(own);
  }
  for (const auto& [name, value] : set)
    if (!opened.given.contains(name)) return mismatch("'{}' gives '{}', but '{}' does not", file, name, first);
  return set;
}

// The values given state the shapes of their inputs; OpenOptions::shapes states those of other inputs.
Result<ImportOptions> import_options(const OpenOptions& options) {
  ImportOptions import;
  for (const auto& [name, type] : options.inputs.types) import.given[name] = type.shape;
  for (const auto& [name, shape] : options.shapes)
    if (auto value = import.given.find(name); value != import.given.end() && value->second != shape)
      return wrong_usage("{} {}={}: {} gives '{}' the shape {}", options.named("shape"), name, fmt::join(shape, ","),
                         options.named("inputs"), name, value->second);
  const auto is_frozen = [&](const std::string& name, const Type&) -> Result<bool> {
    return std::ranges::find(options.freeze, name) != options.freeze.end();
  };
  if (!options.freeze.empty() && options.inputs.read) {
    RUNG_TRY(NamedTensors frozen, options.inputs.read(is_frozen));
    import.frozen.insert(frozen.begin(), frozen.end());
  }
  import.shapes = options.shapes;
  import.random_seed = options.random_weights;
  import.cache = options.cache;
  import.observed = options.observed;
  import.drop_head = options.drop_head;
  if (options.dtype) import.dtype = DType::f32;  // bf16 is a rung on top of the f32 model
  return import;
}

// Gives a directory's subject its reference and its frozen inputs, and reads the values of the other inputs.
Status complete(const OpenOptions& options, ImportOptions import, Opened& opened) {
  Subject& subject = *opened.subject;
  RUNG_TRY(opened.given, read_inputs(options.inputs, input_types(subject.model)));
  RUNG_CHECK(freeze(options, opened.given, subject));
  for (const GivenArrays& set : options.further_inputs) {
    RUNG_TRY(opened.further.emplace_back(), read_further(set, options, opened));
  }
  if (import.dtype == DType::f32) return subject.reference = subject.model.graph, Status{};
  import.dtype = DType::f32;
  RUNG_TRY(Model reference, import_model(options.path, import));
  RUNG_CHECK(freeze_inputs(reference, {subject.frozen.begin(), subject.frozen.end()}));
  subject.reference = std::move(reference.graph);
  return {};
}

Result<Opened> open_directory(const OpenOptions& options) {
  RUNG_TRY(ImportOptions import, import_options(options));
  Opened opened;
  RUNG_TRY(opened.target, target_for(options.device));
  Subject& subject = opened.subject.emplace();
  RUNG_TRY(subject.model, of_options(options, import_model(options.path, import)));
  RUNG_TRY(subject.attachments, tokenizer_texts(subject.model.directory));
  RUNG_CHECK(complete(options, std::move(import), opened));
  if (options.cache.length > 0) begin_with(subject, {}, options.cache.length);
  return opened;
}

}  // namespace

bool is_plan_file(const std::string& path) { return path.ends_with(".rung"); }

Result<Opened> open_model(const OpenOptions& options) {
  RUNG_CHECK(check_options(options));
  return is_plan_file(options.path) ? open_plan(options) : open_directory(options);
}

Result<const Target*> target_for(const std::optional<DeviceWord>& asked) {
  return open_target(asked ? *asked : cpu_target().word());
}

Result<Session> open_session(std::shared_ptr<const Plan> plan, SessionOptions options) {
  std::shared_ptr<cpu::Team> team;
  if (!plan->target->gpu) {
    RUNG_TRY(team, cpu::start_team(plan->recipe.threads));
  }
  return Session::create(std::move(plan), std::move(team), options);
}

}  // namespace rung
