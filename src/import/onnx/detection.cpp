// Non-maximum suppression in ONNX graphs: the number of boxes that stay depends on values, which are known at import.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

std::vector<float> floats(const Call& call, size_t input, const char* what) {
  const auto value = call.value_of(call[input]);
  if (!value) refuse("{} depend on the values of an input, and with them the number of results", what);
  const Tensor wide = convert(*value, DType::f32);
  return {wide.as<float>().begin(), wide.as<float>().end()};
}
float threshold(const Call& call, size_t input, float left_out) {
  if (!call.has(input)) return left_out;
  const auto values = floats(call, input, "thresholds");
  if (values.size() != 1) refuse("input {}: got {} numbers, wanted one", input, values.size());
  return values[0];
}

struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};

// Two opposite corners in any order, or a centre with a width and a height.
Box box_of(const float* b, bool by_centre) {
  if (by_centre) return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

// The common part of two boxes over all that they cover.
float overlap(const Box& a, const Box& b) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  const float common = height * width;
  return common / (a.area() + b.area() - common);
}

// The best boxes of one class, each of which overlaps those before it by no more than the bound.
std::vector<int64_t> kept(const std::vector<Box>& boxes, const float* scores, int64_t most, float bound, float least) {
  std::vector<int64_t> order(boxes.size()), all;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  for (const int64_t i : order) {
    if (static_cast<int64_t>(all.size()) >= most || !(scores[i] > least)) break;
    const auto box = static_cast<size_t>(i);
    if (std::ranges::none_of(all,
                             [&](int64_t j) { return overlap(boxes[box], boxes[static_cast<size_t>(j)]) > bound; }))
      all.push_back(i);
  }
  return all;
}

}  // namespace

// Boxes [N,B,4] and scores [N,C,B]; a row of batch, class and box for each that stays.
Outputs non_max_suppression(const Call& call) {
  const Shape b = call.shape(call[0]), s = call.shape(call[1]);
  if (b.rank() != 3 || s.rank() != 3 || b[2] != 4 || b[0] != s[0] || b[1] != s[2])
    refuse("boxes of {} with scores of {}", call.type(call[0]), call.type(call[1]));
  const auto corners = floats(call, 0, "the boxes"), scores = floats(call, 1, "the scores");
  const int64_t most = call.has(2) ? call.integer_of(2) : 0;
  const float bound = threshold(call, 3, 0), least = threshold(call, 4, -INFINITY);
  const int64_t form = call.integer("center_point_box", 0);
  if (form != 0 && form != 1) refuse("center_point_box: got {}, wanted 0 or 1", form);
  std::vector<int64_t> rows;
  for (int64_t n = 0; n < b[0]; ++n) {
    std::vector<Box> boxes;
    for (int64_t i = 0; i < b[1]; ++i) boxes.push_back(box_of(corners.data() + (n * b[1] + i) * 4, form == 1));
    for (int64_t c = 0; c < s[1]; ++c)
      for (const int64_t i : kept(boxes, scores.data() + (n * s[1] + c) * s[2], most, bound, least))
        rows.insert(rows.end(), {n, c, i});
  }
  return {call.literal(Tensor::of<int64_t>({static_cast<int64_t>(rows.size() / 3), 3}, rows))};
}

}  // namespace rung::onnx::operators
