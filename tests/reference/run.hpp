// Helpers for tests of the evaluator: run a graph given as text, and compare values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "ir/text.hpp"
#include "reference/evaluate.hpp"

namespace rung {

using Inputs = std::map<std::string, Tensor, std::less<>>;

inline void PrintTo(const Dims& dims, std::ostream* out) { *out << to_string(dims); }

// The value of one expression in the graph's text form.
inline Result<Tensor> try_run(std::string_view expression, const Inputs& inputs) {
  RUNG_TRY(Graph graph, parse_graph(fmt::format("result = {}", expression)));
  RUNG_TRY(std::vector<Tensor> values, evaluate(graph, inputs));
  return values.at(0);
}
inline Tensor run(std::string_view expression, const Inputs& inputs) {
  auto value = try_run(expression, inputs);
  EXPECT_TRUE(value) << value.error().message;
  return value ? *value : Tensor(Type{DType::boolean, {0}});
}
inline std::string error_of(std::string_view expression, const Inputs& inputs) {
  auto value = try_run(expression, inputs);
  return value ? "no error" : value.error().message;
}

inline Tensor f32(Shape shape, const std::vector<float>& values) { return Tensor::of<float>(shape, values); }
inline Tensor i64(Shape shape, const std::vector<int64_t>& values) { return Tensor::of<int64_t>(shape, values); }
inline Tensor random(Shape shape, uint64_t seed) {
  Tensor t({DType::f32, shape});
  uint64_t i = 0;
  for (float& value : t.as<float>()) value = random_normal(seed, i++);
  return t;
}
inline Tensor to_bf16(const Tensor& tensor) { return convert(tensor, DType::bf16); }
// bool tensors from 0 and 1: std::vector<bool> holds no bools.
inline Tensor flags(Shape shape, const std::vector<int64_t>& values) {
  return convert(i64(shape, values), DType::boolean);
}

inline std::vector<double> values_of(const Tensor& tensor) {
  Tensor floats = convert(tensor, DType::f32);
  return {floats.as<float>().begin(), floats.as<float>().end()};
}

// Every element within `tolerance` (absolute) of the expected one.
inline void expect_values(const Tensor& got, const std::vector<double>& wanted, double tolerance = 1e-6) {
  EXPECT_THAT(values_of(got), testing::Pointwise(testing::DoubleNear(tolerance), wanted));
}

}  // namespace rung
