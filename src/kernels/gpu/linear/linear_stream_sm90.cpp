// The row of linear layers of one to four tokens on Hopper, whose weights stream through shared memory.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/gpu/linear/linear_scaled.hpp"
#include "kernels/gpu/linear/linear_skinny_operands.hpp"
#include "kernels/gpu/linear/linear_stream.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<StreamConfig> kVariants[] = {
#include "kernels/gpu/linear/linear_stream.inc"
};
constexpr LinearSlots kTaken{LinearSlot::bias,    LinearSlot::residual,    LinearSlot::cos,
                             LinearSlot::sin,     LinearSlot::scale,       LinearSlot::norm_weight,
                             LinearSlot::squares, LinearSlot::group_scale, LinearSlot::group_offset};
constexpr LinearSlot kGroups[] = {LinearSlot::group_scale, LinearSlot::group_offset};
constexpr int64_t kTogether = 4;                    // columns of the result that one lane writes
constexpr int64_t kMostColumns = int64_t{1} << 26;  // tiles times blocks are counted in 32 bits
constexpr int64_t kThrottleNs = 400;                // measured in decoders on an H200

// Operands beside x and w are floats, but for what groups have, which is ordered when a plan is built.
Verdict supports_others(const Problem& problem) {
  const LinearSlots& slots = problem.as<Linear>().slots;
  const auto is_of_groups = [&](size_t i) {
    return std::ranges::any_of(kGroups, [&](LinearSlot slot) { return slots.at(slot) == static_cast<int>(i); });
  };
  for (size_t i = 2; i < problem.inputs.size(); ++i)
    if (!is_of_groups(i) && !is_computed_float(problem.inputs[i].dtype))
      return reject(fmt::format("operand {} is {}", i, name_of(problem.inputs[i].dtype)));
  for (const LinearSlot slot : kGroups)
    if (const Operand* operand = problem.linear_operand(slot); operand && !operand->constant)
      return reject(fmt::format("{} is not constant, so it cannot be ordered ahead", name_of(slot)));
  const int64_t group = StreamOrder(problem).group;
  return group % kStreamGroup == 0 ? accept()
                                   : reject(fmt::format("groups of {}, wanted a multiple of {}", group, kStreamGroup));
}

Verdict supports_types(const Problem& problem) {
  const DType x = problem.inputs[0].dtype, w = problem.inputs[1].dtype;
  if (!is_narrow(x)) return reject(fmt::format("x is {}, wanted bf16 or f16", name_of(x)));
  if (w != x && w != DType::f8e4m3fn && w != DType::i8 && w != DType::u8)
    return reject(fmt::format("w is {}, wanted {}, f8e4m3fn, i8 or u8", name_of(w), name_of(x)));
  if (auto verdict = supports_others(problem); !verdict) return verdict;
  if (!is_computed_float(problem.output.dtype))
    return reject(fmt::format("result is {}", name_of(problem.output.dtype)));
  const bool scaled = problem.as<Linear>().has(LinearSlot::scale);
  if (scaled != (w != x)) return reject(scaled ? "a scale, and w not of 8 or 4 bits" : "w of 8 bits without a scale");
  return accept();
}

Verdict supports_end(const Problem& problem) {
  const auto& op = problem.as<Linear>();
  if (op.epilogue.factor != 1) return reject("a factor, and a result not of 8 bits");
  if (op.epilogue.normed != DType::bf16)
    return reject(fmt::format("what a norm gives is {}", name_of(op.epilogue.normed)));
  if (auto verdict = supports_norms(problem, kStreamNormRun); !verdict) return verdict;
  if (auto verdict = supports_distances(problem, kTogether); !verdict) return verdict;
  return supports_heads(LinearShape(problem), 2 * kTogether);
}

