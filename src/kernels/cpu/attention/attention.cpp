// Rows of the vectorised attention kernels: the problems they support, their plan, and the blocks of each thread.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/attention/attention.hpp"

#include "kernels/cpu/attention/dense_heads.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/strided.hpp"

namespace rung::cpu {
namespace {

Verdict supports(const Problem& p, const Machine&) {
  const auto& op = p.as<Attention>();
  if (!is_computed_float(p.inputs[0].dtype)) return reject("only f32, bf16 and f16");
  if (is_f8(p.output.dtype))
    return reject(fmt::format("a result of {}, wanted i8 or q's type", name_of(p.output.dtype)));
  if (auto verdict = supports_keys(p.inputs[op.first_key()]); !verdict) return verdict;
  if (op.segments > kMaxAttentionSegments) return reject(fmt::format("at most {} segments", kMaxAttentionSegments));
  for (size_t i = 0; i < p.inputs.size(); ++i)
    if ((i == 0 || i >= op.first_key()) && !has_dense_heads(p.inputs[i]))
      return reject("a head's values are not dense");
  const Operand* mask = op.slots.find(p.inputs, AttentionSlot::mask);
  if (mask && mask->shape.rank() > 0 && mask->shape.back() != 1 && mask->strides.back() > 1)
    return reject("the mask's keys are not dense");
  return accept();
}

constexpr bool of_pairs(CpuIsa isa) { return isa == CpuIsa::avx512_bf16 || isa == CpuIsa::amx_bf16; }

template <CpuIsa isa>
Verdict supports_with(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  const bool is_bf16 = p.inputs[0].dtype == DType::bf16 && p.inputs.back().dtype == DType::bf16;
  if (of_pairs(isa) && !is_bf16) return reject("only bf16");
  if (of_pairs(isa) && p.output.shape[3] > kMaxBf16AttentionWidth)
    return reject(fmt::format("heads wider than {}", kMaxBf16AttentionWidth));
  return supports(p, cpu);
}

int64_t rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

void plan_strides(const Problem& p, AttentionPlan& plan) {
  const auto& op = p.as<Attention>();
  for (int i = 0; i < 3; ++i) plan.q[i] = p.inputs[0].strides[i];
  if (const Operand* operand = op.slots.find(p.inputs, AttentionSlot::mask)) {
    Strides mask = broadcast_strides(*operand, Shape{plan.batch, plan.heads, plan.queries, plan.keys});
    for (int i = 0; i < 4; ++i) plan.mask[i] = mask[i];
  }
  for (int s = 0; s < plan.segments; ++s) {
    const size_t first = op.first_key() + 2u * static_cast<size_t>(s);
    auto& segment = plan.segment[s];
    segment.keys = p.inputs[first].shape[1];
    for (int i = 0; i < 3; ++i) {
      segment.k[i] = p.inputs[first].strides[i];
      segment.v[i] = p.inputs[first + 1].strides[i];
    }
  }
}

// Plans the scratch of the f32 kernels: K and V, a block's queries and scores, all f32.
void plan_scratch(AttentionPlan& plan, int64_t lanes) {
  plan.padded_keys = rounded(plan.keys, lanes);
  plan.v_at = rounded(plan.padded_keys * plan.width, 16);
  plan.q_at = plan.v_at + rounded(plan.keys * rounded(plan.width, lanes), 16);
  plan.scores_at = plan.q_at + rounded(plan.query_block * plan.width, 16);
  plan.sums_at = plan.scores_at + rounded(plan.query_block * plan.padded_keys, 16);
  plan.thread_floats = plan.sums_at + rounded(plan.query_block * rounded(plan.width, lanes), 16);
}

// Plans the scratch of the kernels of pairs: all bf16 but the scores, two values per float; whole tiles of 16 rows.
void plan_scratch_of_pairs(AttentionPlan& plan) {
  const int64_t rows = rounded(plan.query_block, 16);
  plan.padded_keys = rounded(plan.keys, 32);
  plan.padded_width = rounded(plan.width, 32);
  plan.v_at = plan.padded_keys * plan.padded_width / 2;
  plan.q_at = 2 * plan.v_at;
  plan.weights_at = plan.q_at + rows * plan.padded_width / 2;
  plan.scores_at = plan.weights_at + rows * plan.padded_keys / 2;
  plan.sums_at = plan.scores_at + rows * plan.padded_keys;
  plan.thread_floats = plan.sums_at + rows * plan.padded_width;
}

template <CpuIsa isa>
void plan_scratch_for(AttentionPlan& plan) {
  of_pairs(isa) ? plan_scratch_of_pairs(plan) : plan_scratch(plan, isa == CpuIsa::avx2 ? 8 : 16);
}

template <CpuIsa isa>
AttentionPlan plan_for(const Problem& p) {
  const auto& op = p.as<Attention>();
  const Shape& q = p.output.shape;
  const size_t first = op.first_key();
  AttentionPlan plan{};
  plan.batch = q[0], plan.queries = q[1], plan.heads = q[2], plan.width = q[3];
  plan.groups = p.inputs[first].shape[2];
  plan.segments = static_cast<int>(op.segments);
  plan.softcap = op.softcap, plan.inverse_softcap = op.softcap == 0 ? 0 : 1 / op.softcap;
  plan.sees_all = op.span.sees_all();
  plan.before = op.span.before, plan.after = op.span.after, plan.prefix = op.span.prefix;
  plan.scale = op.scale, plan.has_mask = op.has_mask(), plan.dtype = p.inputs[0].dtype;
  plan.keys_are_f8 = is_f8(p.inputs[first].dtype);
  plan.factor = op.factor, plan.to_i8 = p.output.dtype == DType::i8;
  for (size_t i = first; i < p.inputs.size(); i += 2) plan.keys += p.inputs[i].shape[1];
  plan_strides(p, plan);
  plan.query_block = std::min({p.param("query_block", isa == CpuIsa::avx2 ? 24 : 32), kMaxQueryBlock, plan.queries});
  plan.query_block = std::max<int64_t>(plan.query_block, 1);
  plan_scratch_for<isa>(plan);
  return plan;
}

// The keys of a call and where they lie.
struct Keys {
  AttentionPlan plan;
  const void* at[2 * kMaxAttentionSegments];

