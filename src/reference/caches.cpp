// Heads on their way into caches, as the textbook writes it: each is normalised, rotated and stored by itself; and then
// attention over these caches.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "reference/operations.hpp"
#include "reference/values.hpp"

namespace rung::reference {
namespace {

using OneHead = std::vector<double>;

void normalise(OneHead& head, const CacheHeads& op, std::span<const double> weight) {
  double sum = 0;
  for (const double value : head) sum += value * value;
  const double scale = 1 / std::sqrt(sum / static_cast<double>(head.size()) + op.eps);
  for (size_t i = 0; i < head.size(); ++i) head[i] *= scale * (op.weight_offset + weight[i]);
}

void rotate(OneHead& head, std::span<const double> cos, std::span<const double> sin) {
  const OneHead x = head;
  const size_t half = x.size() / 2;
  for (size_t i = 0; i < x.size(); ++i) head[i] = x[i] * cos[i] + (i < half ? -x[i + half] : x[i - half]) * sin[i];
}

// The heads of all rows of x: queries, then keys, then values, of which the last are as they were.
class HeadsOfRows {
 public:
  HeadsOfRows(const CacheHeads& op, const Arguments& arguments)
      : op_(op),
        width_(size(arguments[CacheHeads::kKeys].shape()[2])),
        groups_(size(arguments[CacheHeads::kKeys].shape()[1])),
        of_row_(size(arguments[CacheHeads::kX].shape().back()) / width_),
        x_(read(arguments[CacheHeads::kX])),
        cos_(read(arguments[CacheHeads::kCos])),
        sin_(read(arguments[CacheHeads::kSin])) {
    if (arguments.size() > CacheHeads::kNormWeight) weight_ = read(arguments[CacheHeads::kNormWeight]);
  }

  size_t queries() const { return of_row_ - 2 * groups_; }
  size_t rows() const { return x_.size() / (of_row_ * width_); }

  OneHead of(size_t row, size_t head) const {
    const auto from = x_.begin() + static_cast<std::ptrdiff_t>((row * of_row_ + head) * width_);
    OneHead made(from, from + static_cast<std::ptrdiff_t>(width_));
    if (head >= queries() + groups_) return made;
    if (!weight_.empty()) normalise(made, op_, std::span(weight_).subspan(head * width_, width_));
    rotate(made, std::span(cos_).subspan(row * width_, width_), std::span(sin_).subspan(row * width_, width_));
    return made;
  }

 private:
  const CacheHeads& op_;
  size_t width_, groups_, of_row_;
  std::vector<double> x_, cos_, sin_, weight_;
};

Status check_places(const std::vector<int64_t>& places, const Tensor& cache) {
  const int64_t rows = cache.shape()[0];
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i] < 0 || places[i] >= rows)
      return fail("place {} at position {}: wanted 0 to {} of {}", places[i], i, rows - 1, cache.type());
  return {};
}

Tensor dense_as(const Tensor& values, const Shape& shape) {
  return copy_strided(values, shape, contiguous_strides(shape));
}

}  // namespace

Result<Tensor> compute(const CacheHeads& op, const Arguments& arguments) {
  RUNG_CHECK(check_places(read_integers(arguments[CacheHeads::kPlaces]), arguments[CacheHeads::kKeys]));
  const HeadsOfRows heads(op, arguments);
  std::vector<double> queries;
  for (size_t row = 0; row < heads.rows(); ++row)
    for (size_t head = 0; head < heads.queries(); ++head)
      for (const double value : heads.of(row, head)) queries.push_back(value);
  return write(arguments.result, queries);
}

// Result 1: the keys, result 2: the values. compute() has checked the places.
Result<Tensor> compute_further(const CacheHeads& op, const Arguments& arguments, size_t i) {
  const HeadsOfRows heads(op, arguments);
  const auto places = read_integers(arguments[CacheHeads::kPlaces]);
  const Tensor& before = arguments[i];
  const size_t groups = size(before.shape()[1]), width = size(before.shape()[2]);
  const size_t first = heads.queries() + (i == CacheHeads::kValues ? groups : 0);
  std::vector<double> cache = read(before);
  for (size_t row = 0; row < places.size(); ++row)
    for (size_t group = 0; group < groups; ++group) {
      const OneHead head = heads.of(row, first + group);
      std::copy(head.begin(), head.end(),
                cache.begin() + static_cast<std::ptrdiff_t>((size(places[row]) * groups + group) * width));
    }
  return write(arguments.result, cache);
}

Result<Tensor> compute(const CachedAttention& op, const Arguments& arguments) {
  const std::span<const Tensor> of_heads = arguments.operands.first(arguments.size() - 1);
  RUNG_TRY(const Tensor queries, compute(op.heads(), {of_heads, arguments.result}));
  const Shape& q = queries.shape();
  std::vector<Tensor> operands{dense_as(queries, {1, q.product() / (q.back(1) * q.back()), q.back(1), q.back()}),
                               arguments.operands.back()};
  for (const size_t i : {CacheHeads::kKeys, CacheHeads::kValues}) {
    const Shape& cache = of_heads[i].shape();
    RUNG_TRY(const Tensor filled, compute_further(op.heads(), {of_heads, of_heads[i].type()}, i));
    operands.push_back(dense_as(filled, {1, cache[0], cache[1], cache[2]}));
  }
  return compute(op.attention(), {operands, arguments.result});
}

Result<Tensor> compute_further(const CachedAttention& op, const Arguments& arguments, size_t i) {
  return compute_further(op.heads(), {arguments.operands.first(arguments.size() - 1), arguments.result}, i);
}

}  // namespace rung::reference
