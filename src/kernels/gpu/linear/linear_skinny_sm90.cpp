// The row of linear layers of at most 64 tokens, bound by the reading of their weights.
// SPDX-License-Identifier: Apache-2.0
#include "ir/norm_row.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/linear/linear_skinny.hpp"
#include "kernels/gpu/make_nest.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kMostTokens = 64;
constexpr int64_t kAligned = 8;   // 16-bit elements in the 16 bytes that boxes are aligned to
constexpr int64_t kTogether = 4;  // columns of the result that one thread writes
constexpr int64_t kPaired = 16;   // rows of the smallest tile of pairs, and so of a head
constexpr int64_t kNormed = 128;  // columns whose squares are 16 bytes

Verdict supports_sizes(const Problem& problem, const LinearShape& shape) {
  if (shape.m < 1 || shape.m > kMostTokens) return reject(fmt::format("{} rows, wanted 1 to {}", shape.m, kMostTokens));
  if (shape.k < 1 || shape.k % kAligned || problem.inputs[0].row_stride() % kAligned)
    return reject("rows of x or w are not a multiple of 16 bytes");
  if (shape.n < 1 || shape.n % kTogether) return reject(fmt::format("n is not a multiple of {}", kTogether));
  if (shape.residual_at > 0 && problem.inputs[static_cast<size_t>(shape.residual_at)].row_stride() % kTogether)
    return reject(fmt::format("rows of the residual are not a multiple of {} elements apart", kTogether));
  return accept();
}

Verdict supports_angles(const Problem& problem, const LinearShape& shape) {
  if (shape.rotated == 0) return accept();
  if (shape.head % kPaired || shape.n % shape.head)
    return reject(fmt::format("heads of {} columns in {}, wanted a multiple of {} that divides them", shape.head,
                              shape.n, kPaired));
  for (int at : {shape.cos_at, shape.sin_at})
    if (problem.inputs[static_cast<size_t>(at)].row_stride() % kTogether)
      return reject(fmt::format("rows of angles are not a multiple of {} elements apart", kTogether));
  return accept();
}

Verdict supports_norms(const Problem& problem, const LinearShape& shape) {
  if (shape.scale_at > 0 && shape.n % kNormed)
    return reject(fmt::format("rows for a norm have {} columns, wanted a multiple of {}", shape.n, kNormed));
  const auto wants = [&](int at, DType type) {
    return at < 0 || problem.inputs[static_cast<size_t>(at)].dtype == type;
  };
  if (!wants(shape.scale_at, DType::f32)) return reject("scale is not f32");
  if (!wants(shape.squares_at, DType::bf16)) return reject("squares are not bf16");
  if (problem.as<Linear>().split_residual && !wants(shape.residual_at, DType::bf16))
    return reject("the parts of the residual are not bf16");
  if (shape.squares_at < 0) return accept();
  const Operand& squares = problem.inputs[static_cast<size_t>(shape.squares_at)];
  if (shape.k % kNormed || squares.row_stride() % kAligned)
    return reject(fmt::format("rows of squares are of {} columns or {} elements apart, wanted multiples of {} and {}",
                              shape.k, squares.row_stride(), kNormed, kAligned));
  return accept();
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (machine.gpu.architecture != 90) return reject("made for compute capability 9.0");
  if (auto verdict = supports_linear_operands(problem, is_computed_float); !verdict) return verdict;
  const DType type = problem.inputs[0].dtype;
  if (type == DType::f32 || problem.inputs[1].dtype != type) return reject("x and w are not both bf16 or both f16");
  if (!problem.inputs[1].constant) return reject("w is not constant, so it cannot be fetched ahead");
  const LinearShape shape(problem);
  if (auto verdict = supports_sizes(problem, shape); !verdict) return verdict;
  if (auto verdict = supports_norms(problem, shape); !verdict) return verdict;
  return supports_angles(problem, shape);
}

std::vector<Tunable> tunables(const Problem& problem) {
  Tunable tile{"tile", {}};
  for (const auto& each : skinny_tiles(problem)) tile.values.push_back(each.parameter());
  return {tile, {"ring", {64, 32}}, {"alone", {0, 1}}, {"pace", {kSkinnyPaceNs, 0, 400}}};
}

