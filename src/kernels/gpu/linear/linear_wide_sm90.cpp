// The row of linear layers of more than 64 tokens, bound by the matrix units.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/gpu/linear/fill_ends.hpp"
#include "kernels/gpu/linear/linear_scaled.hpp"
#include "kernels/gpu/linear/linear_wide.hpp"
#include "kernels/gpu/make_nest.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kLeastTokens = 65;
constexpr int64_t kAligned = 8;   // rows of w in a group, columns of the result that a thread stores
constexpr int64_t kTogether = 4;  // columns of the result that one thread writes
constexpr int64_t kPaired = 128;  // rows of the tiles of heads that rotate

Verdict supports_sizes(const Problem& problem, const LinearShape& shape) {
  if (shape.m < kLeastTokens) return reject(fmt::format("{} rows, wanted at least {}", shape.m, kLeastTokens));
  if (shape.k < 1 || !has_box_rows(problem)) return reject("rows of x or w are not a multiple of 16 bytes");
  if (shape.n < 1 || shape.n % kAligned) return reject(fmt::format("n is not a multiple of {}", kAligned));
  if (auto verdict = supports_count(problem.output.shape); !verdict) return verdict;
  return supports_distances(problem, kTogether);
}

// Where x has 16 bits, the row rejects a bias beside a residual sum in f32 or with an f32 residual: no library computes
// that, and plans keep sums in f32 wherever a kernel offers to, so that this row would have no rival.
Verdict supports_types(const Problem& problem) {
  if (problem.inputs[0].dtype == DType::f32 || problem.inputs[1].dtype != problem.inputs[0].dtype)
    return reject("x and w are not both bf16, both f16, both f8e4m3fn or both i8");
  const DType type = wide_narrow(problem.inputs[0].dtype);
  if (problem.output.dtype != type && problem.output.dtype != DType::f32 && !is_quantised(problem.output.dtype))
    return reject("the result is neither f32 nor of x's type");
  const Operand* residual = problem.linear_operand(LinearSlot::residual);
  if (!residual) return accept();
  if (residual->dtype != type && residual->dtype != DType::f32)
    return reject("the residual is neither f32 nor of x's type");
  if (!is_quantised(problem.inputs[0].dtype) && problem.linear_operand(LinearSlot::bias) &&
      (residual->dtype != type || problem.output.dtype != type))
    return reject("a bias, and a residual sum that is not of x's type throughout");
  return accept();
}

Verdict supports_gate(const Problem& problem) {
  const auto& op = problem.as<Linear>();
  if (!op.epilogue.gated) return accept();
  if (op.epilogue.activation != Activation::gelu_tanh && op.epilogue.activation != Activation::silu)
    return reject(fmt::format("gated by {}, wanted gelu_tanh or silu", name_of(op.epilogue.activation)));
  if (op.has(LinearSlot::residual)) return reject("gated, with a residual");
  if (problem.output.dtype == DType::f32) return reject("gated, with a result in f32");
  return accept();
}

// Results of 8 bits are made where 16-bit ones are only rounded or gated.
Verdict supports_result(const Problem& problem) {
  const DType out = problem.output.dtype;
  if (auto verdict = supports_8_bit_result(problem); !verdict || !is_quantised(out)) return verdict;
  const auto& op = problem.as<Linear>();
  if (op.has(LinearSlot::residual)) return reject(fmt::format("a residual, and a result of {}", out));
  const Activation activation = op.epilogue.activation;
  const bool rounded =
      activation == Activation::none || activation == Activation::gelu || activation == Activation::gelu_tanh;
  if (op.epilogue.gated || rounded) return accept();
  return reject(fmt::format("a result of {} after {}", out, name_of(activation)));
}

