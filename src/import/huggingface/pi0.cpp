// Pi0 and Pi0.5 policies: SigLIP per camera, Gemma prefix with its K/V cache, action expert unrolled over the Euler
// steps.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "import/huggingface/architecture.hpp"
#include "import/huggingface/input_rules.hpp"
#include "import/huggingface/pi0_layers.hpp"
#include "import/huggingface/pi0_prefix.hpp"
#include "import/huggingface/pi0_tensors.hpp"

namespace rung::huggingface {
namespace {

struct Pi0Inputs {
  Pi0PrefixInputs prefix;
  NodeId state, noise;  // state: none of Pi0.5
};

class Pi0Writer {
 public:
  Pi0Writer(ModuleBuilder& writer, const Pi0Config& config, const Pi0Tensors& tensors, std::optional<DType> forced)
      : w_(writer), c_(config), t_(tensors), prefix_(writer, config, tensors, forced) {}

  NodeId write(const Pi0Inputs& in);

 private:
  GemmaPass suffix_pass(NodeId valid);
  NodeId suffix(const Module& m, NodeId state, NodeId actions, int64_t step);
  NodeId condition(const Module& m, int64_t step);
  int64_t state_tokens() const { return c_.adaptive ? 0 : 1; }
  NodeId time_embedding(int64_t step, const std::string& label);
  NodeId euler_step(const Pi0Inputs& in, NodeId actions, int64_t step);
  Module root(const std::string& label) const { return {t_.root, label}; }

