// Rows of attention of a few queries over a cache: the problems they support, their plan, and the pieces of each part.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/attention/cache.hpp"

#include <algorithm>

#include "kernels/cpu/attention/dense_heads.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/split.hpp"

namespace rung::cpu {
namespace {

CachePlan plan_for(const Problem& p) {
  const auto& op = p.as<Attention>();
  const Shape& q = p.output.shape;
  const Operand &k = p.inputs[op.first_key()], &v = p.inputs[op.first_key() + 1];
  CachePlan plan{};
  plan.batch = q[0], plan.queries = q[1], plan.heads = q[2], plan.width = q[3];
  plan.groups = k.shape[2], plan.keys = k.shape[1];
  for (int i = 0; i < 3; ++i) plan.q[i] = p.inputs[0].strides[i], plan.k[i] = k.strides[i], plan.v[i] = v.strides[i];
  plan.scale = op.scale, plan.dtype = p.output.dtype, plan.keys_are_f8 = is_f8(k.dtype);
  plan.softcap = op.softcap, plan.inverse_softcap = op.softcap == 0 ? 0 : 1 / op.softcap;
  plan.sees_all = op.span.sees_all();
  plan.before = op.span.before, plan.after = op.span.after, plan.prefix = op.span.prefix;
  // The length is not known here; runs are short enough to keep all threads at work, and no shorter than pays.
  constexpr int64_t kLeastRun = 128, kPiecesOfThread = 4;
  const int64_t heads = std::max<int64_t>(1, plan.batch * plan.groups);
  const int64_t wanted = p.threads <= 1 ? 1 : (kPiecesOfThread * p.threads + heads - 1) / heads;
  plan.runs = std::clamp<int64_t>(plan.keys / kLeastRun, 1, wanted);
  return plan;
}

template <CpuIsa isa>
Verdict supports(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  const auto& op = p.as<Attention>();
  if (!op.has_length()) return reject("no cache with a length");
  if (!op.is_plain()) return reject("a result of 8 bits, or with a factor");
  if (!is_computed_float(p.output.dtype)) return reject("only f32, bf16 and f16");
  if (auto verdict = supports_keys(p.inputs[op.first_key()]); !verdict) return verdict;
  for (size_t i : {size_t{0}, op.first_key(), op.first_key() + 1})
    if (!has_dense_heads(p.inputs[i])) return reject("a head's values are not dense");
  const int64_t rows = plan_for(p).rows();
  return rows <= kMostCacheRows ? accept()
                                : reject(fmt::format("{} rows of a key head, wanted at most {}", rows, kMostCacheRows));
}

std::shared_ptr<void> prepare(const Problem& p, const Machine&) { return std::make_shared<CachePlan>(plan_for(p)); }

int64_t heads_of(const CachePlan& plan) { return plan.batch * plan.groups; }

size_t scratch_bytes(const Problem& p, const Machine&) {
  const CachePlan plan = plan_for(p);
  return sizeof(float) *
         static_cast<size_t>(p.threads * plan.thread_floats() + heads_of(plan) * plan.runs * plan.run_floats());
}

Split split(const Problem& p, const Machine&) {
  const CachePlan plan = plan_for(p);
  return {static_cast<int>(std::clamp<int64_t>(heads_of(plan) * plan.runs, 1, p.threads)), 2};
}

template <CpuIsa isa>
void run(const Call& call) {
  const auto& plan = *static_cast<const CachePlan*>(call.state);
  const auto& op = call.problem.as<Attention>();
  const int64_t length = *call.in<int64_t>(op.slots.before(AttentionSlot::length));
  if (length < plan.queries) return call.fault->store(Fault::index_out_of_range, std::memory_order_relaxed);
  auto* scratch = static_cast<float*>(call.scratch);
  const size_t k = op.first_key();
  const Range mine = share(heads_of(plan) * (call.phase == 0 ? plan.runs : 1), call.part, call.parts);
  const CacheWork work{&plan,
                       call.inputs[0],
                       call.inputs[k],
                       call.inputs[k + 1],
                       call.output,
                       scratch + call.thread * plan.thread_floats(),
                       scratch + call.problem.threads * plan.thread_floats(),
                       length,
                       mine.begin,
                       mine.end};
  if constexpr (isa == CpuIsa::avx2) call.phase == 0 ? avx2::attend_cache(work) : avx2::join_runs(work);
  if constexpr (isa == CpuIsa::avx512) call.phase == 0 ? avx512::attend_cache(work) : avx512::join_runs(work);
}

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  return {.name = name,
          .op = "attention",
          .supports = supports<isa>,
          .run = run<isa>,
          .scratch_bytes = scratch_bytes,
          .prepare = prepare,
          .split = split};
}

}  // namespace

extern const Kernel attention_cache_avx512 = row<CpuIsa::avx512>("attention_cache_avx512");
extern const Kernel attention_cache_avx2 = row<CpuIsa::avx2>("attention_cache_avx2");

}  // namespace rung::cpu
