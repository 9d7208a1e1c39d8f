// Rows that move elements and compute nothing: materialised views, concat and im2col are all strided copies.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/copy/copy.hpp"

#include <numeric>

#include "kernels/gpu/copy/copy_arguments.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/strided.hpp"

namespace rung::gpu {
namespace {

// The variants by the bytes that a thread moves.
constexpr Variant<int64_t> kVariants[] = {
#include "kernels/gpu/copy/copy.inc"
};
constexpr Variant<int64_t> kVariantsTogether[] = {
#include "kernels/gpu/copy/copies.inc"
};
constexpr uint32_t kThreads = 256;  // of a block

Loops loops_of(const StridedCopy& copy) { return collapse(copy.shape, std::array{copy.from_strides, copy.to_strides}); }

// Returns the widest unit, in bytes, of which every position of both operands is a multiple.
int64_t widest_unit(const StridedCopy& copy, const Loops& loops) {
  auto bytes = static_cast<int64_t>(copy.bytes);
  if (loops.inner_strides[0] != 1 || loops.inner_strides[1] != 1) return bytes;
  int64_t unit = std::gcd(std::gcd(int64_t{16}, loops.inner * bytes), static_cast<int64_t>(copy.from | copy.to));
  for (int axis = 0; axis < loops.rank; ++axis)
    for (int i = 0; i < 2; ++i) unit = std::gcd(unit, loops.strides[axis][i] * bytes);
  return unit;
}

// Fills the arguments, with strides in units.
CopyArguments arguments_for(const StridedCopy& copy, const Loops& loops, int64_t unit) {
  auto bytes = static_cast<int64_t>(copy.bytes);
  CopyArguments arguments{copy.from, copy.to, make_nest<2>(loops, unit / bytes)};
  for (auto& operand : arguments.nest.stride)
    for (int64_t& stride : operand) stride = stride * bytes / unit;
  return arguments;
}

}  // namespace

Status enqueue_copy(const Call& call, const StridedCopy& copy) {
  if (copy.shape.product() == 0) return {};
  Loops loops = loops_of(copy);
  int64_t unit = widest_unit(copy, loops);
  CopyArguments arguments = arguments_for(copy, loops, unit);
  return call.launch("copy", symbol_of(kVariants, unit), launch_threads(call, arguments.nest.count, kThreads),
                     arguments);
}

namespace {

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_known); !verdict) return verdict;
  return supports_count(p.output.shape);
}

Status enqueue_view(const Call& call) {
  const Problem& p = call.problem;
  const Operand& x = p.inputs[0];
  bool reshape = as<Reshape>(p.op) != nullptr;
  const Shape& shape = reshape ? x.shape : p.output.shape;
  View view = reshape ? View{x.strides, 0} : view_of(p.op, x, shape);
  size_t bytes = size_of(x.dtype);
  Address from = call.inputs[0] + static_cast<Address>(view.offset) * bytes;
  return enqueue_copy(call, {from, call.output, shape, view.strides, contiguous_strides(shape), bytes});
}

// Makes one launch of up to kCopiesTogether copies, none of which is empty, in units that suit them all.
Status enqueue_together(const Call& call, std::span<const StridedCopy> copies) {
  if (copies.size() == 1) return enqueue_copy(call, copies[0]);
  int64_t unit = 16;
  for (const StridedCopy& copy : copies) unit = std::min(unit, widest_unit(copy, loops_of(copy)));
  CopiesArguments arguments{};
  uint32_t most = 0;
  for (size_t i = 0; i < copies.size(); ++i) {
    arguments.copies[i] = arguments_for(copies[i], loops_of(copies[i]), unit);
    most = std::max(most, arguments.copies[i].nest.count);
  }
  Launch shape = launch_threads(call, most, kThreads);
  shape.grid.y = static_cast<uint32_t>(copies.size());
  return call.launch("copy", symbol_of(kVariantsTogether, unit), shape, arguments);
}

Status enqueue_concat(const Call& call) {
  const Problem& p = call.problem;
  RUNG_TRY(int axis, normalize_axis(p.as<Concat>().axis, p.output.shape.rank()));
  Address to = call.output;
  size_t bytes = size_of(p.output.dtype);
  std::vector<StridedCopy> copies;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const Operand& x = p.inputs[i];
    if (x.shape.product() != 0) copies.push_back({call.inputs[i], to, x.shape, x.strides, p.output.strides, bytes});
    to += static_cast<Address>(x.shape[axis] * p.output.strides[axis]) * bytes;
  }
  for (size_t i = 0; i < copies.size(); i += kCopiesTogether)
    RUNG_CHECK(enqueue_together(call, std::span(copies).subspan(i, std::min(kCopiesTogether, copies.size() - i))));
  return {};
}

// Copies along the result's axes: image, patch row, patch column, channel, row and column in the patch.
Status enqueue_im2col(const Call& call) {
  const Operand& x = call.problem.inputs[0];
  const Strides& s = x.strides;
  int64_t patch = call.problem.as<Im2col>().patch;
  Shape shape{x.shape[0], x.shape[2] / patch, x.shape[3] / patch, x.shape[1], patch, patch};
  Strides strides{s[0], s[2] * patch, s[3] * patch, s[1], s[2], s[3]};
  return enqueue_copy(call, {call.inputs[0], call.output, shape, strides, contiguous_strides(shape), size_of(x.dtype)});
}

constexpr Kernel view_row(std::string_view name, std::string_view op) {
  return {.name = name, .op = op, .supports = supports, .enqueue = enqueue_view};
}

}  // namespace

extern const Kernel reshape_gpu = view_row("reshape_gpu", "reshape");
extern const Kernel transpose_gpu = view_row("transpose_gpu", "transpose");
extern const Kernel slice_gpu = view_row("slice_gpu", "slice");
extern const Kernel broadcast_gpu = view_row("broadcast_gpu", "broadcast");
extern const Kernel concat_gpu{.name = "concat_gpu", .op = "concat", .supports = supports, .enqueue = enqueue_concat};
extern const Kernel im2col_gpu{.name = "im2col_gpu", .op = "im2col", .supports = supports, .enqueue = enqueue_im2col};

}  // namespace rung::gpu
