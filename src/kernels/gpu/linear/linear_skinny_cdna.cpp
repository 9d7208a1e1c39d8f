// The row of linear layers of at most 64 tokens on CDNA, bound by the reading of their weights, which it wants in the
// order of the lanes that multiply them.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_skinny_cdna_arguments.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/gpu/linear/linear_skinny_operands.hpp"
#include "kernels/gpu/variant.hpp"

namespace rung::gpu {
namespace {

constexpr uint32_t kLanes = 64;
constexpr uint32_t kTogether = 8;  // elements of K in a lane's 16 bytes
constexpr Variant<CdnaSkinnyConfig> kVariants[] = {
#include "kernels/gpu/linear/linear_skinny_cdna.inc"
};

uint32_t divide_up(uint32_t x, uint32_t by) { return (x + by - 1) / by; }

CdnaEpilogue epilogue_of(const Problem& problem, const LinearShape& shape) {
  const auto& op = problem.as<Linear>();
  if (op.has(LinearSlot::norm_weight)) return CdnaEpilogue::norm;
  if (op.gated) return CdnaEpilogue::gated;
  return shape.rotated > 0 ? CdnaEpilogue::rotated : CdnaEpilogue::any;
}

// The order in which w stands in memory, the same for every tile: sixteen rows at a time, partners beside each other.
struct Order {
  CdnaEpilogue epilogue;
  uint32_t n, rows, k, chunks;  // of the result, of w, columns of w, and chunks of them
  uint32_t half;                // rows between partners; 0: no pairs

  explicit Order(const Problem& problem) {
    const LinearShape shape(problem);
    epilogue = epilogue_of(problem, shape);
    n = static_cast<uint32_t>(shape.n), rows = static_cast<uint32_t>(shape.w_rows), k = static_cast<uint32_t>(shape.k);
    chunks = divide_up(k, kCdnaChunk);
    half = epilogue == CdnaEpilogue::gated     ? n
           : epilogue == CdnaEpilogue::rotated ? static_cast<uint32_t>(shape.head / 2)
                                               : 0;
  }
  // Of sixteen rows, those of partners counted apart; even, for blocks that take two.
  uint32_t tiles() const { return 2 * divide_up(half > 0 ? rows / 2 : rows, half > 0 ? kCdnaTile : 2 * kCdnaTile); }
  struct Rows {
    uint32_t first, end;
  };
  Rows rows_of(uint32_t tile) const {
    if (half == 0) return {tile * kCdnaTile, rows};
    const uint32_t column = tile / 2 * kCdnaTile, partner = tile % 2 * half;
    if (epilogue == CdnaEpilogue::gated) return {partner + column, partner + n};
    return {column + column / half * half + partner, rows};
  }
  size_t bytes() const { return size_t{tiles()} * chunks * kLanes * 16; }
};

// How a layer is cut into blocks, by the problem's parameters "rows" (of w in a block) and "waves", or by default.
struct Cut {
  Order order;
  CdnaSkinnyConfig tile;
  std::vector<int64_t> rows_values, waves_values;  // the default first
  uint32_t waves = 0;