  Keys(const Call& call, const AttentionPlan& of) : plan(of) {
    const auto& op = call.problem.as<Attention>();
    std::copy(call.inputs + op.first_key(), call.inputs + call.problem.inputs.size(), at);
  }
  // Takes the cache's keys in the order of their places. A ring that has begun again has its oldest keys behind its
  // latest, which become a segment of their own.
  void fill(int64_t length) {
    const int64_t room = plan.keys, oldest = length > room ? length % room : 0;
    plan.keys = std::min(length, room);
    const int64_t ahead = plan.keys - plan.queries;  // of the first query
    plan.after += ahead, plan.before -= ahead;
    plan.prefix = std::max<int64_t>(plan.prefix - (length - plan.keys), 0);
    plan.segment[0].keys = plan.keys - oldest;
    if (oldest == 0) return;
    plan.segments = 2, plan.segment[1] = plan.segment[0], plan.segment[1].keys = oldest;
    const auto key_bytes = static_cast<int64_t>(plan.keys_are_f8 ? sizeof(uint8_t) : size_of(plan.dtype));
    for (int i = 0; i < 2; ++i) {
      const int64_t step = i == 0 ? plan.segment[0].k[1] : plan.segment[0].v[1];
      at[2 + i] = at[i];
      at[i] = static_cast<const std::byte*>(at[i]) + oldest * step * key_bytes;
    }
  }
};

template <CpuIsa isa>
std::shared_ptr<void> prepare(const Problem& p, const Machine&) {
  return std::make_shared<AttentionPlan>(plan_for<isa>(p));
}

template <CpuIsa isa>
size_t scratch_bytes(const Problem& p, const Machine&) {
  return sizeof(float) * static_cast<size_t>(plan_for<isa>(p).thread_floats * p.threads);
}

std::vector<Tunable> tunables_of_pairs(const Problem& p, const Machine&) {
  if (p.output.shape[1] <= 16) return {};
  return {{"query_block", {32, 64, 128, 16}}};
}

std::vector<Tunable> tunables(const Problem& p, const Machine&) {
  if (p.output.shape[1] <= 12) return {};
  return {{"query_block", {24, 48, 96, 12, 32, 16}}};
}

int64_t blocks_of_head(const AttentionPlan& plan) { return (plan.queries + plan.query_block - 1) / plan.query_block; }
int64_t blocks_of_group(const AttentionPlan& plan) {
  return std::max<int64_t>(1, plan.heads / plan.groups * blocks_of_head(plan));
}
int64_t blocks_of(const AttentionPlan& plan) { return plan.batch * plan.heads * blocks_of_head(plan); }

// A part begins with a group of heads, whose K and V it packs: a cut within a group would pack them again.
template <CpuIsa isa>
Split split(const Problem& p, const Machine&) {
  const AttentionPlan plan = plan_for<isa>(p);
  const double flop = 4 * static_cast<double>(plan.batch * plan.heads * plan.width) *
                      p.as<Attention>().span.pairs(plan.queries, plan.keys);
  return {p.threads *
          pieces_of_share(p, flop * 1e-3 / kCoreGflops, blocks_of(plan) / blocks_of_group(plan) / p.threads)};
}

template <CpuIsa isa>
void run(const Call& call) {
  const Problem& p = call.problem;
  const auto& of = *static_cast<const AttentionPlan*>(call.state);
  const auto& op = p.as<Attention>();
  Keys keys(call, of);
  AttentionPlan& plan = keys.plan;
  if (op.has_length()) {
    const int64_t length = *call.in<int64_t>(op.slots.before(AttentionSlot::length));
    if (length < plan.queries) return call.fault->store(Fault::index_out_of_range, std::memory_order_relaxed);
    keys.fill(length);
    plan_scratch_for<isa>(plan);
  }
  const int pieces = call.parts / p.threads;
  const Range of_thread = share(blocks_of(plan), call.part / pieces, p.threads);
  const Range mine = piece(of_thread, call.part % pieces, pieces, blocks_of_group(plan));
  AttentionWork work{
      &plan,      call.inputs[0], op.has_mask() ? call.in<float>(op.slots.before(AttentionSlot::mask)) : nullptr,
      keys.at,    call.output,    static_cast<float*>(call.scratch) + of.thread_floats * call.thread,
      mine.begin, mine.end};
  if constexpr (isa == CpuIsa::avx2) avx2::attention(work);
  if constexpr (isa == CpuIsa::avx512) avx512::attention(work);
  if constexpr (isa == CpuIsa::avx512_bf16) avx512_bf16::attention(work);
  if constexpr (isa == CpuIsa::amx_bf16) amx_bf16::attention(work);
}

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  return {.name = name,
          .op = "attention",
          .supports = supports_with<isa>,
          .run = run<isa>,
          .scratch_bytes = scratch_bytes<isa>,
          .prepare = prepare<isa>,
          .tunables = of_pairs(isa) ? tunables_of_pairs : tunables,
          .split = split<isa>};
}

}  // namespace

extern const Kernel attention_amx_bf16 = row<CpuIsa::amx_bf16>("attention_amx_bf16");
extern const Kernel attention_avx512_bf16 = row<CpuIsa::avx512_bf16>("attention_avx512_bf16");
extern const Kernel attention_avx512 = row<CpuIsa::avx512>("attention_avx512");
extern const Kernel attention_avx2 = row<CpuIsa::avx2>("attention_avx2");

}  // namespace rung::cpu
