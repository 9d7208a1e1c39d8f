// Puts the scales and offsets of groups of columns into the order in which the lanes of a streaming kernel load them.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_stream_groups.hpp"

#include "base/divide.hpp"
#include "kernels/gpu/linear/linear_scaled.hpp"

namespace rung::gpu {
namespace {

constexpr uint8_t kZero = 128;  // what a scale or an offset of 0 is in this order

StreamEnd end_of(const Problem& problem) {
  const auto& op = problem.as<Linear>();
  if (op.has(LinearSlot::norm_weight)) return StreamEnd::norm;
  if (op.epilogue.gated) return StreamEnd::gated;
  return LinearShape(problem).rotated > 0 ? StreamEnd::rotated : StreamEnd::any;
}

// The scales of a tile's chunk before they have been put in order: of each row of w, one for each group of its columns.
class ChunkScales {
 public:
  ChunkScales(const StreamOrder& order, uint32_t tile, uint32_t chunk, const uint8_t* scales)
      : order_(order), tile_(tile), first_(chunk * columns()), scales_(scales) {}

  uint32_t groups() const { return columns() / kStreamGroup; }
  // Returns that of a row of the tile in the chunk's i-th 32 columns.
  uint8_t at(uint32_t row, uint32_t i) const {
    const uint32_t of_w = stream_row(order_.config, order_.half, tile_, row);
    if (of_w >= order_.w_rows) return kZero;
    const int64_t in_row = int64_t{order_.chunks} * columns() / order_.group;
    return scales_[of_w * in_row + (first_ + i * kStreamGroup) / order_.group] ^ kZero;
  }

 private:
  uint32_t columns() const { return order_.config.chunk_x() / 2; }

  const StreamOrder& order_;
  const uint32_t tile_, first_;
  const uint8_t* const scales_;
};

void pack_chunk(const StreamOrder& order, const ChunkScales& scales, uint8_t* to) {
  if (order.config.has_4_bits()) {
    for (uint32_t lane = 0; lane < kStreamLanes; ++lane)
      for (const StreamLane place(order.config, lane); const uint32_t i : {place.quarter, place.quarter + 4})
        *to++ = scales.at(place.row, i);
  } else {
    for (uint32_t row = 0; row < kStreamRows; ++row)
      for (uint32_t i = 0; i < scales.groups(); ++i) *to++ = scales.at(row, i);
  }
}

}  // namespace

StreamConfig stream_config(const Problem& problem) {
  return {problem.inputs[0].dtype, problem.inputs[1].dtype, end_of(problem),
          problem.as<Linear>().has(LinearSlot::group_scale)};
}

StreamOrder::StreamOrder(const Problem& problem) : config(stream_config(problem)) {
  const LinearShape shape(problem);
  chunks = static_cast<uint32_t>(row_bytes_of_w(problem)) / kStreamChunkBytes;
  w_rows = static_cast<uint32_t>(shape.w_rows);
  tiles = divide_up(w_rows, kStreamRows);
  half = static_cast<uint32_t>(config.end == StreamEnd::gated ? shape.n : shape.head / 2);
  if (const Operand* groups = problem.linear_operand(LinearSlot::group_scale)) group = shape.k / groups->shape.back();
}

size_t stream_packed_bytes(const Problem& problem, const Machine&, size_t i) {
  const LinearSlots& slots = problem.as<Linear>().slots;
  const bool of_groups = slots.at(LinearSlot::group_scale) == static_cast<int>(i) ||
                         slots.at(LinearSlot::group_offset) == static_cast<int>(i);
  return of_groups ? StreamOrder(problem).bytes_of_scales() : 0;
}

void pack_stream_groups(const Problem& problem, const Machine&, size_t, const void* from, void* to) {
  const StreamOrder order(problem);
  auto* out = static_cast<uint8_t*>(to);
  for (uint32_t tile = 0; tile < order.tiles; ++tile)
    for (uint32_t chunk = 0; chunk < order.chunks; ++chunk, out += order.config.chunk_scales())
      pack_chunk(order, ChunkScales(order, tile, chunk, static_cast<const uint8_t*>(from)), out);
}

}  // namespace rung::gpu
