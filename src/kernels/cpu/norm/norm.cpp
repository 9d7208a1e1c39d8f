// Rows of the vectorised normalisations over the last axis: layer_norm, rms_norm, l2_normalize, softmax.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/norm/norm.hpp"

#include <algorithm>
#include <array>

#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/norm_operands.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

template <CpuIsa isa>
Verdict supports(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    if (!is_computed_float(p.inputs[i].dtype)) return reject("only f32, bf16 and f16");
    if (p.inputs[i].strides.back() != 1 && p.inputs[i].shape.back() != 1)
      return reject("an operand's rows are not dense");
  }
  if (!is_computed_float(p.output.dtype)) return reject("only f32, bf16 and f16");
  const int residual = NormOperands(p).residual;
  if (residual >= 0 && p.inputs[size_t(residual)].dtype != p.inputs[0].dtype)
    return reject("the residual's type is not x's");
  const auto* softmax = as<Softmax>(p.op);
  if (softmax && axis_of(softmax->axis, p.output.shape) != p.output.shape.rank() - 1)
    return reject("softmax along another axis than the last");
  return accept();
}

Dims without_last(Dims dims) {
  dims.erase(dims.rank() - 1);
  return dims;
}

NormPlan plan_for(const Problem& p) {
  const Operand& x = p.inputs[0];
  NormPlan plan{};
  plan.rows = x.rows(), plan.width = x.shape.back();
  plan.x = x.dtype, plan.out = p.output.dtype, plan.weight = plan.bias = DType::f32;
  const NormOperands at(p);
  const auto operand = [&](int place) { return place < 0 ? nullptr : &p.inputs[static_cast<size_t>(place)]; };
  plan.has_residual = at.residual >= 0;
  const Operand& residual = plan.has_residual ? *operand(at.residual) : x;
  plan.loops = collapse(without_last(x.shape), std::array{without_last(x.strides), without_last(residual.strides)});
  if (const Operand* weight = operand(at.weight)) plan.weight = weight->dtype;
  if (const Operand* bias = operand(at.bias)) plan.bias = bias->dtype;
  if (const auto* layer_norm = as<LayerNorm>(p.op)) {
    plan.kind = NormKind::layer_norm, plan.eps = layer_norm->eps;
  } else if (const auto* rms_norm = as<RmsNorm>(p.op)) {
    plan.kind = NormKind::rms_norm, plan.eps = rms_norm->eps, plan.weight_offset = rms_norm->weight_offset;
  } else if (const auto* l2 = as<L2Normalize>(p.op)) {
    plan.kind = NormKind::l2_normalize, plan.eps = l2->eps;
  } else {
    plan.kind = NormKind::softmax;
  }
  plan.thread_floats = 3 * ((plan.width + 15) / 16 * 16);
  return plan;
}

std::shared_ptr<void> prepare(const Problem& p, const Machine&) { return std::make_shared<NormPlan>(plan_for(p)); }
size_t scratch_bytes(const Problem& p, const Machine&) {
  return sizeof(float) * static_cast<size_t>(plan_for(p).thread_floats * p.threads);
}

// Returns the rows from `row` on that stand at one step from each other, at most to the end of the range.
NormWork work_at(const Call& call, const NormPlan& plan, int64_t row, int64_t end) {
  const NormOperands at(call.problem);
  const Loops& loops = plan.loops;
  const int64_t first = row % loops.inner;
  int64_t offsets[2];
  outer_offsets(loops, row / loops.inner, offsets);
  const auto row_of = [&](const void* base, int i) {
    return static_cast<const std::byte*>(base) +
           (offsets[i] + first * loops.inner_strides[i]) * static_cast<int64_t>(size_of(plan.x));
  };
  const auto address = [&](int place) { return place < 0 ? nullptr : call.inputs[place]; };
  return {&plan,
          row_of(call.inputs[0], 0),
          row_of(plan.has_residual ? address(at.residual) : call.inputs[0], 1),
          address(at.weight),
          address(at.bias),
          static_cast<std::byte*>(call.output) + row * plan.width * static_cast<int64_t>(size_of(plan.out)),
          static_cast<float*>(call.scratch) + plan.thread_floats * call.thread,
          std::min(loops.inner - first, end - row)};
}

template <CpuIsa isa>
void run(const Call& call) {
  const auto& plan = *static_cast<const NormPlan*>(call.state);
  const Range mine = share(plan.rows, call.part, call.parts);
  for (int64_t row = mine.begin; row < mine.end;) {
    const NormWork work = work_at(call, plan, row, mine.end);
    isa == CpuIsa::avx2 ? avx2::norm(work) : avx512::norm(work);
    row += work.rows;
  }
}

template <CpuIsa isa>
constexpr Kernel row(std::string_view name, std::string_view op) {
  return {.name = name,
          .op = op,
          .supports = supports<isa>,
          .run = run<isa>,
          .scratch_bytes = scratch_bytes,
          .prepare = prepare,
          .split = split_by_elements};
}

}  // namespace

extern const Kernel layer_norm_avx512 = row<CpuIsa::avx512>("layer_norm_avx512", "layer_norm");
extern const Kernel layer_norm_avx2 = row<CpuIsa::avx2>("layer_norm_avx2", "layer_norm");
extern const Kernel rms_norm_avx512 = row<CpuIsa::avx512>("rms_norm_avx512", "rms_norm");
extern const Kernel rms_norm_avx2 = row<CpuIsa::avx2>("rms_norm_avx2", "rms_norm");
extern const Kernel l2_normalize_avx512 = row<CpuIsa::avx512>("l2_normalize_avx512", "l2_normalize");
extern const Kernel l2_normalize_avx2 = row<CpuIsa::avx2>("l2_normalize_avx2", "l2_normalize");
extern const Kernel softmax_avx512 = row<CpuIsa::avx512>("softmax_avx512", "softmax");
extern const Kernel softmax_avx2 = row<CpuIsa::avx2>("softmax_avx2", "softmax");

}  // namespace rung::cpu
