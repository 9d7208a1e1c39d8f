// The row of linear layers of at most 64 tokens, bound by the reading of their weights.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/linear/linear_skinny.hpp"
#include "kernels/gpu/make_nest.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kMostTokens = 64;
constexpr int64_t kAligned = 8;                   // 16-bit elements in the 16 bytes that boxes are aligned to
constexpr int64_t kTogether = 4;                  // columns of the result that one thread writes
constexpr int64_t kPaired = 16;                   // rows of the smallest tile of pairs, and so of a head
constexpr int64_t kSquares = 4;                   // f32 in 16 bytes: that many squares are read together
constexpr int64_t kNormed = kSquares * kNormRun;  // and stand for that many columns
constexpr LinearSlots kTaken{LinearSlot::bias, LinearSlot::residual,    LinearSlot::cos,
                             LinearSlot::sin,  LinearSlot::norm_weight, LinearSlot::squares};

Verdict supports_sizes(const Problem& problem, const LinearShape& shape) {
  if (shape.m < 1 || shape.m > kMostTokens) return reject(fmt::format("{} rows, wanted 1 to {}", shape.m, kMostTokens));
  if (shape.k < 1 || shape.k % kAligned || problem.inputs[0].row_stride() % kAligned)
    return reject("rows of x or w are not a multiple of 16 bytes");
  if (shape.n < 1 || shape.n % kTogether) return reject(fmt::format("n is not a multiple of {}", kTogether));
  return supports_distances(problem, kTogether);
}

Verdict supports_norms(const Problem& problem, const LinearShape& shape) {
  const auto& op = problem.as<Linear>();
  const bool feeds_norm = op.has(LinearSlot::norm_weight);
  if (feeds_norm && shape.n % kNormed)
    return reject(fmt::format("the sum that a norm follows has {} columns, wanted a multiple of {}", shape.n, kNormed));
  if (feeds_norm && op.out != DType::f32) return reject("the sum that a norm follows is not f32");
  const auto wants = [&](LinearSlot slot, DType type) {
    const Operand* operand = problem.linear_operand(slot);
    return !operand || operand->dtype == type;
  };
  if (!wants(LinearSlot::norm_weight, DType::f32)) return reject("the norm's weights are not f32");
  if (!wants(LinearSlot::squares, DType::f32)) return reject("squares are not f32");
  const Operand* squares = problem.linear_operand(LinearSlot::squares);
  if (squares && (shape.k % kNormed || squares->row_stride() % kSquares))
    return reject(fmt::format("rows of squares are of {} columns or {} elements apart, wanted multiples of {} and {}",
                              shape.k, squares->row_stride(), kNormed, kSquares));
  return accept();
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (machine.gpu.architecture != 90) return reject("made for compute capability 9.0");
  if (!problem.as<Linear>().slots.within(kTaken)) return reject("it does not take all of the operands");
  if (auto verdict = supports_linear_operands(problem, is_computed_float); !verdict) return verdict;
  const DType type = problem.inputs[0].dtype;
  if (type == DType::f32 || problem.inputs[1].dtype != type) return reject("x and w are not both bf16 or both f16");
  if (!problem.inputs[1].constant) return reject("w is not constant, so it cannot be fetched ahead");
  const LinearShape shape(problem);
  if (auto verdict = supports_sizes(problem, shape); !verdict) return verdict;
  if (auto verdict = supports_norms(problem, shape); !verdict) return verdict;
  if (auto verdict = supports_heads(shape, kPaired); !verdict) return verdict;
  if (!skinny_tiles(problem, machine.gpu).empty()) return accept();
  return reject(fmt::format("no tile fits {} bytes of shared memory", machine.gpu.shared_bytes_per_block));
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  Tunable tile{"tile", {}};
  for (const auto& each : skinny_tiles(problem, machine.gpu)) tile.values.push_back(each.parameter());
  return {tile, {"ring", {64, 32}}, {"alone", {0, 1}}, {"throttle", {kSkinnyThrottleNs, 0, 400}}};
}

Result<TensorMap> map_of(const Call& call, const BoxedMatrix& matrix) {
  TensorMap map;
  RUNG_CHECK(call.gpu.check(call.gpu.runtime().tensor_map(&map, matrix), "linear_skinny_sm90: tensor map"));
  return map;
}

void set_angles(LinearSkinnyArguments& a, const Call& call, const LinearShape& shape) {
  const Operand& cos = *call.problem.linear_operand(LinearSlot::cos);
  const Operand& sin = *call.problem.linear_operand(LinearSlot::sin);
  a.cos = address_of(call, LinearSlot::cos), a.cos_type = cos.dtype, a.cos_stride = cos.row_stride();
  a.sin = address_of(call, LinearSlot::sin), a.sin_type = sin.dtype, a.sin_stride = sin.row_stride();
  a.rotated = static_cast<uint32_t>(shape.rotated);
}

void set_norms(LinearSkinnyArguments& a, const Call& call, const LinearShape& shape) {
  const auto& op = call.problem.as<Linear>();
  a.scale = address_of(call, LinearSlot::norm_weight), a.squares = address_of(call, LinearSlot::squares);
  if (op.has(LinearSlot::norm_weight)) {
    const auto results = results_of(call.problem);
    a.scaled = call.output + results[1].offset, a.means = call.output + results[2].offset;
  }
  const Operand* squares = call.problem.linear_operand(LinearSlot::squares);
  if (!squares) return;
  a.eps = op.eps;
  a.squares_stride = static_cast<uint32_t>(squares->row_stride() / kSquares);
  a.squares_vectors = static_cast<uint32_t>(shape.k / kNormed);
  a.squares_share = static_cast<float>(kNormRun) / static_cast<float>(shape.k);
}

void set_epilogue(LinearSkinnyArguments& a, const Call& call, const LinearShape& shape) {
  const Problem& problem = call.problem;
  a.activation = static_cast<int32_t>(problem.as<Linear>().activation);
  a.out = call.output, a.out_type = problem.output.dtype;
  set_addends(a, call);
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
                          .throttle_ns = plan.throttle_ns,
                          .half = plan.half};
  RUNG_TRY(a.x, map_of(call, {call.inputs[0], m, k, pitch, plan.shared.tokens}));
  RUNG_TRY(a.w, map_of(call, {call.inputs[1], rows, k, k * 2, plan.box_rows}));
  set_epilogue(a, call, shape);
  return a;
}

Status enqueue(const Call& call) {
  const SkinnyPlan plan(call.problem, call.gpu.info());
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
