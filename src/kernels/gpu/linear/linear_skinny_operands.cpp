// Checks the operands that the skinny linear rows of all architectures take.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_skinny_operands.hpp"

#include "kernels/gpu/linear/linear_scaled.hpp"
#include "kernels/gpu/make_nest.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kTogether = 4;  // columns of the result that one thread writes
constexpr int64_t kPaired = 16;   // rows of the smallest tile of pairs, and so of a head
constexpr LinearSlots kNorms{LinearSlot::norm_weight, LinearSlot::squares};

Verdict supports_normed(const Problem& problem, bool (*takes)(DType)) {
  const DType normed = problem.as<Linear>().epilogue.normed;
  if (normed == DType::bf16 || (is_quantised(normed) && takes(normed))) return accept();
  return reject(fmt::format("what a norm gives is {}", name_of(normed)));
}

}  // namespace

Verdict supports_norms(const Problem& problem, int64_t run) {
  const auto& op = problem.as<Linear>();
  const LinearShape shape(problem);
  const int64_t columns = kSquares * run;  // that the squares read together stand for
  const bool feeds_norm = op.has(LinearSlot::norm_weight);
  if (feeds_norm && shape.n % columns)
    return reject(fmt::format("the sum that a norm follows has {} columns, wanted a multiple of {}", shape.n, columns));
  const Operand* squares = problem.linear_operand(LinearSlot::squares);
  const int64_t own = feeds_norm ? op.epilogue.norm_run : squares ? shape.k / squares->shape.back() : run;
  if (own != run) return reject(fmt::format("squares of {} columns together, wanted {}", own, run));
  if (feeds_norm && op.out != DType::f32) return reject("the sum that a norm follows is not f32");
  const auto wants = [&](LinearSlot slot, DType type) {
    const Operand* operand = problem.linear_operand(slot);
    return !operand || operand->dtype == type;
  };
  if (!wants(LinearSlot::norm_weight, DType::f32)) return reject("the norm's weights are not f32");
  if (!wants(LinearSlot::squares, DType::f32)) return reject("squares are not f32");
  if (squares && (shape.k % columns || squares->row_stride() % kSquares))
    return reject(fmt::format("rows of squares are of {} columns or {} elements apart, wanted multiples of {} and {}",
                              shape.k, squares->row_stride(), columns, kSquares));
  return accept();
}
Verdict supports_streamed(const Problem& problem, bool (*takes)(DType)) {
  const DType type = problem.inputs[0].dtype;
  if (!takes(type) || problem.inputs[1].dtype != type)
    return reject(fmt::format("x and w are not both bf16{}{}, both {} or both f16",
                              takes(DType::f32) ? ", both f32" : "", takes(DType::i8) ? ", both i8" : "",
                              takes(DType::f8e4m3fn) ? DType::f8e4m3fn : DType::f8e4m3fnuz));
  if (auto verdict = supports_maybe_scaled(problem, type, kNorms); !verdict) return verdict;
  if (auto verdict = supports_8_bit_result(problem); !verdict) return verdict;
  if (auto verdict = supports_count(problem.output.shape); !verdict) return verdict;
  if (!problem.inputs[1].constant) return reject("w is not constant, so it cannot be fetched ahead");
  const LinearShape shape(problem);
  const auto aligned = static_cast<int64_t>(16 / size_of(type));
  if (shape.k < 1 || shape.k % aligned || problem.inputs[0].row_stride() % aligned)
    return reject("rows of x or w are not a multiple of 16 bytes");
  if (shape.n < 1 || shape.n % kTogether) return reject(fmt::format("n is not a multiple of {}", kTogether));
  return supports_distances(problem, kTogether);
}

Verdict supports_skinny(const Problem& problem, bool (*takes)(DType), int64_t most_tokens) {
  if (auto verdict = supports_streamed(problem, takes); !verdict) return verdict;
  const LinearShape shape(problem);
  if (shape.m < 1 || shape.m > most_tokens) return reject(fmt::format("{} rows, wanted 1 to {}", shape.m, most_tokens));
  if (auto verdict = supports_normed(problem, takes); !verdict) return verdict;
  if (auto verdict = supports_norms(problem, kNormRun); !verdict) return verdict;
  return supports_heads(shape, kPaired);
}

}  // namespace rung::gpu
