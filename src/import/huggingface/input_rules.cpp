// The rules for inputs that architectures share.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/input_rules.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "base/random.hpp"

namespace rung::huggingface {
namespace {

NodeId declare(Model& model, const std::string& name, InputDefault rule) {
  NodeId id = model.graph.input(name, rule.type);
  model.defaults.emplace(name, std::move(rule));
  return id;
}

Tensor random_tokens(const Shape& shape, uint64_t seed, int64_t vocabulary) {
  Tensor out({DType::i64, shape});
  auto values = out.as<int64_t>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int64_t>(random_bits(seed, i) % static_cast<uint64_t>(vocabulary));
  return out;
}

Tensor random_floats(const Shape& shape, uint64_t seed, Distribution distribution) {
  Tensor out({DType::f32, shape});
  auto values = out.as<float>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = distribution == Distribution::normal ? random_normal(seed, i) : 2.0f * random_uniform(seed, i) - 1.0f;
  return out;
}

}  // namespace

NodeId add_token_input(Model& model, const std::string& name, const Shape& shape, int64_t vocabulary) {
  InputDefault rule{.type = {DType::i64, shape}, .meaning = "token ids", .range = IntegerRange{0, vocabulary - 1}};
  rule.sample = [=](uint64_t seed) { return random_tokens(shape, hash_text(name, seed), vocabulary); };
  return declare(model, name, std::move(rule));
}

NodeId add_mask_input(Model& model, const std::string& name, const Type& type, int64_t fill, int64_t last) {
  Tensor all({DType::i64, type.shape});
  std::ranges::fill(all.as<int64_t>(), fill);
  Tensor value = convert(all, type.dtype);
  InputDefault rule{.type = type, .meaning = "mask", .value = value, .range = IntegerRange{0, last}};
  rule.sample = [=](uint64_t) { return value; };
  return declare(model, name, std::move(rule));
}

NodeId add_count_input(Model& model, const std::string& name, int64_t most) {
  const Tensor all = Tensor::of<int64_t>({1}, {most});
  InputDefault rule{.type = all.type(), .meaning = "number of tokens", .value = all, .range = IntegerRange{1, most}};
  rule.sample = [=](uint64_t) { return all; };
  return declare(model, name, std::move(rule));
}

NodeId add_float_input(Model& model, const std::string& name, const Shape& shape, Distribution distribution,
                       const std::string& meaning) {
  InputDefault rule{.type = {DType::f32, shape}, .meaning = meaning};
  rule.sample = [=](uint64_t seed) { return random_floats(shape, hash_text(name, seed), distribution); };
  return declare(model, name, std::move(rule));
}

}  // namespace rung::huggingface
