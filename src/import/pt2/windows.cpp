// Operators of exported programs that lay windows of an image out side by side, and add them up in their places again.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/patches.hpp"
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::Patches;
using exported::refuse;

std::vector<int64_t> pair_of(const Call& call, std::string_view name, int64_t least) {
  auto pair = call.integers(name);
  if (pair.size() == 1) pair.push_back(pair[0]);
  constexpr int64_t kMost = int64_t{1} << 12;
  if (pair.size() != 2 || pair[0] < least || pair[1] < least || pair[0] > kMost || pair[1] > kMost)
    refuse("{}: got {}, wanted two numbers from {} to {}", name, describe(*call.find(name)), least, kMost);
  return pair;
}

Patches windows_of(const Call& call) {
  const auto padding = pair_of(call, "padding", 0);
  return {.size = pair_of(call, "kernel_size", 1),
          .dilation = pair_of(call, "dilation", 1),
          .before = padding,
          .after = padding,
          .stride = pair_of(call, "stride", 1)};
}

// The places of an axis, with its padding, that its windows show: i64 [size, count].
NodeId places_of(const Call& call, const Patches& windows, size_t axis, int64_t count) {
  const int64_t size = windows.size[axis];
  if (count > exported::kMostMade / size) refuse("{} windows of {}", count, size);
  Tensor places({DType::i64, {size, count}});
  for (int64_t i = 0; i < size * count; ++i)
    places.as<int64_t>()[static_cast<size_t>(i)] =
        i / count * windows.dilation[axis] + i % count * windows.stride[axis];
  return call.literal(places);
}

// x with a first axis, where it came without a batch.
NodeId with_batch(const Call& call, NodeId x, int rank) {
  if (call.rank(x) != rank && call.rank(x) != rank - 1)
    refuse("got {}, wanted {} or {} axes", call.type(x), rank - 1, rank);
  return call.rank(x) == rank ? x : call.unsqueeze(x, 0);
}
// Without the first axis again, where the argument, which has this rank with a batch, came without one.
Values as_given(const Call& call, NodeId y, int rank) {
  return one(call.rank(call.tensor("self")) == rank ? y : call.select_index(y, 0, 0));
}

}  // namespace

// [N,C,H,W] => [N,C size,windows]
Values im2col(const Call& call) {
  const Patches windows = windows_of(call);
  NodeId x = with_batch(call, call.tensor("self"), 4);
  const Shape s = call.shape(x);
  const int64_t rows = windows.count(0, s[2]), columns = windows.count(1, s[3]);
  for (size_t axis = 0; axis < 2; ++axis)
    x = call.padded(x, 2 + static_cast<int>(axis), windows.before[axis], windows.after[axis], 0);
  x = call.gather(x, places_of(call, windows, 1, columns), 3);
  x = call.gather(x, places_of(call, windows, 0, rows), 2);  // [N,C,height,rows,width,columns]
  x = call.transpose(x, {0, 1, 2, 4, 3, 5});
  return as_given(call, call.reshape(x, Shape{s[0], s[1] * windows.elements(), rows * columns}), 4);
}

// [N,C size,windows] => [N,C,H,W], as sums of what lies at each place.
Values col2im(const Call& call) {
  const Patches windows = windows_of(call);
  const NodeId x = with_batch(call, call.tensor("self"), 3);
  return as_given(call, exported::summed_patches(call, x, pair_of(call, "output_size", 1), windows), 3);
}

}  // namespace rung::pt2::operators
