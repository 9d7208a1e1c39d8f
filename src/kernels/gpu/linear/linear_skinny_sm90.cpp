// The row of linear layers of few tokens, which are short of blocks or bound by the reading of their weights.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/linear/linear_scaled.hpp"
#include "kernels/gpu/linear/linear_skinny.hpp"
#include "kernels/gpu/linear/linear_skinny_operands.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kMostTokens = 320;  // with more, larger tiles read less

bool is_multiplied(DType type) { return is_narrow(type) || type == DType::f8e4m3fn || type == DType::i8; }

Verdict supports(const Problem& problem, const Machine& machine) {
  if (machine.gpu.architecture != 90) return reject("made for compute capability 9.0");
  if (auto verdict = supports_skinny(problem, is_multiplied, kMostTokens); !verdict) return verdict;
  // Only this row takes a norm: a pass that folds norms of many tokens would leave such layers no other.
  if (problem.output.rows() > kSkinnyMostTokens && !problem.as<Linear>().slots.within(kSlotsWithScales))
    return reject(fmt::format("a norm and more than {} rows", kSkinnyMostTokens));
  if (!skinny_tiles(problem, machine.gpu).empty()) return accept();
  if (problem.output.rows() > kSkinnyMostTokens) return reject("more tiles than run at once");
  return reject(fmt::format("no tile fits {} bytes of shared memory", machine.gpu.shared_bytes_per_block));
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  Tunable tile(kSkinnyParameters);
  for (const auto& each : skinny_tiles(problem, machine.gpu)) tile.values.push_back(parameters_of(each));
  const int64_t alone = !tile.values.empty() && SkinnyPlan(problem, machine.gpu).alone;
  return {tile, {"ring", {64, 32}}, {"alone", {alone, 1 - alone}}, {"throttle", {kSkinnyThrottleNs, 0, 400}}};
}

Result<TensorMap> map_of(const Call& call, const BoxedMatrix& matrix) {
  TensorMap map;
  RUNG_CHECK(call.gpu.check(call.gpu.runtime().tensor_map(&map, matrix), "linear_skinny_sm90: tensor map"));
  return map;
}

Result<LinearSkinnyArguments> arguments_of(const Call& call, const SkinnyPlan& plan) {
  const LinearShape shape(call.problem);
  const auto m = static_cast<uint32_t>(shape.m), n = static_cast<uint32_t>(shape.n);
  const auto rows = static_cast<uint64_t>(shape.w_rows), pitch = static_cast<uint64_t>(row_bytes_of_w(call.problem));
  LinearSkinnyArguments a{.begin = prologue_of(call),
                          .end = epilogue_of(call),
                          .m = m,
                          .n = n,
                          .tokens = plan.shared.tokens,
                          .chunks = plan.chunks,
                          .x_stages = plan.shared.x_stages,
                          .w_stages = plan.shared.w_stages,
                          .throttle_ns = plan.throttle_ns};
  RUNG_TRY(a.x, map_of(call, boxes_of_x(call, plan.shared.tokens)));
  RUNG_TRY(a.w, map_of(call, {call.inputs[1], rows, pitch / 2, pitch, plan.box_rows}));
  return a;
}

Status enqueue(const Call& call) {
  const SkinnyPlan plan(call.problem, call.gpu.info());
  const Launch launch{.grid = {plan.blocks(), plan.token_tiles},
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