// A tile has equally many rows of the lower and the upper halves of heads: of a part of a head, or of whole ones.
Verdict supports_angles(const Problem& problem, const LinearShape& shape) {
  if (shape.rotated == 0) return accept();
  const bool several = shape.head % (2 * kAligned) == 0 && kPaired % shape.head == 0;
  if (auto verdict = supports_heads(shape, several ? shape.head : kPaired); !verdict) return verdict;
  const DType narrow = wide_narrow(problem.inputs[0].dtype);
  if (problem.output.dtype != narrow)
    return reject(fmt::format("rotated heads, with a result in {}", name_of(problem.output.dtype)));
  for (LinearSlot slot : {LinearSlot::cos, LinearSlot::sin}) {
    const DType type = problem.linear_operand(slot)->dtype;
    if (type != problem.linear_operand(LinearSlot::cos)->dtype || (type != DType::f32 && type != narrow))
      return reject("angles are neither all f32 nor all of x's type");
  }
  return accept();
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (machine.gpu.architecture != 90) return reject("made for compute capability 9.0");
  if (problem.inputs[0].dtype == DType::f8e4m3fnuz) return reject("x is f8e4m3fnuz");
  if (auto verdict = supports_maybe_scaled(problem, problem.inputs[0].dtype); !verdict) return verdict;
  if (!problem.inputs[1].constant) return reject("w is not constant, so it cannot be fetched ahead");
  const LinearShape shape(problem);
  if (auto verdict = supports_types(problem); !verdict) return verdict;
  if (auto verdict = supports_result(problem); !verdict) return verdict;
  if (auto verdict = supports_gate(problem); !verdict) return verdict;
  if (auto verdict = supports_angles(problem, shape); !verdict) return verdict;
  if (auto verdict = supports_sizes(problem, shape); !verdict) return verdict;
  if (!wide_tiles(problem, machine.gpu).empty()) return accept();
  return reject(fmt::format("no tile fits {} bytes of shared memory", machine.gpu.shared_bytes_per_block));
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  Tunable tile(kWideParameters);
  for (const WideConfig& each : wide_tiles(problem, machine.gpu)) tile.values.push_back(parameters_of(each));
  return {tile};
}

// Returns the shape of w as groups of eight rows, each followed by its partners: up, or a head's upper half. Maps count
// 16 bits as a column.
TileShape shape_of_w(const Call& call, const WideConfig& tile) {
  const LinearShape shape(call.problem);
  const auto n = static_cast<uint64_t>(shape.n), row_bytes = static_cast<uint64_t>(row_bytes_of_w(call.problem));
  const uint32_t halves = tile.gated() || shape.rotated > 0 ? 2 : 1;
  const uint64_t heads = shape.rotated > 0 ? n / static_cast<uint64_t>(shape.head) : 1;
  const uint64_t half = static_cast<uint64_t>(shape.w_rows) / halves / heads, half_tile = tile.rows / halves;
  const uint64_t half_in_tile = shape.rotated > 0 ? std::min(half, half_tile) : half_tile;
  return {.address = call.inputs[1],
          .size = {row_bytes / 2, kAligned, halves, half / kAligned, heads},
          .stride = {row_bytes, half * row_bytes, kAligned * row_bytes, halves * half * row_bytes},
          .box = {kWideRowBytes / 2, kAligned, halves, static_cast<uint32_t>(half_in_tile / kAligned),
                  static_cast<uint32_t>(half_tile / half_in_tile)}};
}

Result<LinearWideArguments> arguments_of(const Call& call, const WidePlan& plan) {
  const LinearShape shape(call.problem);
  LinearWideArguments a{.end = epilogue_of(call),
                        .m = static_cast<int32_t>(shape.m),
                        .n = static_cast<int32_t>(shape.n),
                        .chunks = plan.chunks,
                        .stages = plan.stages,
                        .tiles = plan.tiles,
                        .split = plan.tile.split,
                        .order = {plan.token_tiles, plan.tiles / plan.token_tiles, plan.band}};
  const Runtime& runtime = call.gpu.runtime();
  RUNG_CHECK(call.gpu.check(runtime.tile_map(&a.w, shape_of_w(call, plan.tile)), "linear: describing w"));
  RUNG_CHECK(call.gpu.check(runtime.tensor_map(&a.x, boxes_of_x(call, static_cast<uint32_t>(plan.tile.tokens))),
                            "linear: describing x"));
  return a;
}

Status enqueue(const Call& call) {
  const WidePlan plan(call.problem, call.gpu.info());
  RUNG_TRY(LinearWideArguments arguments, arguments_of(call, plan));
  // Blocks of a gated product go on to their next tile while they finish the last; others have one tile each.
  const int split = plan.tile.split;
  const int blocks = plan.tile.gated() ? std::min(plan.tiles, call.gpu.info().multiprocessors) : plan.tiles * split;
  const Launch launch{.grid = {static_cast<uint32_t>(blocks)},
                      .block = {static_cast<uint32_t>(kWideThreads)},
                      .cluster = {static_cast<uint32_t>(split)},
                      .shared_bytes = static_cast<uint32_t>(plan.tile.shared_bytes(plan.stages)),
                      .dependent = call.gpu.info().dependent_launch};
  return call.launch("linear_wide_sm90", plan.function, launch, arguments);
}

}  // namespace

extern const Kernel linear_wide_sm90{.name = "linear_wide_sm90",
                                     .op = "linear",
                                     .supports = supports,
                                     .tunables = tunables,
                                     .alignment = 16,
                                     .enqueue = enqueue};

}  // namespace rung::gpu
