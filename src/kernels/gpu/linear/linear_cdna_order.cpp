// Puts weights into the order of the lanes that multiply them.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_cdna_order.hpp"

#include <cstring>

#include "base/divide.hpp"
#include "kernels/gpu/cdna/machine.hpp"
#include "kernels/gpu/linear/fill_ends.hpp"
#include "kernels/gpu/quantize/machine_f8.hpp"

namespace rung::gpu {
namespace {

constexpr uint32_t kLaneBytes = 16;
constexpr int64_t kMostStride = int64_t{1} << 25;  // bytes: 128 rows are no more than 4 GiB apart

CdnaEpilogue epilogue_of(const Problem& problem, const LinearShape& shape) {
  const auto& op = problem.as<Linear>();
  if (op.has(LinearSlot::norm_weight)) return CdnaEpilogue::norm;
  if (op.epilogue.gated) return CdnaEpilogue::gated;
  return shape.rotated > 0 ? CdnaEpilogue::rotated : CdnaEpilogue::any;
}

template <DType f8>
bool is_multiplied(DType type) {
  return is_computed_float(type) || type == f8;
}

}  // namespace

bool (*multiplied_on(const GpuInfo& gpu))(DType) {
  return machine_f8(gpu) == DType::f8e4m3fn ? is_multiplied<DType::f8e4m3fn> : is_multiplied<DType::f8e4m3fnuz>;
}

CdnaOrder::CdnaOrder(const Problem& problem) {
  const LinearShape shape(problem);
  epilogue = epilogue_of(problem, shape);
  n = static_cast<uint32_t>(shape.n), rows = static_cast<uint32_t>(shape.w_rows), k = static_cast<uint32_t>(shape.k);
  type = is_f8(problem.inputs[1].dtype) ? DType::f8e4m3fn : problem.inputs[1].dtype;
  element_bytes = static_cast<uint32_t>(size_of(type));
  chunks = divide_up(k, cdna_chunk(type));
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

uint32_t CdnaOrder::tile_bytes() const { return chunks * kCdnaLanes * kLaneBytes; }
size_t CdnaOrder::bytes() const { return size_t{tiles()} * tile_bytes(); }

Verdict supports_cdna_order(const Problem& problem, const Machine& machine) {
  if (auto verdict = supports_cdna(machine.gpu); !verdict) return verdict;
  const int64_t most = kMostStride / static_cast<int64_t>(size_of(problem.inputs[0].dtype));
  if (problem.inputs[0].row_stride() > most)
    return reject(
        fmt::format("rows of x are {} elements apart, wanted at most {}", problem.inputs[0].row_stride(), most));
  return supports_heads(LinearShape(problem), 2 * kCdnaTile);
}

size_t cdna_packed_bytes(const Problem& problem, const Machine&, size_t i) {
  return i == 1 ? CdnaOrder(problem).bytes() : 0;
}

void pack_for_cdna(const Problem& problem, const Machine&, size_t, const void* from, void* to) {
  const CdnaOrder order(problem);
  std::memset(to, 0, order.bytes());
  const auto* w = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  const size_t row_bytes = size_t{order.k} * order.element_bytes;
  for (uint32_t tile = 0; tile < order.tiles(); ++tile) {
    const auto [first, end] = order.rows_of(tile);
    for (uint32_t chunk = 0; chunk < order.chunks; ++chunk)
      for (uint32_t lane = 0; lane < kCdnaLanes; ++lane, out += kLaneBytes) {
        const uint32_t row = first + lane % kCdnaTile;
        const size_t at = size_t{chunk} * kCdnaLineBytes + lane / kCdnaTile * kLaneBytes;
        if (row < end && at < row_bytes) std::memcpy(out, w + row * row_bytes + at, kLaneBytes);
      }
  }
}

LinearCdnaArguments cdna_arguments(const Call& call, const CdnaOrder& order) {
  return {.x = call.inputs[0],
          .w = call.inputs[1],
          .x_stride = static_cast<uint32_t>(call.problem.inputs[0].row_stride()) * order.element_bytes,
          .m = static_cast<uint32_t>(LinearShape(call.problem).m),
          .n = order.n,
          .k = order.k,
          .chunks = order.chunks,
          .tile_bytes = order.tile_bytes(),
          .begin = prologue_of(call),
          .end = epilogue_of(call),
          .w_tiles = order.tiles()};
}

}  // namespace rung::gpu
