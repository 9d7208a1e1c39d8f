// Prints shapes, and has strides and numpy's broadcasting rule.
// SPDX-License-Identifier: Apache-2.0
#include "ir/shape.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace rung {

Dims Dims::filled(int rank, int64_t value) {
  Dims dims;
  for (int i = 0; i < rank; ++i) dims.push_back(value);
  return dims;
}
void Dims::assign(std::span<const int64_t> dims) {
  assert(dims.size() <= kMaxRank);
  std::copy(dims.begin(), dims.end(), dims_.begin());
  rank_ = static_cast<int>(dims.size());
}
void Dims::insert(int axis, int64_t dim) {
  push_back(dim);
  std::rotate(begin() + axis, end() - 1, end());
}
void Dims::erase(int axis) {
  std::rotate(begin() + axis, begin() + axis + 1, end());
  --rank_;
}
int64_t Dims::product() const {
  int64_t total = 1;
  for (int64_t dim : *this) total *= dim;
  return total;
}

std::string to_string(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims.begin(), dims.end(), ",")); }
std::string to_string(const Type& type) { return fmt::format("{}{}", name_of(type.dtype), to_string(type.shape)); }

Strides contiguous_strides(const Shape& shape) {
  Strides strides = Dims::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  int rank = std::max(a.rank(), b.rank());
  Shape out = Dims::filled(rank, 1);
  for (int i = 0; i < rank; ++i) {
    int64_t x = i < a.rank() ? a.back(i) : 1, y = i < b.rank() ? b.back(i) : 1;
    if (x != y && x != 1 && y != 1) return fail("shapes {} and {} do not broadcast together", a, b);
    out[rank - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

Result<int> normalize_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return fail("axis {} is out of range for rank {}", axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace rung
