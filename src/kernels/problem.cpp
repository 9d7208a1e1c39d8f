// Reads an operand's strides as rows, and places results.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/problem.hpp"

namespace rung {
namespace {

// Walks the axes before the last from the inside out, and sets `stride` to the step from row to row. Returns whether
// each axis continues the rows of the axes inside it.
bool rows_stride(const Operand& x, int64_t& stride) {
  int64_t expected = -1;
  stride = x.shape.back();
  for (int axis = x.shape.rank() - 2; axis >= 0; --axis) {
    if (x.shape[axis] == 1) continue;
    if (expected < 0)
      stride = x.strides[axis];
    else if (x.strides[axis] != expected)
      return false;
    expected = x.strides[axis] * x.shape[axis];
  }
  return true;
}

}  // namespace

int64_t Operand::span() const {
  int64_t last = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 0) return 0;
    last += (shape[i] - 1) * strides[i];
  }
  return last + 1;
}

bool Operand::is_rows() const {
  if (shape.rank() == 0) return false;
  int64_t stride = 0;
  bool dense_last = strides.back() == 1 || shape.back() == 1;
  return dense_last && rows_stride(*this, stride);
}

int64_t Operand::row_stride() const {
  int64_t stride = 0;
  rows_stride(*this, stride);
  return stride;
}

std::span<const std::string_view> computed_ops() {
#define RUNG_NAME_OF_OP(Type) Type::kName,
  static constexpr std::string_view kNames[] = {RUNG_EACH_OP(RUNG_NAME_OF_OP)};
#undef RUNG_NAME_OF_OP
  constexpr size_t kSources = 3;  // the list begins with the ops that nothing computes
  static_assert(kNames[0] == Input::kName && kNames[1] == Constant::kName && kNames[2] == NthResult::kName);
  return std::span(kNames).subspan(kSources);
}

std::string_view op_family(const Op& op) {
  return std::visit([](const auto& o) { return std::decay_t<decltype(o)>::kName; }, op);
}

std::vector<ResultPlace> place_results(const std::vector<Type>& types) {
  std::vector<ResultPlace> places;
  for (const Type& type : types) {
    const uint64_t end = places.empty() ? 0 : places.back().end();
    places.push_back({type, (end + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment});
  }
  return places;
}

std::vector<Type> operand_types(const Problem& problem) {
  std::vector<Type> types;
  for (const Operand& input : problem.inputs) types.push_back({input.dtype, input.shape});
  return types;
}

std::vector<ResultPlace> results_of(const Problem& problem) {
  const auto types = result_types(problem.op, operand_types(problem), {problem.output.dtype, problem.output.shape});
  std::vector<Type> placed;
  for (size_t i = 0; i < types.size(); ++i)
    if (i == 0 || !updates(problem.op, i)) placed.push_back(types[i]);
  return place_results(placed);
}

Fault fault_of(const Problem& problem) { return fault_of(problem.op, operand_types(problem)); }

}  // namespace rung
