// Static shapes (rank 0 to 8) and typed tensors' types, such as f32[1,128,384].
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "ir/dtype.hpp"

namespace rung {

// A short list of 64-bit integers held in place: dimensions, strides or a permutation.
class Dims {
 public:
  static constexpr int kMaxRank = 8;
  Dims() = default;
  Dims(std::initializer_list<int64_t> dims) { assign(std::span(dims.begin(), dims.size())); }
  explicit Dims(std::span<const int64_t> dims) { assign(dims); }
  static Dims filled(int rank, int64_t value);

  int rank() const { return rank_; }
  int64_t& operator[](int axis) { return assert(axis >= 0 && axis < rank_), dims_[static_cast<size_t>(axis)]; }
  int64_t operator[](int axis) const { return assert(axis >= 0 && axis < rank_), dims_[static_cast<size_t>(axis)]; }
  // Returns a dimension counted from the end: back(0) is the last one.
  int64_t back(int from_end = 0) const { return (*this)[rank_ - 1 - from_end]; }
  void push_back(int64_t dim) { assert(rank_ < kMaxRank), dims_[static_cast<size_t>(rank_++)] = dim; }
  void insert(int axis, int64_t dim);
  void erase(int axis);
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  int64_t* begin() { return dims_.data(); }
  int64_t* end() { return dims_.data() + rank_; }
  int64_t product() const;
  friend bool operator==(const Dims& a, const Dims& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  void assign(std::span<const int64_t> dims);
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

using Shape = Dims;
using Columns = std::vector<int64_t>;  // of a last axis, ascending
using Strides = Dims;                  // in elements, not bytes; 0 where a dimension is broadcast

struct Type {
  DType dtype = DType::f32;
  Shape shape;
  int64_t elements() const { return shape.product(); }
  size_t bytes() const { return static_cast<size_t>(elements()) * size_of(dtype); }
  friend bool operator==(const Type&, const Type&) = default;
};

std::string to_string(const Dims& dims);  // "[1,128]"
std::string to_string(const Type& type);  // "f32[1,128]"

// Returns the row-major strides of a shape.
Strides contiguous_strides(const Shape& shape);
// Returns the shape that both broadcast to, by numpy's rule; an error names both.
Result<Shape> broadcast(const Shape& a, const Shape& b);
// Turns a negative axis into a non-negative one; an error if it is out of range.
Result<int> normalize_axis(int64_t axis, int rank);

}  // namespace rung

template <>
struct fmt::formatter<rung::Dims> : fmt::formatter<std::string> {
  auto format(const rung::Dims& d, format_context& c) const { return formatter<std::string>::format(to_string(d), c); }
};
template <>
struct fmt::formatter<rung::Type> : fmt::formatter<std::string> {
  auto format(const rung::Type& t, format_context& c) const { return formatter<std::string>::format(to_string(t), c); }
};
template <>
struct fmt::formatter<rung::DType> : fmt::formatter<std::string_view> {
  auto format(rung::DType d, format_context& c) const {
    return formatter<std::string_view>::format(rung::name_of(d), c);
  }
};
