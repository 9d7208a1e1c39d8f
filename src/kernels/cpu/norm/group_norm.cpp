// Rows of group norms. Parts of a call share the groups of each element of the batch.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/norm/group_norm.hpp"

#include <algorithm>

#include "kernels/cpu/rows.hpp"

namespace rung::cpu {
namespace {

template <CpuIsa isa>
Verdict supports(const Problem& p, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  if (!is_computed_float(p.inputs[0].dtype)) return reject("only f32, bf16 and f16");
  return p.inputs[0].contiguous() ? accept() : reject("x is not dense");
}

size_t scratch_bytes(const Problem& p, const Machine&) {
  return 2 * sizeof(float) * static_cast<size_t>(p.output.shape.back() * std::max(1, p.threads));
}

template <CpuIsa isa>
void run(const Call& call) {
  const Problem& p = call.problem;
  const Shape& shape = p.output.shape;
  const auto& op = p.as<GroupNorm>();
  const int64_t channels = shape.back(), run = channels / op.groups, image = shape.product() / shape[0];
  const auto bytes = static_cast<int64_t>(size_of(p.output.dtype));
  const Range mine = share(shape[0] * op.groups, call.part, call.parts);
  for (int64_t group = mine.begin; group < mine.end;) {
    const int64_t first = group % op.groups, count = std::min(op.groups - first, mine.end - group);
    const int64_t at = (group / op.groups * image + first * run) * bytes;
    const GroupNormWork work{.type = p.output.dtype,
                             .places = image / channels,
                             .channels = channels,
                             .columns = count * run,
                             .run = run,
                             .eps = op.eps,
                             .x = call.in<std::byte>(0) + at,
                             .out = call.out<std::byte>() + at,
                             .scratch = static_cast<float*>(call.scratch) + 2 * channels * call.thread};
    isa == CpuIsa::avx2 ? avx2::group_norm(work) : avx512::group_norm(work);
    group += count;
  }
}

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  return {.name = name, .op = "group_norm", .supports = supports<isa>, .run = run<isa>, .scratch_bytes = scratch_bytes};
}

}  // namespace

extern const Kernel group_norm_avx512 = row<CpuIsa::avx512>("group_norm_avx512");
extern const Kernel group_norm_avx2 = row<CpuIsa::avx2>("group_norm_avx2");

}  // namespace rung::cpu
