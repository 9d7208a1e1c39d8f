// Rows of the vectorised rope, masked_mean and reduce (sums and means) kernels.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/lines/lines.hpp"

#include "kernels/cpu/rows.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

// ---- rope

template <CpuIsa isa>
Verdict supports_rope(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  if (!is_computed_float(p.output.dtype)) return reject("only f32, bf16 and f16");
  for (const Operand& x : p.inputs)
    if (x.shape.rank() == 0 || x.shape.back() != p.output.shape.back() || x.strides.back() != 1)
      return reject("rows are not dense");
  DType cos = p.inputs[1].dtype;
  if (p.inputs[2].dtype != cos || (cos != DType::f32 && cos != p.output.dtype))
    return reject("cos and sin are neither f32 nor of x's type");
  return accept();
}

std::shared_ptr<void> prepare_rope(const Problem& p, const Machine&) {
  auto plan = std::make_shared<RopePlan>();
  Shape rows = p.output.shape;
  plan->width = rows.back();
  std::vector<Strides> strides;
  for (const Operand& x : p.inputs) {
    strides.push_back(broadcast_strides(x, p.output.shape));
    strides.back().erase(rows.rank() - 1);
  }
  rows.erase(rows.rank() - 1);
  plan->loops = collapse_outer(rows, strides);
  plan->x = p.inputs[0].dtype, plan->cos = p.inputs[1].dtype, plan->sin = p.inputs[2].dtype;
  return plan;
}

template <CpuIsa isa>
void run_rope(const Call& call) {
  const auto& plan = *static_cast<const RopePlan*>(call.state);
  Range mine = share(call.problem.output.shape.product() / plan.width, call.part, call.parts);
  RopeWork work{&plan, call.inputs[0], call.inputs[1], call.inputs[2], call.output, mine.begin, mine.end};
  isa == CpuIsa::avx2 ? avx2::rope(work) : avx512::rope(work);
}

// ---- reduce and masked_mean

template <CpuIsa isa>
Verdict supports_mean(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  if (!is_computed_float(p.output.dtype)) return reject("only f32, bf16 and f16");
  const Operand& x = p.inputs[0];
  return x.strides.back() == 1 || x.shape.back() == 1 ? accept() : reject("x is not dense in its last axis");
}

std::shared_ptr<void> prepare_mean(const Problem& p, const Machine&) {
  const Operand &x = p.inputs[0], &mask = p.inputs[1];
  ReducePlan plan{ReduceKind::mean, x.shape[0],      x.shape[1],      x.shape[2], x.strides[0],
                  x.strides[1],     mask.strides[0], mask.strides[1], true,       p.as<MaskedMean>().eps,
                  x.dtype};
  return std::make_shared<ReducePlan>(plan);
}

template <CpuIsa isa>
Verdict supports_reduce(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  if (!is_computed_float(p.inputs[0].dtype)) return reject("only f32, bf16 and f16");
  if (p.as<Reduce>().kind == ReduceKind::max) return reject("only sums and means");
  return p.inputs[0].contiguous() ? accept() : reject("x is not contiguous");
}

std::shared_ptr<void> prepare_reduce(const Problem& p, const Machine&) {
  const auto& op = p.as<Reduce>();
  const Operand& x = p.inputs[0];
  int axis = axis_of(op.axis, x.shape);
  ReducePlan plan{};
  plan.kind = op.kind, plan.dtype = x.dtype;
  plan.batch = plan.width = 1, plan.count = x.shape[axis];
  for (int i = 0; i < x.shape.rank(); ++i)
    if (i != axis) (i < axis ? plan.batch : plan.width) *= x.shape[i];
  plan.x_line = plan.width, plan.x_batch = plan.count * plan.width;
  return std::make_shared<ReducePlan>(plan);
}

template <CpuIsa isa>
void run_reduce(const Call& call) {
  const auto& plan = *static_cast<const ReducePlan*>(call.state);
  constexpr int64_t kRun = 64;  // columns: each part has whole vectors and whole cache lines
  Range mine = share(plan.batch * plan.width, call.part, call.parts, plan.width == 1 ? 1 : kRun);
  ReduceWork work{&plan,       call.inputs[0], plan.weighted ? call.in<float>(1) : nullptr,
                  call.output, mine.begin,     mine.end};
  isa == CpuIsa::avx2 ? avx2::reduce(work) : avx512::reduce(work);
}

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  if (name.substr(0, 4) == "rope")
    return {name, "rope", supports_rope<isa>, run_rope<isa>, nullptr, nullptr, nullptr, prepare_rope};
  if (name.substr(0, 6) == "reduce")
    return {name, "reduce", supports_reduce<isa>, run_reduce<isa>, nullptr, nullptr, nullptr, prepare_reduce};
  return {name, "masked_mean", supports_mean<isa>, run_reduce<isa>, nullptr, nullptr, nullptr, prepare_mean};
}

}  // namespace

extern const Kernel rope_avx512 = row<CpuIsa::avx512>("rope_avx512");
extern const Kernel rope_avx2 = row<CpuIsa::avx2>("rope_avx2");
extern const Kernel reduce_avx512 = row<CpuIsa::avx512>("reduce_avx512");
extern const Kernel reduce_avx2 = row<CpuIsa::avx2>("reduce_avx2");
extern const Kernel masked_mean_avx512 = row<CpuIsa::avx512>("masked_mean_avx512");
extern const Kernel masked_mean_avx2 = row<CpuIsa::avx2>("masked_mean_avx2");

}  // namespace rung::cpu