Result<TensorMap> map_of(const Call& call, const BoxedMatrix& matrix) {
  TensorMap map;
  RUNG_CHECK(call.gpu.check(call.gpu.runtime().tensor_map(&map, matrix), "linear_skinny_sm90: tensor map"));
  return map;
}

void set_angles(LinearSkinnyArguments& a, const Call& call, const LinearShape& shape) {
  const Operand& cos = call.problem.inputs[static_cast<size_t>(shape.cos_at)];
  const Operand& sin = call.problem.inputs[static_cast<size_t>(shape.sin_at)];
  a.cos = call.inputs[shape.cos_at], a.cos_type = cos.dtype, a.cos_stride = cos.row_stride();
  a.sin = call.inputs[shape.sin_at], a.sin_type = sin.dtype, a.sin_stride = sin.row_stride();
  a.rotated = static_cast<uint32_t>(shape.rotated);
}

void set_norms(LinearSkinnyArguments& a, const Call& call, const LinearShape& shape) {
  const auto& op = call.problem.as<Linear>();
  if (op.split_residual) a.residual_low = shape.n;
  if (op.feeds_norm) a.scale = call.inputs[shape.scale_at];
  if (!op.normed) return;
  a.squares = call.inputs[shape.squares_at], a.eps = op.eps;
  const int64_t stride = call.problem.inputs[static_cast<size_t>(shape.squares_at)].row_stride();
  a.squares_stride = static_cast<uint32_t>(stride / kAligned);
  a.squares_vectors = static_cast<uint32_t>(shape.k / kNormed);
  a.squares_share = static_cast<float>(kNormRun) / static_cast<float>(shape.k);
}

void set_epilogue(LinearSkinnyArguments& a, const Call& call, const LinearShape& shape) {
  const Problem& problem = call.problem;
  a.activation = static_cast<int32_t>(problem.as<Linear>().activation);
  a.out = call.output, a.out_type = problem.output.dtype;
  if (shape.bias_at > 0) {
    a.bias = call.inputs[shape.bias_at], a.bias_type = problem.inputs[static_cast<size_t>(shape.bias_at)].dtype;
  }
  if (shape.residual_at > 0) {
    const Operand& residual = problem.inputs[static_cast<size_t>(shape.residual_at)];
    a.residual = call.inputs[shape.residual_at], a.residual_type = residual.dtype;
    a.residual_stride = residual.row_stride();
  }
  if (shape.rotated > 0) set_angles(a, call, shape);
  set_norms(a, call, shape);
}

Result<LinearSkinnyArguments> arguments_of(const Call& call, const SkinnyPlan& plan) {
  const LinearShape shape(call.problem);
  const auto m = static_cast<uint32_t>(shape.m), n = static_cast<uint32_t>(shape.n);
  const auto rows = static_cast<uint64_t>(shape.w_rows), k = static_cast<uint64_t>(shape.k);
  const auto pitch = static_cast<uint64_t>(call.problem.inputs[0].row_stride()) * 2;
  LinearSkinnyArguments a{.m = m,
                          .n = n,
                          .tokens = plan.shared.tokens,
                          .chunks = plan.chunks,
                          .x_stages = plan.shared.x_stages,
                          .w_stages = plan.shared.w_stages,
                          .pace_ns = plan.pace_ns,
                          .half = plan.half};
  RUNG_TRY(a.x, map_of(call, {call.inputs[0], m, k, pitch, plan.shared.tokens}));
  RUNG_TRY(a.w, map_of(call, {call.inputs[1], rows, k, k * 2, plan.box_rows}));
  set_epilogue(a, call, shape);
  return a;
}

Status enqueue(const Call& call) {
  const SkinnyPlan plan(call.problem);
  const Launch launch{.grid = {plan.blocks()},
                      .block = {kSkinnyThreads},
                      .cluster = {plan.tile.split},
                      .shared_bytes = plan.shared_bytes,
                      .dependent = call.gpu.info().dependent_launch};
  RUNG_TRY(LinearSkinnyArguments arguments, arguments_of(call, plan));
  return call.launch("linear_skinny_sm90", plan.function, launch, arguments);
}

}  // namespace

extern const Kernel linear_skinny_sm90{.name = "linear_skinny_sm90",
                                       .op = "linear",
                                       .supports = supports,
                                       .tunables = tunables,
                                       .alignment = 16,
                                       .enqueue = enqueue};

}  // namespace rung::gpu