  ModuleBuilder& w_;
  const Pi0Config& c_;
  const Pi0Tensors& t_;
  Pi0Prefix prefix_;
  std::vector<KeyValue> cache_;
  GemmaPass suffix_;
};

// The state token, if there is one, sees the prefix and itself; the action tokens see everything.
GemmaPass Pi0Writer::suffix_pass(NodeId valid) {
  const std::string label = "suffix.mask", positions = "suffix.positions";
  int64_t length = c_.horizon + state_tokens(), prefix = c_.prefix_tokens();
  Tensor among({DType::boolean, {1, length, length}}), offsets({DType::i64, {1, length}});
  for (int64_t i = 0; i < length; ++i) {
    offsets.as<int64_t>()[static_cast<size_t>(i)] = i;
    for (int64_t j = 0; j < length; ++j)
      among.as<bool>()[static_cast<size_t>(i * length + j)] = c_.adaptive || i > 0 || j == 0;
  }
  NodeId keys = w_.op(Broadcast{{1, length, prefix}}, {w_.reshape(valid, {1, 1, prefix}, label)}, label);
  NodeId visible = w_.op(Concat{.axis = 2}, {keys, w_.graph.literal("suffix.visible", std::move(among))}, label);
  GemmaPass pass;
  pass.mask = prefix_.additive_mask(visible, label);
  NodeId count = w_.op(Reduce{.kind = ReduceKind::sum, .axis = 1}, {valid}, positions);
  count = w_.reshape(count, {1, 1}, positions);
  NodeId offset = w_.graph.literal("suffix.offsets", std::move(offsets));
  pass.rotary = prefix_.rotary(w_.binary(BinaryKind::add, count, offset, positions), positions);
  return pass;
}

// Gives f32[1,1,expert width]: sines, then cosines, of the step's time at log-spaced periods; computed in double.
NodeId Pi0Writer::time_embedding(int64_t step, const std::string& label) {
  int64_t half = c_.expert.width / 2;
  double time = 1.0 + (-1.0 / static_cast<double>(c_.steps)) * static_cast<double>(step);
  Tensor table({DType::f32, {1, 1, 2 * half}});
  auto values = table.as<float>();
  for (int64_t i = 0; i < half; ++i) {
    double fraction = half > 1 ? static_cast<double>(i) / static_cast<double>(half - 1) : 0.0;
    double period = c_.min_period * std::pow(c_.max_period / c_.min_period, fraction);
    double angle = 1.0 / period * 2.0 * std::numbers::pi * time;
    values[static_cast<size_t>(i)] = static_cast<float>(std::sin(angle));
    values[static_cast<size_t>(half + i)] = static_cast<float>(std::cos(angle));
  }
  return w_.graph.literal(label, std::move(table));
}

// Returns f32[1,expert width], which depends on the step alone.
NodeId Pi0Writer::condition(const Module& m, int64_t step) {
  const int64_t width = c_.expert.width;
  NodeId time = w_.reshape(time_embedding(step, m.child("time_embedding").label), {1, width}, m.label);
  for (const char* layer : {"time_mlp_in", "time_mlp_out"})
    time = w_.unary(UnaryKind::silu, w_.linear(m.child(layer), time, width), m.label);
  return time;
}

// Returns T[1,state tokens + horizon,expert width]: the state token and the noisy actions with the time; or the noisy
// actions alone.
NodeId Pi0Writer::suffix(const Module& m, NodeId state, NodeId actions, int64_t step) {
  int64_t width = c_.expert.width;
  if (c_.adaptive) return w_.cast(w_.linear(m.child("action_in_proj"), actions, width), prefix_.dtype(), m.label);
  NodeId time = time_embedding(step, m.child("time_embedding").label);
  time = w_.op(Broadcast{{1, c_.horizon, width}}, {time}, m.label);
  NodeId a = w_.linear(m.child("action_in_proj"), actions, width);
  a = w_.op(Concat{.axis = 2}, {a, time}, m.label);
  a = w_.unary(UnaryKind::silu, w_.linear(m.child("action_time_mlp_in"), a, width), m.label);
  a = w_.linear(m.child("action_time_mlp_out"), a, width);
  NodeId s = w_.linear(m.child("state_proj"), w_.reshape(state, {1, c_.state_dim}, m.label), width);
  s = w_.reshape(s, {1, 1, width}, m.label);
  return w_.cast(w_.op(Concat{.axis = 1}, {s, a}, m.label), prefix_.dtype(), m.label);
}

NodeId Pi0Writer::euler_step(const Pi0Inputs& in, NodeId actions, int64_t step) {
  Module m = root(fmt::format("step.{}", step));
  NodeId x = suffix(m, in.state, actions, step);
  GemmaPass pass = suffix_;
  if (c_.adaptive) pass.condition = condition(m, step);
  for (size_t i = 0; i < cache_.size(); ++i) {
    Module layer{fmt::format("{}.layers.{}", t_.expert, i), fmt::format("{}.gemma_expert.layers.{}", m.label, i)};
    x = GemmaLayer(w_, c_.expert, layer).write(x, pass, cache_[i], nullptr);
  }
  x = write_rms_norm(w_, {t_.expert + ".norm", m.label + ".gemma_expert.norm"}, x, pass.condition).x;
  if (!c_.adaptive) x = w_.op(Slice{.axis = 1, .begin = 1, .end = c_.horizon + 1}, {x}, m.label);
  NodeId velocity = w_.linear(m.child("action_out_proj"), w_.cast(x, DType::f32, m.label), c_.action_dim);
  return w_.binary(BinaryKind::add, actions, w_.scale(velocity, -1.0 / static_cast<double>(c_.steps), m.label),
                   m.label);
}

NodeId Pi0Writer::write(const Pi0Inputs& in) {
  const NodeId valid = prefix_.valid(in.prefix);
  cache_ = prefix_.write(prefix_.embedded(in.prefix), valid);
  suffix_ = suffix_pass(valid);
  NodeId actions = w_.reshape(in.noise, {1, c_.horizon, c_.action_dim}, "noise");
  for (int64_t step = 0; step < c_.steps; ++step) actions = euler_step(in, actions, step);
  return w_.reshape(actions, {c_.horizon, c_.action_dim}, "actions");
}

Pi0Inputs declare_inputs(Model& model, const Pi0Config& c) {
  Pi0Inputs in{.prefix = declare_prefix_inputs(model, c), .state = kNoNode, .noise = kNoNode};
  if (!c.adaptive)
    in.state = add_float_input(model, "state", {c.state_dim}, Distribution::normal, "normalised robot state");
  in.noise = add_float_input(model, "noise", {c.horizon, c.action_dim}, Distribution::normal, "standard normal noise");
  return in;
}

}  // namespace

bool is_pi05(const Config& config) {
  const auto is = [&](const char* field) { return config.get_text(field).value_or("") == "pi05"; };
  return is("type") || is("model_type") || config.get_bool_or("pi05", false).value_or(false);
}

bool is_pi0(const Config& config) {
  auto is = [&](const char* field) { return config.get_text(field).value_or("") == "pi0"; };
  // openpi's config.json names no type.
  bool untyped = !config.contains("type") && !config.contains("model_type");
  return is("type") || is("model_type") || (untyped && config.contains("paligemma_variant"));
}

Result<Model> import_pi0(const ConfigSource& source, Classes) {
  RUNG_TRY(Pi0Config config, read_pi0_config(source.config, source.options));
  RUNG_TRY(auto checkpoint, open_weights(source, config.dtype));
  Model model{.directory = source.directory};
  model.stages = {{"SigLIP", {"camera", "image_embeddings"}},
                  {"prefix", {"prefix", "language_model"}},
                  {"expert", {"step.*.gemma_expert"}}};
  ModuleBuilder writer(model.graph, *checkpoint);
  Pi0Tensors tensors = find_pi0_tensors(*checkpoint);
  Pi0Inputs inputs = declare_inputs(model, config);
  NodeId actions = Pi0Writer(writer, config, tensors, source.options.dtype).write(inputs);
  model.graph.set_output("actions", actions);
  for (int64_t step = 0; step < config.steps; ++step)  // each step's velocity
    model.watched.push_back(fmt::format("step.{}.action_out_proj", step));
  auto may_ignore = [&](const std::string& name) { return pi0_may_ignore(tensors, name); };
  RUNG_TRY(model.notes, writer.finish(may_ignore));
  return model;
}

}  // namespace rung::huggingface
