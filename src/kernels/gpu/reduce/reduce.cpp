// Rows of the reductions along any axis: reduce, cumsum and masked_mean.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/reduce/reduce_arguments.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<ReduceConfig> kVariants[] = {
#include "kernels/gpu/reduce/reduce.inc"
};

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_known); !verdict) return verdict;
  if (p.inputs[0].shape.product() >= int64_t{1} << 31) return reject("2^31 elements or more");
  return accept();
}

Dims without(Dims dims, int axis) {
  dims.erase(axis);
  return dims;
}

ReduceArguments base_arguments(const Call& call, int axis) {
  const Operand& x = call.problem.inputs[0];
  ReduceArguments a{};
  a.x = call.inputs[0], a.out = call.output, a.type = x.dtype, a.out_type = call.problem.output.dtype;
  a.length = static_cast<uint32_t>(x.shape[axis]), a.step = x.strides[axis];
  return a;
}

// Returns a launch with a block per line, with no more threads than the line has elements, in whole warps.
Launch launch_lines(const Call& call, const ReduceArguments& a) {
  const auto lanes = static_cast<uint32_t>(call.gpu.info().lanes);
  const uint32_t threads = std::clamp((a.length + lanes - 1) / lanes * lanes, lanes, kReduceThreads);
  return launch_threads(call, int64_t{a.lines.count} * threads, threads);
}

Status launch(const Call& call, ReduceWay way, const Launch& shape, const ReduceArguments& a) {
  const ReduceConfig config{way, is_float(a.type) ? DType::f32 : DType::i64};
  return call.launch("reduce", symbol_of(kVariants, config), shape, a);
}

// Returns whether blocks can read an element of each of kReduceNeighbours lines at a time.
bool has_neighbours(const ReduceArguments& a, const Loops& lines) {
  constexpr uint64_t kAlignment = 16;
  if (!is_computed_float(a.type) || a.length == 0 || a.x % kAlignment || a.step % kReduceNeighbours) return false;
  if (lines.inner % kReduceNeighbours || lines.inner_strides[0] != 1 || lines.inner_strides[2] != 1) return false;
  for (int axis = 0; axis < lines.rank; ++axis)
    if (lines.strides[axis][0] % kReduceNeighbours) return false;
  return true;
}

// Threads run along neighbours in memory: along the line, or over lines. Few lines get a block for each vector of them,
// as a lane for each would leave most of the machine without work.
Status enqueue_reduction(const Call& call, ReduceArguments& a, const Loops& lines) {
  constexpr int64_t kEnoughBlocks = 4;  // for each multiprocessor
  const GpuInfo& gpu = call.gpu.info();
  a.lines = make_nest<3>(lines);
  const bool across = a.step != 1 && lines.inner >= 8 && lines.inner_strides[0] == 1;
  if (across && has_neighbours(a, lines) && a.lines.count < kEnoughBlocks * gpu.multiprocessors * gpu.lanes) {
    a.lines = make_nest<3>(lines, kReduceNeighbours);
    const Launch shape = launch_threads(call, int64_t{a.lines.count} * kReduceThreads, kReduceThreads);
    return launch(call, ReduceWay::neighbours, shape, a);
  }
  Launch shape = across ? launch_threads(call, a.lines.count, static_cast<uint32_t>(gpu.lanes)) : launch_lines(call, a);
  if (across) shape.block.x = kReduceThreads;  // each warp takes its share of the axis
  return launch(call, across ? ReduceWay::across : ReduceWay::along, shape, a);
}

Status enqueue_reduce(const Call& call) {
  const Problem& p = call.problem;
  if (p.output.shape.product() == 0) return {};
  const auto& op = p.as<Reduce>();
  const Operand& x = p.inputs[0];
  RUNG_TRY(int axis, normalize_axis(op.axis, x.shape.rank()));
  ReduceArguments a = base_arguments(call, axis);
  a.code = op.kind == ReduceKind::sum    ? ReduceCode::sum
           : op.kind == ReduceKind::mean ? ReduceCode::mean
                                         : ReduceCode::max;
  Shape lines = without(x.shape, axis);
  Strides strides = without(x.strides, axis);
  return enqueue_reduction(call, a, collapse(lines, std::array{strides, strides, contiguous_strides(lines)}));
}

Status enqueue_masked_mean(const Call& call) {
  const Problem& p = call.problem;
  if (p.output.shape.product() == 0) return {};
  const Strides &x = p.inputs[0].strides, &mask = p.inputs[1].strides;
  ReduceArguments a = base_arguments(call, 1);
  a.code = ReduceCode::masked_mean, a.eps = p.as<MaskedMean>().eps;
  a.mask = call.inputs[1], a.mask_step = mask[1];
  std::array lines{Strides{x[0], x[2]}, Strides{mask[0], 0}, p.output.strides};
  return enqueue_reduction(call, a, collapse(p.output.shape, lines));
}

Status enqueue_cumsum(const Call& call) {
  const Problem& p = call.problem;
  if (p.output.shape.product() == 0) return {};
  const Operand& x = p.inputs[0];
  RUNG_TRY(int axis, normalize_axis(p.as<CumSum>().axis, x.shape.rank()));
  ReduceArguments a = base_arguments(call, axis);
  a.out_step = p.output.strides[axis];
  Strides strides = without(x.strides, axis), out = without(p.output.strides, axis);
  a.lines = make_nest<3>(collapse(without(x.shape, axis), std::array{strides, strides, out}));
  return launch(call, ReduceWay::running, launch_lines(call, a), a);
}

}  // namespace

extern const Kernel reduce_gpu{.name = "reduce_gpu", .op = "reduce", .supports = supports, .enqueue = enqueue_reduce};
extern const Kernel cumsum_gpu{.name = "cumsum_gpu", .op = "cumsum", .supports = supports, .enqueue = enqueue_cumsum};
extern const Kernel masked_mean_gpu{
    .name = "masked_mean_gpu", .op = "masked_mean", .supports = supports, .enqueue = enqueue_masked_mean};

}  // namespace rung::gpu
