// Pooling of exported programs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {
namespace {

using exported::refuse;
using Emit = exported::Emit;

constexpr int64_t kMostParts = 256;  // of an axis that is cut into parts of different sizes

// The call's tensor with a batch, and a way back to one that had none.
struct Batched {
  const Call& call;
  NodeId x;
  bool added;
  Batched(const Call& of, int axes) : call(of), x(of.tensor("self")), added(of.rank(x) == axes + 1) {
    if (added) x = call.unsqueeze(x, 0);
    if (call.rank(x) != axes + 2) refuse("windows of {} axes over {}", axes, call.type(of.tensor("self")));
  }
  NodeId back(NodeId y) const { return added ? call.squeeze(y, {0}) : y; }
};

Emit::PoolCall described(const Call& call, NodeId x, ReduceKind kind) {
  Emit::PoolCall pool{.x = x, .kind = kind, .window = call.integers("kernel_size")};
  pool.windows.stride = call.integers("stride", {});
  if (pool.windows.stride.empty()) pool.windows.stride = pool.window;
  pool.windows.dilation = call.integers("dilation", {});
  pool.windows.before = pool.windows.after = call.integers("padding", {});
  pool.ceil = call.flag("ceil_mode");
  return pool;
}

Values largest(const Call& call, int axes, bool places) {
  const Batched batched(call, axes);
  Emit::PoolCall pool = described(call, batched.x, ReduceKind::max);
  pool.places = places;
  const Emit::Pooled pooled = call.pool(pool);
  if (!places) return one(batched.back(pooled.values));
  return {Value(NodeRef{batched.back(pooled.values)}), Value(NodeRef{batched.back(pooled.places)})};
}

Values averaged(const Call& call, int axes) {
  const Batched batched(call, axes);
  Emit::PoolCall pool = described(call, batched.x, ReduceKind::mean);
  pool.counts_padding = call.flag("count_include_pad", true);
  if (!call.has("divisor_override")) return one(batched.back(call.pool(pool).values));
  pool.kind = ReduceKind::sum;
  const double divisor = call.number("divisor_override");
  if (divisor == 0) refuse("averages over 0 elements");
  return one(batched.back(call.scale(call.pool(pool).values, 1 / divisor)));
}

// The sizes that an adaptive pooling wants; none stands for the size of x.
std::vector<int64_t> wanted_sizes(const Call& call, NodeId x, int axes) {
  std::vector<int64_t> sizes;
  const Value* given = call.find("output_size");
  if (const auto* list = given ? std::get_if<Values>(&given->is) : nullptr)
    for (size_t i = 0; i < list->size(); ++i) {
      const auto* number = std::get_if<int64_t>(&(*list)[i].is);
      sizes.push_back(number ? *number : call.shape(x)[std::min(static_cast<int>(i), axes - 1) + 2]);
    }
  else
    sizes = call.integers("output_size");
  if (sizes.size() == 1) sizes.resize(static_cast<size_t>(axes), sizes[0]);
  if (sizes.size() != static_cast<size_t>(axes)) refuse("got {} sizes for {} axes", sizes.size(), axes);
  for (int64_t size : sizes)
    if (size < 1 || size > exported::kMostMade) refuse("{} parts of {}", size, call.type(x));
  return sizes;
}

// Cuts an axis into parts that share their last element with the next one where sizes do not divide, and reduces each.
NodeId reduced_parts(const Call& call, NodeId x, int at, int64_t parts, ReduceKind kind) {
  const int64_t extent = call.shape(x)[at];
  if (parts > kMostParts)
    refuse("{} parts of an axis of {}, wanted equal parts or {} at most", parts, extent, kMostParts);
  std::vector<NodeId> reduced;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = part * extent / parts, end = ((part + 1) * extent + parts - 1) / parts;
    reduced.push_back(call.reduce(kind, call.Emit::slice(x, at, begin, end), {at}, true));
  }
  return call.concat(reduced, at);
}

// Each axis in as many parts as results are wanted.
NodeId pooled_to(const Call& call, NodeId x, int axes, ReduceKind kind) {
  const auto sizes = wanted_sizes(call, x, axes);
  std::vector<int64_t> window, all;
  bool is_equal = true, is_one = true;
  for (int i = 0; i < axes; ++i) {
    const int64_t extent = call.shape(x)[i + 2], parts = sizes[static_cast<size_t>(i)];
    is_equal = is_equal && extent % parts == 0;
    is_one = is_one && parts == 1;
    window.push_back(std::max<int64_t>(1, extent / parts)), all.push_back(i + 2);
  }
  if (is_one) return call.reduce(kind, x, all, true);
  if (is_equal) return call.pool({.x = x, .kind = kind, .window = window, .windows = {.stride = window}}).values;
  for (int i = 0; i < axes; ++i) x = reduced_parts(call, x, i + 2, sizes[static_cast<size_t>(i)], kind);
  return x;
}

Values averaged_to(const Call& call, int axes) {
  const Batched batched(call, axes);
  return one(batched.back(pooled_to(call, batched.x, axes, ReduceKind::mean)));
}
// Its places have no reader in inference.
Values largest_of_parts(const Call& call, int axes) {
  const Batched batched(call, axes);
  return {Value(NodeRef{batched.back(pooled_to(call, batched.x, axes, ReduceKind::max))}), Value()};
}

}  // namespace

Values max_pool1d(const Call& call) { return largest(call, 1, false); }
Values max_pool2d(const Call& call) { return largest(call, 2, false); }
Values max_pool3d(const Call& call) { return largest(call, 3, false); }
Values max_pool1d_with_indices(const Call& call) { return largest(call, 1, true); }
Values max_pool2d_with_indices(const Call& call) { return largest(call, 2, true); }
Values max_pool3d_with_indices(const Call& call) { return largest(call, 3, true); }
Values avg_pool1d(const Call& call) { return averaged(call, 1); }
Values avg_pool2d(const Call& call) { return averaged(call, 2); }
Values avg_pool3d(const Call& call) { return averaged(call, 3); }
Values adaptive_avg_pool1d(const Call& call) { return averaged_to(call, 1); }
Values adaptive_avg_pool2d(const Call& call) { return averaged_to(call, 2); }
Values adaptive_avg_pool3d(const Call& call) { return averaged_to(call, 3); }
Values adaptive_max_pool1d(const Call& call) { return largest_of_parts(call, 1); }
Values adaptive_max_pool2d(const Call& call) { return largest_of_parts(call, 2); }
Values adaptive_max_pool3d(const Call& call) { return largest_of_parts(call, 3); }

}  // namespace rung::pt2::operators