Verdict supports(const Problem& problem, const Machine& machine) {
  if (machine.gpu.architecture != 90) return reject("made for compute capability 9.0");
  if (auto verdict = supports_types(problem); !verdict) return verdict;
  if (auto verdict = supports_slots(problem, kTaken); !verdict) return verdict;
  if (auto verdict = supports_linear_operands(problem, [](DType) { return true; }); !verdict) return verdict;
  if (auto verdict = supports_count(problem.output.shape); !verdict) return verdict;
  if (!problem.inputs[1].constant) return reject("w is not constant, so it cannot be fetched ahead");
  const LinearShape shape(problem);
  if (shape.m < 1 || shape.m > kStreamTokens)
    return reject(fmt::format("{} rows, wanted 1 to {}", shape.m, kStreamTokens));
  const int64_t bytes = row_bytes_of_w(problem);
  if (bytes < 1 || bytes % kStreamChunkBytes)
    return reject(fmt::format("rows of w have {} bytes, wanted a multiple of {}", bytes, kStreamChunkBytes));
  if (problem.inputs[0].row_stride() * 2 % 16) return reject("rows of x are not a multiple of 16 bytes apart");
  if (shape.n < 1 || shape.n % kTogether) return reject(fmt::format("n is not a multiple of {}", kTogether));
  if (shape.n > kMostColumns) return reject(fmt::format("n is {}, wanted at most {}", shape.n, kMostColumns));
  if (auto verdict = supports_end(problem); !verdict) return verdict;
  const bool fits = bytes <= static_cast<int64_t>(machine.gpu.shared_bytes_per_block);
  if (fits && StreamCut(problem, machine.gpu).most_stages >= kStreamLeastStages) return accept();
  return reject(fmt::format("{} rows of {} columns of x leave no room for weights", shape.m, shape.k));
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  const int64_t most = StreamCut(problem, machine.gpu).most_stages;
  std::vector<int64_t> stages{most};
  if (most / 2 >= kStreamLeastStages) stages.push_back(most / 2);
  return {{"stages", stages}, {"throttle", {kThrottleNs, 0}}};
}

// Describes w as lines of a chunk each: the rows of all tiles, their partners, and the chunks of K. Maps count 16 bits
// as a column.
TileShape shape_of_w(const Call& call, const StreamCut& cut, uint32_t half) {
  const uint32_t sides = cut.order.config.pairs() ? 2 : 1;
  const uint64_t row_bytes = static_cast<uint64_t>(row_bytes_of_w(call.problem)), distance = sides > 1 ? half : 1;
  const uint64_t rows = cut.order.w_rows - (sides - 1) * distance;
  return {.address = call.inputs[1],
          .size = {kStreamChunkBytes / 2, rows, sides, cut.order.chunks, 1},
          .stride = {row_bytes, distance * row_bytes, kStreamChunkBytes, kStreamChunkBytes},
          .box = {kStreamChunkBytes / 2, kStreamRows / sides, sides, kStreamChunks, 1}};
}

Status enqueue(const Call& call) {
  const StreamCut cut(call.problem, call.gpu.info());
  LinearStreamArguments a;
  RUNG_CHECK(fill_stream_arguments(call, a));
  const Launch launch{.grid = {cut.blocks},
                      .block = {kStreamThreads},
                      .shared_bytes = cut.shared_bytes(a.stages),
                      .dependent = call.gpu.info().dependent_launch};
  return call.launch("linear_stream_sm90", symbol_of(kVariants, cut.order.config), launch, a);
}

}  // namespace

Status fill_stream_arguments(const Call& call, LinearStreamArguments& a) {
  const Problem& problem = call.problem;
  const LinearShape shape(problem);
  const StreamCut cut(problem, call.gpu.info());
  a = {.x = call.inputs[0],
       .begin = prologue_of(call),
       .end = epilogue_of(call),
       .m = static_cast<uint32_t>(shape.m),
       .n = static_cast<uint32_t>(shape.n),
       .chunks = cut.order.chunks,
       .room_chunks = cut.order.chunks,
       .x_stride = static_cast<uint32_t>(problem.inputs[0].row_stride() * 2),
       .tiles = cut.order.tiles,
       .stages = cut.stages(problem),
       .throttle_ns = static_cast<uint32_t>(problem.param("throttle", kThrottleNs)),
       .group_scale = address_of(call, LinearSlot::group_scale),
       .group_offset = address_of(call, LinearSlot::group_offset)};
  return call.gpu.check(call.gpu.runtime().tile_map(&a.w, shape_of_w(call, cut, a.end.half)), "linear: describing w");
}

extern const Kernel linear_stream_sm90{.name = "linear_stream_sm90",
                                       .op = "linear",
                                       .supports = supports,
                                       .packed_bytes = stream_packed_bytes,
                                       .pack = pack_stream_groups,
                                       .tunables = tunables,
                                       .alignment = 16,
                                       .enqueue = enqueue,
                                       .joining = &stream_joining};

}  // namespace rung::gpu
