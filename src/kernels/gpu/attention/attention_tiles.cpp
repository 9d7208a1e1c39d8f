// Checks problems and describes tiles for attention kernels whose operands the hardware copies in boxes.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/attention/attention_tiles.hpp"

namespace rung::gpu {
namespace {

bool is_spread(const Operand& operand) {  // not broadcast along an axis
  for (int axis = 0; axis < operand.shape.rank(); ++axis)
    if (operand.shape[axis] != 1 && operand.strides[axis] == 0) return false;
  return true;
}

}  // namespace

int64_t key_tiles(const Problem& problem, int64_t tile_keys) {
  int64_t tiles = 0;
  for (size_t i = AttentionShape(problem).first_key; i < problem.inputs.size(); i += 2)
    tiles += (problem.inputs[i].shape[1] + tile_keys - 1) / tile_keys;
  return tiles;
}

bool mask_differs_by_head(const Problem& problem) {
  const Operand& mask = problem.inputs[1];
  const int axis = mask.shape.rank() - 3;
  return axis >= 0 && mask.shape[axis] != 1 && mask.strides[axis] != 0;
}

Verdict supports_tiled_operands(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_matrix_attention(problem, machine); !verdict) return verdict;
  if (auto verdict = supports_keys_like_queries(problem); !verdict) return verdict;
  if (machine.gpu.architecture != 90) return reject("built for compute capability 9.0");
  if (problem.as<Attention>().softcap != 0) return reject("capped scores");
  const AttentionShape shape(problem);
  if (shape.heads > shape.groups && shape.groups > 1 && shape.batch > 1)
    return reject("several key heads, each of several heads, in a batch");
  for (size_t i = 0; i < problem.inputs.size(); ++i)
    if ((i == 0 || i >= shape.first_key) && !is_spread(problem.inputs[i])) return reject("an operand is broadcast");
  return accept();
}

Verdict supports_tiled_attention(const Problem& problem, const Machine& machine) {
  if (problem.as<Attention>().has_length()) return reject("a cache with a length");
  if (!problem.as<Attention>().span.sees_all()) return reject("a span of keys");
  return supports_tiled_operands(problem, machine);
}

Status describe_tile(const Call& call, TileMap& map, const TileShape& shape) {
  return call.gpu.check(call.gpu.runtime().tile_map(&map, shape), "attention: describing an operand");
}

Status describe_segments(const Call& call, const AttentionArguments& a, TileMap (&k)[kMaxAttentionSegments],
                         TileMap (&v)[kMaxAttentionSegments], const SegmentTiles& tiles) {
  for (int i = 0; i < a.segments; ++i) {
    if (a.segment[i].keys == 0) continue;
    RUNG_CHECK(describe_tile(call, k[i], tiles.shape(a, a.segment[i], tiles.keys)));
    RUNG_CHECK(describe_tile(call, v[i], value_tile(a, a.segment[i], tiles.keys)));
  }
  return {};
}

}  // namespace rung::gpu
