// Hashes what a calibration was measured on.
// SPDX-License-Identifier: Apache-2.0
#include "open/calibration_source.hpp"

#include "base/hash.hpp"
#include "base/log.hpp"
#include "ir/shape.hpp"

namespace rung {
namespace {

constexpr int64_t kSmall = int64_t{1} << 16, kMostLarge = int64_t{1} << 24;  // elements

uint64_t hash_of(const std::string& name, const Tensor& value, uint64_t seed) {
  const Tensor values = is_float(value.dtype()) ? convert(value, DType::f32) : value;
  seed = hash_text(fmt::format("{} {}", name, values.type()), seed);
  return hash_bytes(values.data(), values.bytes(), seed);
}

Result<std::string> hash_of_weights(const Graph& model) {
  uint64_t hash = 0;
  int64_t large = 0;
  for (NodeId id : model.order()) {
    if (!model.is_constant(id)) continue;
    const Weight& weight = *model.weight(id);
    const int64_t elements = weight.type().elements();
    hash = hash_text(fmt::format("{} {}", weight.name(), weight.type().shape), hash);
    if (elements > kSmall && large + elements > kMostLarge) continue;
    if (elements > kSmall) large += elements;
    RUNG_TRY(const Tensor value, weight.load());
    hash = hash_of(weight.name(), value, hash);
  }
  return hex64(hash);
}

std::string hash_of_inputs(const std::vector<NamedTensors>& inputs) {
  uint64_t hash = 0;
  for (const NamedTensors& named : inputs)
    for (const auto& [name, value] : named) hash = hash_of(name, value, hash);
  return hex64(hash);
}

}  // namespace

Result<CalibrationSource> calibration_source(const Graph& model, const std::vector<NamedTensors>& inputs) {
  RUNG_TRY(std::string weights, hash_of_weights(model));
  return CalibrationSource{std::move(weights), hash_of_inputs(inputs)};
}

Status check_calibration(const Recipe& recipe, const Graph& model, const std::vector<NamedTensors>& inputs) {
  if (!recipe.calibrated_on) return {};
  const char* used = !recipe.calibration.empty()           ? "calibration"
                     : !recipe.channel_calibration.empty() ? "channel_calibration"
                     : !recipe.outlier_columns.empty()     ? "outlier_columns"
                                                           : nullptr;
  if (!used) return {};
  RUNG_TRY(const CalibrationSource now, calibration_source(model, inputs));
  if (now.weights != recipe.calibrated_on->weights)
    return rung::mismatch(
        "recipe: field '{}': it was measured with weights of hash {}, and this model's have {}: climb this model, or "
        "leave out what was measured, and values are scaled row by row",
        used, recipe.calibrated_on->weights, now.weights);
  if (!inputs.empty() && now.inputs != recipe.calibrated_on->inputs)
    log(0, "the recipe's calibration was measured on other inputs than the given ones; larger values are cut off");
  return {};
}

}  // namespace rung