  Cut(const Problem& problem, const GpuInfo& gpu) : order(problem) {
    const auto tokens = static_cast<uint32_t>(problem.output.rows());
    tile = {problem.inputs[0].dtype, tokens > 32 ? 4u : tokens > 16 ? 2u : 1u, 2, order.epilogue};
    rows_values = {2 * kCdnaTile};
    if (tile.epilogue == CdnaEpilogue::any) {
      // A block a compute unit first; then less of x to read.
      const bool many = order.tiles() > 2 * static_cast<uint32_t>(gpu.multiprocessors);
      rows_values.insert(many ? rows_values.end() : rows_values.begin(), kCdnaTile);
      tile.row_tiles = static_cast<uint32_t>(problem.param("rows", rows_values.front())) / kCdnaTile;
    }
    for (uint32_t count : {4u, 8u, 2u, 1u})
      if (count <= std::max(order.chunks, 1u) && tile.shared_bytes(count) <= gpu.shared_bytes_per_block)
        waves_values.push_back(count);
    waves = waves_values.empty() ? 0 : static_cast<uint32_t>(problem.param("waves", waves_values.front()));
  }
  uint32_t blocks() const { return order.tiles() / tile.row_tiles; }
};

Verdict supports(const Problem& problem, const Machine& machine) {
  if (machine.gpu.lanes != static_cast<int>(kLanes)) return reject("made for CDNA, with 64 lanes");
  if (auto verdict = supports_skinny(problem); !verdict) return verdict;
  const LinearShape shape(problem);
  if (auto verdict = supports_heads(shape, 2 * kCdnaTile); !verdict) return verdict;
  if (problem.inputs[0].row_stride() > INT32_MAX / 256) return reject("rows of x are too far apart");
  const Cut cut(problem, machine.gpu);
  if (cut.waves > 0) return accept();
  return reject(fmt::format("no tile fits {} bytes of shared memory", machine.gpu.shared_bytes_per_block));
}

std::vector<Tunable> tunables(const Problem& problem, const Machine& machine) {
  const Cut cut(problem, machine.gpu);
  return {{"rows", cut.rows_values}, {"waves", cut.waves_values}};
}

size_t packed_bytes(const Problem& problem, size_t i) { return i == 1 ? Order(problem).bytes() : 0; }

// Rows that are beyond the end of w, and columns, are zeros.
void pack(const Problem& problem, size_t, const void* from, void* to) {
  const Order order(problem);
  std::memset(to, 0, order.bytes());
  const auto* w = static_cast<const uint16_t*>(from);
  auto* out = static_cast<uint16_t*>(to);
  for (uint32_t tile = 0; tile < order.tiles(); ++tile)
    for (uint32_t chunk = 0; chunk < order.chunks; ++chunk)
      for (uint32_t lane = 0; lane < kLanes; ++lane, out += kTogether) {
        const auto [first, end] = order.rows_of(tile);
        const uint32_t row = first + lane % kCdnaTile, k = chunk * kCdnaChunk + lane / kCdnaTile * kTogether;
        if (row < end && k < order.k) std::memcpy(out, w + size_t{row} * order.k + k, kTogether * sizeof *w);
      }
}

LinearSkinnyCdnaArguments arguments_of(const Call& call, const Cut& cut) {
  const LinearShape shape(call.problem);
  LinearSkinnyCdnaArguments a{.x = call.inputs[0],
                              .w = call.inputs[1],
                              .x_stride = static_cast<uint32_t>(call.problem.inputs[0].row_stride()) * 2,
                              .m = static_cast<uint32_t>(shape.m),
                              .n = cut.order.n,
                              .k = cut.order.k,
                              .chunks = cut.order.chunks,
                              .chunks_of_wave = divide_up(cut.order.chunks, cut.waves),
                              .half = cut.order.half};
  set_skinny_epilogue(a, call, shape);
  return a;
}

Status enqueue(const Call& call) {
  const Cut cut(call.problem, call.gpu.info());
  const Launch launch{.grid = {cut.blocks()},
                      .block = {cut.waves * kLanes},
                      .shared_bytes = cut.tile.shared_bytes(cut.waves),
                      .dependent = call.gpu.info().dependent_launch};
  return call.launch("linear_skinny_cdna", symbol_of(kVariants, cut.tile), launch, arguments_of(call, cut));
}

}  // namespace

extern const Kernel linear_skinny_cdna{.name = "linear_skinny_cdna",
                                       .op = "linear",
                                       .supports = supports,
                                       .packed_bytes = packed_bytes,
                                       .pack = pack,
                                       .tunables = tunables,
                                       .alignment = 16,
                                       .enqueue = enqueue};

}  // namespace rung::gpu
