// Rows of the normalisations over the last axis, and of softmax along any.
// SPDX-License-Identifier: Apache-2.0
#include "base/divide.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/norm/norm_arguments.hpp"
#include "kernels/gpu/quantize/machine_f8.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/norm_operands.hpp"
#include "kernels/strided.hpp"

namespace rung::gpu {
namespace {

// The variants by the runs that a thread keeps.
constexpr Variant<uint32_t> kVariants[] = {
#include "kernels/gpu/norm/norm.inc"
};

Verdict supports(const Problem& p, const Machine& machine) {
  if (p.output.dtype == machine_f8(machine.gpu) || p.output.dtype == DType::i8) {
    for (size_t i = 0; i < p.inputs.size(); ++i)
      if (!is_computed_float(p.inputs[i].dtype))
        return reject(fmt::format("operand {} is {}", i, name_of(p.inputs[i].dtype)));
  } else if (auto verdict = supports_types(p, is_computed_float); !verdict) {
    return verdict;
  }
  return supports_count(p.output.shape);
}

// Puts `axis` last.
Dims with_axis_last(Dims dims, int axis) {
  int64_t moved = dims[axis];
  dims.erase(axis);
  dims.push_back(moved);
  return dims;
}

Dims without_last(Dims dims) {
  dims.erase(dims.rank() - 1);
  return dims;
}

// Describes an operand whose last stride is the step between columns; its other strides lead from row to row.
NormOperand operand(Address base, DType type, const Strides& strides, int64_t width) {
  int64_t step = strides.back();
  auto unit = static_cast<int64_t>(size_of(type));
  bool vectors = (step == 1 || width == 1) && width % kNormVector == 0 && base % 16 == 0;
  for (int axis = 0; axis + 1 < strides.rank(); ++axis) vectors = vectors && strides[axis] * unit % 16 == 0;
  return {base, step, type, vectors};
}

void set_kind(const Problem& p, NormArguments& a) {
  if (const auto* layer_norm = as<LayerNorm>(p.op)) {
    a.kind = NormKind::layer_norm, a.eps = layer_norm->eps;
  } else if (const auto* rms_norm = as<RmsNorm>(p.op)) {
    a.kind = NormKind::rms_norm, a.eps = rms_norm->eps, a.weight_offset = rms_norm->weight_offset;
  } else if (const auto* l2 = as<L2Normalize>(p.op)) {
    a.kind = NormKind::l2_normalize, a.eps = l2->eps;
  } else {
    a.kind = NormKind::softmax;
  }
}

void set_operands(const Call& call, int axis, NormArguments& a) {
  const Problem& p = call.problem;
  const NormOperands at(p);
  int64_t width = p.output.shape[axis];
  auto strides = [&](int i) { return with_axis_last(p.inputs[static_cast<size_t>(i)].strides, axis); };
  auto operand_at = [&](int i, const Strides& by) {
    return operand(call.inputs[static_cast<size_t>(i)], p.inputs[static_cast<size_t>(i)].dtype, by, width);
  };
  Shape rows = without_last(with_axis_last(p.output.shape, axis));
  Strides x = strides(0), residual = at.residual < 0 ? x : strides(at.residual),
          out = with_axis_last(p.output.strides, axis);
  a.x = operand_at(0, x);
  if (at.residual >= 0) a.residual = operand_at(at.residual, residual);
  a.out = operand(call.output, p.output.dtype, out, width);
  a.rows = make_nest<3>(collapse(rows, std::array{without_last(x), without_last(residual), without_last(out)}));
  a.weights_are_constant = true;
  for (auto [vector, place] : {std::pair(&a.weight, at.weight), std::pair(&a.bias, at.bias)}) {
    if (place < 0) continue;
    const Operand& from = p.inputs[static_cast<size_t>(place)];
    *vector = operand_at(place, from.strides);
    a.weights_are_constant = a.weights_are_constant && from.constant;
  }
}

// A warp takes a row if it holds the row in at most two runs per lane, else a block does. Results of 8 bits, which
// norm_rows gives as a rule, are norm_long's: conversions would make long code of kernels that are unrolled.
struct Shared {
  uint32_t group;  // threads that share a row
  std::string_view symbol;
};
Shared share_row(uint32_t width, uint32_t lanes, DType out) {
  if (is_quantised(out)) return {kNormThreads, "norm_long"};
  uint32_t runs = (width + kNormVector - 1) / kNormVector;
  for (const auto& [chunks, symbol] : kVariants)
    if (chunks <= 2 && runs <= chunks * lanes) return {lanes, symbol};
  for (const auto& [chunks, symbol] : kVariants)
    if (runs <= chunks * kNormThreads) return {round_up(divide_up(runs, chunks), lanes), symbol};
  return {kNormThreads, "norm_long"};
}

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  if (p.output.shape.product() == 0) return {};
  const auto* softmax = as<Softmax>(p.op);
  RUNG_TRY(int axis, normalize_axis(softmax ? softmax->axis : -1, p.output.shape.rank()));
  NormArguments arguments{};
  set_kind(p, arguments);
  set_operands(call, axis, arguments);
  arguments.width = static_cast<uint32_t>(p.output.shape[axis]);
  auto lanes = static_cast<uint32_t>(call.gpu.info().lanes);
  Shared shared = share_row(arguments.width, lanes, p.output.dtype);
  arguments.group = shared.group;
  uint32_t threads = shared.group == lanes ? 4 * lanes : shared.group;
  Launch shape = launch_threads(call, int64_t{arguments.rows.count} * shared.group, threads);
  return call.launch("norm", shared.symbol, shape, arguments);
}

constexpr Kernel row(std::string_view name, std::string_view op) {
  return {.name = name, .op = op, .supports = supports, .enqueue = enqueue};
}

}  // namespace

extern const Kernel layer_norm_gpu = row("layer_norm_gpu", "layer_norm");
extern const Kernel rms_norm_gpu = row("rms_norm_gpu", "rms_norm");
extern const Kernel l2_normalize_gpu = row("l2_normalize_gpu", "l2_normalize");
extern const Kernel softmax_gpu = row("softmax_gpu", "softmax");

}  // namespace rung::gpu
