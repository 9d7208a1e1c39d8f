// The row of top_k.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/reduce/top_k_arguments.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

// The variants by x's type, or i64 for all integers.
constexpr Variant<DType> kVariants[] = {
#include "kernels/gpu/reduce/top_k.inc"
};

Verdict supports(const Problem& p, const Machine&) {
  if (auto verdict = supports_types(p, is_known); !verdict) return verdict;
  if (!p.inputs[0].is_rows()) return reject("rows of x are not dense");
  return supports_count(p.inputs[0].shape);
}

Status enqueue(const Call& call) {
  const Operand& x = call.problem.inputs[0];
  const TopKArguments arguments{.x = call.inputs[0],
                                .values = call.output,
                                .places = call.output + results_of(call.problem)[1].offset,
                                .x_row = x.row_stride(),
                                .width = static_cast<uint32_t>(x.shape.back()),
                                .k = static_cast<uint32_t>(call.problem.as<TopK>().k),
                                .type = x.dtype};
  return call.launch("top_k", symbol_of(kVariants, is_float(x.dtype) ? x.dtype : DType::i64),
                     launch_threads(call, x.rows() * kTopKThreads, kTopKThreads), arguments);
}

}  // namespace

extern const Kernel top_k_gpu{.name = "top_k_gpu", .op = "top_k", .supports = supports, .enqueue = enqueue};

}  // namespace rung::gpu
