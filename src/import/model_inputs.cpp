// Checks, completes, samples and freezes a model's inputs.
// SPDX-License-Identifier: Apache-2.0
#include "import/model.hpp"
#include "ir/bool_bytes.hpp"
#include "ir/finite.hpp"
#include "ir/mask_flow.hpp"

namespace rung {
namespace {

std::string input_names(const Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, rule] : model.defaults) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Status check_range(const std::string& name, const Tensor& value, const InputDefault& rule) {
  for (int64_t v : value.as<int64_t>())
    if (v < rule.range->first || v > rule.range->last)
      return mismatch("input '{}': got {}, wanted {} from {} to {}", name, v, rule.meaning, rule.range->first,
                      rule.range->last);
  return {};
}

}  // namespace

Status check_input(const Model& model, const std::string& name, const Tensor& value) {
  auto it = model.defaults.find(name);
  if (it == model.defaults.end()) return mismatch("input '{}' is not one of {}", name, input_names(model));
  const InputDefault& rule = it->second;
  if (value.type() != rule.type) return mismatch("input '{}': got {}, wanted {}", name, value.type(), rule.type);
  RUNG_CHECK(check_bools("input", name, value.type(), value.data()));
  if (is_float(value.dtype()))
    return check_input_floats(fmt::format("input '{}'", name), value,
                              [&] { return tolerated(model.graph, model.graph.input_named(name)); });
  if (rule.range && value.dtype() == DType::i64) return check_range(name, value, rule);
  return {};
}

Result<NamedTensors> complete_inputs(const Model& model, const NamedTensors& given) {
  for (const auto& [name, value] : given) RUNG_CHECK(check_input(model, name, value));
  NamedTensors all = given;
  for (const auto& [name, rule] : model.defaults) {
    if (all.count(name)) continue;
    if (!rule.value) return mismatch("input '{}' is missing: {}, {}", name, rule.meaning, rule.type);
    all.emplace(name, *rule.value);
  }
  return all;
}

Status freeze_inputs(Model& model, const NamedTensors& values) {
  for (const auto& [name, value] : values) RUNG_CHECK(check_input(model, name, value));
  for (const auto& [name, value] : values) {
    model.graph.freeze_input(model.graph.input_named(name), std::make_shared<Literal>(name, value));
    model.defaults.erase(name);
  }
  return {};
}

}  // namespace rung
