// Graphs from text with reproducible random weights and inputs, and how far two tensors are apart.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "ir/text.hpp"

namespace rung {

// Floats near N(0, 1), the same for the same name; integers and flags 0 or 1.
inline Tensor random_tensor(std::string_view name, const Type& type) {
  Tensor values({DType::f32, type.shape});
  uint64_t seed = hash_text(name);
  for (size_t i = 0; i < values.as<float>().size(); ++i)
    values.as<float>()[i] =
        is_float(type.dtype) ? random_normal(seed, i) : static_cast<float>(random_bits(seed, i) % 2);
  return convert(values, type.dtype);
}

// Constants without values become random weights.
inline Graph graph_of(std::string_view text) {
  auto graph = parse_graph(text, [](const std::string& name, const Type& type) {
    return std::make_shared<Literal>(name, random_tensor(name, type));
  });
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? std::move(*graph) : Graph{};
}

inline NamedTensors random_inputs(const Graph& graph, const std::string& salt = "") {
  NamedTensors inputs;
  for (NodeId id : graph.inputs()) {
    const std::string& name = graph.as<Input>(id)->name;
    inputs.emplace(name, random_tensor(salt + name, graph.type(id)));
  }
  return inputs;
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

// |a - b| / |b|; infinite where shapes or types differ, so that a comparison fails.
inline double relative_l2(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return INFINITY;
  Tensor x = convert(a, DType::f32), y = convert(b, DType::f32);
  double difference = 0, norm = 0;
  for (size_t i = 0; i < x.as<float>().size(); ++i) {
    double p = x.as<float>()[i], q = y.as<float>()[i];
    difference += (p - q) * (p - q);
    norm += q * q;
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

}  // namespace rung
