// Samples the inputs that are not given.
// SPDX-License-Identifier: Apache-2.0
#include "open/inputs.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace rung {

NamedTensors sample_missing(const Subject& subject, const NamedTensors& given, uint64_t seed) {
  NamedTensors inputs = given;
  for (const auto& [name, input] : subject.model.defaults)
    if (!inputs.contains(name)) inputs[name] = input.value ? *input.value : input.sample(seed);
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

bool gives_all_inputs(const Opened& opened) {
  return sample_missing(*opened.subject, opened.given, 1).size() == opened.given.size();
}

std::vector<NamedTensors> verification_inputs(const Opened& opened) {
  std::vector<NamedTensors> given{opened.given};
  given.insert(given.end(), opened.further.begin(), opened.further.end());
  if (given.size() == 1 && !gives_all_inputs(opened)) given.resize(kFrozenSeeds, opened.given);
  std::vector<NamedTensors> inputs;
  for (const NamedTensors& set : given) inputs.push_back(sample_missing(*opened.subject, set, inputs.size() + 1));
  return inputs;
}

}  // namespace rung
