// What ir/semantics.hpp says of each op holds of the evaluator, on every problem of the conformance suite: elements
// that an element of the result is not said to depend on do not change it, and a free axis may be cut.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "harness.hpp"
#include "reference/evaluate.hpp"
#include "reference/values.hpp"

namespace rung::test {
namespace {

// The op under test with values for its operands.
struct Sample {
  Op op;
  std::vector<Tensor> operands;
  std::vector<Tensor> results;
  Semantics semantics;
};

std::vector<Type> types_of(const std::vector<Tensor>& tensors) {
  std::vector<Type> types;
  for (const Tensor& tensor : tensors) types.push_back(tensor.type());
  return types;
}

Sample sample_of(const Case& test) {
  Graph graph = test.graph;
  const std::vector<NodeId> operands = graph[test.node].operands;
  const size_t before = graph.outputs().size();
  for (size_t i = 0; i < operands.size(); ++i) graph.set_output(fmt::format("operand{}", i), operands[i]);
  auto values = evaluate(graph, test.inputs);
  if (!values) {
    ADD_FAILURE() << values.error().message;
    return {};
  }
  std::vector<Tensor> results(values->begin(), values->begin() + static_cast<ptrdiff_t>(before));
  values->erase(values->begin(), values->begin() + static_cast<ptrdiff_t>(before));
  return {graph[test.node].op, std::move(*values), std::move(results), semantics_of(graph, test.node)};
}

Dims place_of(int64_t element, const Shape& shape) {
  Dims place = Dims::filled(shape.rank(), 0);
  for (int axis = shape.rank() - 1; axis >= 0; --axis) place[axis] = element % shape[axis], element /= shape[axis];
  return place;
}

bool is_read(const AxisRead& read, int64_t at, const Dims& result) {
  switch (read.kind) {
    case AxisRead::Kind::same:
      return at == result[read.axis];
    case AxisRead::Kind::joined:
      return at == result[read.axis] - read.begin;
    case AxisRead::Kind::window: {
      const int64_t first = read.begin + read.step * result[read.axis];
      return at >= first && at < first + read.width;
    }
    default:
      return true;
  }
}

bool is_read(const OperandUse& use, const Dims& at, const Dims& result) {
  for (int axis = 0; axis < at.rank(); ++axis)
    if (!is_read(use.axes[static_cast<size_t>(axis)], at[axis], result)) return false;
  return true;
}

// Another value that the operand may hold: NaN where it can.
void spoil(Tensor& tensor, int64_t i, OperandRole role) {
  const auto at = static_cast<size_t>(i);
  if (tensor.dtype() == DType::f32)
    tensor.as<float>()[at] = NAN;
  else if (is_float(tensor.dtype()))
    std::memset(tensor.data() + i * static_cast<int64_t>(size_of(tensor.dtype())), 0x7f, size_of(tensor.dtype()));
  else if (tensor.dtype() == DType::boolean)
    tensor.as<bool>()[at] = !tensor.as<bool>()[at];
  else if (role != OperandRole::index)
    tensor.data()[i * static_cast<int64_t>(size_of(tensor.dtype()))] = std::byte{7};
  else if (tensor.dtype() == DType::i64)
    tensor.as<int64_t>()[at] = (tensor.as<int64_t>()[at] + 1) % 3;
  else
    tensor.as<int32_t>()[at] = (tensor.as<int32_t>()[at] + 1) % 3;
}

// Spoils what element `place` of the result does not depend on; how many elements that were.
int64_t spoil_unread(Sample& sample, const Dims& place) {
  int64_t spoilt = 0;
  for (size_t i = 0; i < sample.operands.size(); ++i) {
    Tensor& operand = sample.operands[i];
    Tensor copy(operand.type());  // other samples share the original's memory
    std::memcpy(copy.data(), operand.data(), operand.bytes());
    for (int64_t e = 0; e < copy.elements(); ++e)
      if (!is_read(sample.semantics.operands[i], place_of(e, copy.shape()), place))
        spoil(copy, e, sample.semantics.operands[i].role), ++spoilt;
    operand = std::move(copy);
  }
  return spoilt;
}

bool same_bits(const Tensor& a, const Tensor& b, int64_t element) {
  const auto size = size_of(a.dtype());
  const auto at = element * static_cast<int64_t>(size);
  return std::memcmp(a.data() + at, b.data() + at, size) == 0;
}

// Is `at` of a result where `place` of the first is, along all axes that have the same size in both?
bool is_at(const Dims& at, const Shape& shape, const Dims& place, const Shape& first) {
  for (int axis = 0; axis < at.rank(); ++axis)
    if (shape[axis] == first[axis] && at[axis] != place[axis]) return false;
  return true;
}

// How many elements at `place` differ; of several results, in all.
int64_t differences(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted, const Dims& place) {
  int64_t found = 0;
  for (size_t i = 0; i < wanted.size(); ++i)
    for (int64_t e = 0; e < wanted[i].elements(); ++e)
      found += is_at(place_of(e, wanted[i].shape()), wanted[i].shape(), place, wanted[0].shape()) &&
               !same_bits(got[i], wanted[i], e);
  return found;
}

TEST(Semantics, NameEveryElementThatAResultDependsOn) {
  std::set<std::string_view> tried;
  for (const Case& test : unanswered_cases()) {
    ASSERT_NE(test.node, kNoNode);
    const Sample sample = sample_of(with_inputs(test));
    ASSERT_EQ(sample.semantics.operands.size(), sample.operands.size()) << test.text;
    const Shape& shape = sample.results[0].shape();
    const int64_t element = static_cast<int64_t>(random_uniform(hash_text(test.text), 0) * double(shape.product()));
    const Dims place = place_of(element, shape);
    Sample spoilt = sample;
    if (spoil_unread(spoilt, place) == 0) continue;
    auto results = evaluate_results(sample.op, spoilt.operands, sample.results[0].type());
    ASSERT_TRUE(results) << test.text << "\n" << results.error().message;
    EXPECT_EQ(differences(*results, sample.results, place), 0) << test.text << "\nelement " << element;
    tried.insert(op_family(sample.op));
  }
  EXPECT_TRUE(takes_part() || tried.size() > 20) << tried.size() << " ops have elements that are not read";
}

// Row `row` of `axis` alone.
Tensor cut(const Tensor& tensor, int axis, int64_t row) {
  Shape shape = tensor.shape();
  const Strides strides = contiguous_strides(shape);
  shape[axis] = 1;
  return reference::copy_strided(tensor, shape, strides, row * strides[axis]);
}

// The op over row `row` of result axis `axis` alone; nothing for a concat of operands without that row.
std::vector<Tensor> cut_operands(const Sample& sample, int axis, int64_t row) {
  std::vector<Tensor> operands;
  for (size_t i = 0; i < sample.operands.size(); ++i) {
    Tensor operand = sample.operands[i];
    bool is_there = true;
    for (int from = 0; from < operand.shape().rank(); ++from) {
      const AxisRead& read = sample.semantics.operands[i].axes[static_cast<size_t>(from)];
      if (!read.leads_to(axis) || read.kind == AxisRead::Kind::broadcast) continue;
      const int64_t at = row - read.begin;
      is_there = at >= 0 && at < operand.shape()[from];
      if (is_there) operand = cut(operand, from, at);
    }
    if (is_there) operands.push_back(std::move(operand));
  }
  return operands;
}

TEST(Semantics, LetFreeAxesBeCut) {
  std::set<std::string_view> tried;
  for (const Case& test : unanswered_cases()) {
    ASSERT_NE(test.node, kNoNode);
    const Sample sample = sample_of(with_inputs(test));
    const Tensor& result = sample.results[0];
    for (int axis = 0; axis < result.shape().rank(); ++axis) {
      if (result.shape()[axis] < 2 || result.elements() > 20000 || !sample.semantics.is_free(axis)) continue;
      const int64_t row = result.shape()[axis] - 1;
      const std::vector<Tensor> operands = cut_operands(sample, axis, row);
      Op op = sample.op;
      if (auto* reshape = std::get_if<Reshape>(&op)) reshape->shape[axis] = 1;
      if (auto* broadcast = std::get_if<Broadcast>(&op)) broadcast->shape[axis] = 1;
      auto type = infer_type(op, types_of(operands));
      ASSERT_TRUE(type) << test.text << "\naxis " << axis << ": " << type.error().message;
      auto results = evaluate_results(op, operands, *type);
      ASSERT_TRUE(results) << test.text << "\n" << results.error().message;
      for (size_t i = 0; i < results->size(); ++i) {
        const Tensor wanted = cut(sample.results[i], axis, row);
        ASSERT_EQ((*results)[i].type(), wanted.type()) << test.text << "\naxis " << axis;
        EXPECT_EQ(std::memcmp((*results)[i].data(), wanted.data(), wanted.bytes()), 0)
            << test.text << "\naxis " << axis << " of result " << i;
      }
      tried.insert(op_family(op));
    }
  }
  EXPECT_TRUE(takes_part() || tried.size() > 15) << tried.size() << " ops have free axes";
}

}  // namespace
}  // namespace rung::test
