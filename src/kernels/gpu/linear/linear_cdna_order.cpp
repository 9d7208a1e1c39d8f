// Puts weights into the order of the lanes that multiply them.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_cdna_order.hpp"

#include <cstring>

#include "base/divide.hpp"
#include "kernels/gpu/cdna/machine.hpp"
#include "kernels/gpu/kernel.hpp"

namespace rung::gpu {
namespace {

constexpr uint32_t kTogether = 8;                  // elements of K in a lane's 16 bytes
constexpr int64_t kMostStride = int64_t{1} << 24;  // elements: 64 rows are less than 4 GiB apart

CdnaEpilogue epilogue_of(const Problem& problem, const LinearShape& shape) {
  const auto& op = problem.as<Linear>();
  if (op.has(LinearSlot::norm_weight)) return CdnaEpilogue::norm;
  if (op.gated) return CdnaEpilogue::gated;
  return shape.rotated > 0 ? CdnaEpilogue::rotated : CdnaEpilogue::any;
}

}  // namespace

CdnaOrder::CdnaOrder(const Problem& problem) {
  const LinearShape shape(problem);
  epilogue = epilogue_of(problem, shape);
  n = static_cast<uint32_t>(shape.n), rows = static_cast<uint32_t>(shape.w_rows), k = static_cast<uint32_t>(shape.k);
  chunks = divide_up(k, kCdnaChunk);
  half = 0;
  if (epilogue == CdnaEpilogue::gated) half = n;
  if (epilogue == CdnaEpilogue::rotated) half = static_cast<uint32_t>(shape.head / 2);
}

uint32_t CdnaOrder::tiles() const {
  return 2 * (half > 0 ? divide_up(rows / 2, kCdnaTile) : divide_up(rows, 2 * kCdnaTile));
}

CdnaOrder::Rows CdnaOrder::rows_of(uint32_t tile) const {
  if (half == 0) return {tile * kCdnaTile, rows};
  const uint32_t column = tile / 2 * kCdnaTile, partner = tile % 2 * half;
  if (epilogue == CdnaEpilogue::gated) return {partner + column, partner + n};
  return {column + column / half * half + partner, rows};
}

uint32_t CdnaOrder::tile_bytes() const { return chunks * kCdnaLanes * 16; }
size_t CdnaOrder::bytes() const { return size_t{tiles()} * tile_bytes(); }

Verdict supports_cdna_order(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_cdna(machine.gpu); !verdict) return verdict;
  if (problem.inputs[0].row_stride() > kMostStride)
    return reject(
        fmt::format("rows of x are {} elements apart, wanted at most {}", problem.inputs[0].row_stride(), kMostStride));
  return supports_heads(LinearShape(problem), 2 * kCdnaTile);
}

size_t cdna_packed_bytes(const Problem& problem, const Machine&, size_t i) {
  return i == 1 ? CdnaOrder(problem).bytes() : 0;
}

void pack_for_cdna(const Problem& problem, const Machine&, size_t, const void* from, void* to) {
  const CdnaOrder order(problem);
  std::memset(to, 0, order.bytes());
  const auto* w = static_cast<const uint16_t*>(from);
  auto* out = static_cast<uint16_t*>(to);
  for (uint32_t tile = 0; tile < order.tiles(); ++tile) {
    const auto [first, end] = order.rows_of(tile);
    for (uint32_t chunk = 0; chunk < order.chunks; ++chunk)
      for (uint32_t lane = 0; lane < kCdnaLanes; ++lane, out += kTogether) {
        const uint32_t row = first + lane % kCdnaTile, k = chunk * kCdnaChunk + lane / kCdnaTile * kTogether;
        if (row < end && k < order.k) std::memcpy(out, w + size_t{row} * order.k + k, kTogether * sizeof *w);
      }
  }
}

LinearCdnaArguments cdna_arguments(const Call& call, const CdnaOrder& order) {
  return {.x = call.inputs[0],
          .w = call.inputs[1],
          .x_stride = static_cast<uint32_t>(call.problem.inputs[0].row_stride()) * 2,
          .m = static_cast<uint32_t>(LinearShape(call.problem).m),
          .n = order.n,
          .k = order.k,
          .chunks = order.chunks,
          .tile_bytes = order.tile_bytes(),
          .w_tiles = order.tiles(),
          .half = order.half};
}

}  // namespace rung::gpu
