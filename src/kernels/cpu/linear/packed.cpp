// Packs weights into panels, and multiplies by them in loops over chunks of rows, panels, blocks of k and tiles.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear/packed.hpp"

#include <cstring>

#include "base/divide.hpp"
#include "base/numeric.hpp"

namespace rung::cpu::gemm {
namespace {

// Packs one panel: `columns` columns of w's transpose, in groups of pack_grain k; `to` keeps its zeros beyond n and k.
template <class From, class To>
void pack_panel(const PackedPlan& plan, const From* w, int64_t columns, To* to) {
  const int64_t width = plan.micro->width, grain = plan.micro->pack_grain, k = plan.shape.k;
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t i = 0; i < k; ++i) to[(i / grain * width + c) * grain + i % grain] = static_cast<To>(w[c * k + i]);
}

// Writes what the panel's sums start from (MicroKernels::x_offset).
void pack_head(const PackedPlan& plan, const int8_t* w, int64_t columns, std::byte* to) {
  for (int64_t c = 0; c < columns; ++c) {
    int32_t sum = 0;
    for (int64_t i = 0; i < plan.shape.k; ++i) sum += w[c * plan.shape.k + i];
    sum *= -plan.micro->x_offset;
    std::memcpy(to + c * static_cast<int64_t>(sizeof sum), &sum, sizeof sum);
  }
}

template <class To, class From>
void pack_as(const PackedPlan& plan, const From* w, std::byte* to) {
  const int64_t width = plan.micro->width, n = plan.shape.n;
  for (int64_t p = 0; p < plan.panels; ++p)
    for (int64_t part = 0; part < plan.parts; ++part) {
      const int64_t first = p * width, columns = std::min(width, n - first);
      const From* rows = w + (part * n + first) * plan.shape.k;
      if constexpr (std::is_same_v<From, int8_t>)
        if (plan.micro->x_offset) pack_head(plan, rows, columns, to);
      pack_panel(plan, rows, columns, reinterpret_cast<To*>(to + plan.micro->head_bytes()));
      to += plan.panel_bytes;
    }
}

// Packs the rows of w of one panel's columns: outlier after outlier, each with its column of each row.
template <class To, class From>
void pack_outlier_panel(const PackedPlan& plan, const From* w, int64_t columns, To* to) {
  const int64_t width = plan.micro->width, count = plan.finish.outliers;
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t i = 0; i < count; ++i) to[i * width + c] = static_cast<To>(w[c * count + i]);
}

template <class To, class From>
void pack_outliers_as(const PackedPlan& plan, const From* w, std::byte* to) {
  const int64_t width = plan.micro->width, n = plan.shape.n;
  for (int64_t p = 0; p < plan.panels; ++p)
    for (int64_t part = 0; part < plan.parts; ++part, to += plan.outlier_bytes)
      pack_outlier_panel(plan, w + (part * n + p * width) * plan.finish.outliers, std::min(width, n - p * width),
                         reinterpret_cast<To*>(to));
}

const std::byte* at(const void* base, int64_t bytes) { return static_cast<const std::byte*>(base) + bytes; }

// Copies rows and columns of x, which may end beyond k; `to` is for the first of them.
void copy_x(const PackedPlan& plan, const Call& call, Range rows, Range columns, void* to) {
  const int64_t first = rows.begin * plan.from_stride + columns.begin;
  CopyRows c;
  c.from = at(call.inputs[0], first * static_cast<int64_t>(size_of(plan.x_type)));
  c.from_stride = plan.from_stride;
  c.from_type = plan.x_type;
  c.to = to;
  c.to_stride = plan.x_stride;
  c.to_type = plan.micro->x_type;
  c.rows = rows.end - rows.begin;
  c.columns = std::min(plan.shape.k, columns.end) - columns.begin;
  c.padded = columns.end - columns.begin;
  plan.micro->copy_rows(c);
}

// A worker computes one part of the result: a piece of the panels of a lane.
struct Worker {
  const PackedPlan& plan;
  const Call& call;
  void* copy;  // of x, where the plan makes one
  float* sums;
  Range rows, panels;
  int64_t lane_end;  // end of the lane's panels: the pieces after this one are usually the same thread's
  FinishOperands operands{call};
  const void* x = plan.copies_x ? copy : call.inputs[0];  // what the tiles read
  int64_t x_row = 0, x_column = 0;                        // of x's first element

  void run() {
    for (int64_t first = rows.begin; first < rows.end; first += plan.row_chunk) {
      const Range chunk = chunk_from(first);
      for (int64_t slab = 0; slab == 0 || slab < plan.k_padded; slab += plan.k_slab) {
        if (plan.copies_x && !plan.copies_ahead) copy_slab(chunk, slab);
        coming = slab_end(slab) < plan.k_padded ? Coming(*this, chunk, slab_end(slab))
                                                : Coming(*this, chunk_from(chunk.end), 0);
        for (int64_t p = panels.begin; p < panels.end; ++p)
          for (int64_t k = slab; k == slab || k < slab_end(slab); k += plan.k_block) block(chunk, p, k);
      }
    }
  }

  Range chunk_from(int64_t first) const { return {first, std::min(rows.end, first + plan.row_chunk)}; }

  // The part of x that is read after the present slab, and is fetched meanwhile: `quota` lines with each tile.
  struct Coming {
    const std::byte* row = nullptr;
    int64_t stride = 0, lines = 0, rows = 0, quota = 0, line = 0;
    Coming() = default;
    Coming(const Worker& worker, Range chunk, int64_t column) {
      const PackedPlan& cut = worker.plan;
      rows = std::max<int64_t>(0, chunk.end - chunk.begin);
      if (rows == 0) return;
      const bool is_copied = cut.copies_x && cut.copies_ahead;
      const auto size = static_cast<int64_t>(size_of(is_copied ? cut.micro->x_type : cut.x_type));
      stride = (is_copied ? cut.x_stride : cut.from_stride) * size;
      row = at(is_copied ? worker.copy : worker.call.inputs[0], chunk.begin * stride + column * size);
      lines = divide_up((std::min(cut.shape.k, worker.slab_end(column)) - column) * size, 64);
      const int64_t tiles = divide_up(cut.row_chunk, cut.micro->max_rows) * divide_up(cut.k_slab, cut.k_block) *
                            (worker.panels.end - worker.panels.begin);
      quota = divide_up(lines * rows, std::max<int64_t>(1, tiles));
    }
    void fetch() {
      for (int64_t i = 0; i < quota && rows > 0; ++i) {
        __builtin_prefetch(row + line * 64, 0, 2);
        if (++line == lines) line = 0, row += stride, --rows;
      }
    }
  } coming;

  void copy_slab(Range chunk, int64_t slab) {
    copy_x(plan, call, chunk, {slab, slab_end(slab)}, copy);
    x_row = chunk.begin, x_column = slab;
  }

  int64_t slab_end(int64_t slab) const { return std::min(plan.k_padded, slab + plan.k_slab); }

  // Multiplies all tiles of a chunk of rows by one block of k of one panel.
  void block(Range chunk, int64_t p, int64_t k) {
    const MicroKernels& micro = *plan.micro;
    const int64_t grain = micro.row_grain, units = (chunk.end - chunk.begin + grain - 1) / grain;
    const int64_t tiles = (units * grain + micro.max_rows - 1) / micro.max_rows;
    for (int64_t i = 0; i < tiles; ++i) {
      int64_t begin = chunk.begin + units * i / tiles * grain, end = chunk.begin + units * (i + 1) / tiles * grain;
      const bool is_last = k + plan.k_block >= plan.k_padded;
      const Finish last = last_step({begin, std::min(end, chunk.end)}, chunk, p);
      if (is_last) fetch_ends(last);
      coming.fetch();
      multiply({begin, end}, chunk, p, k, {i, tiles});
      if (is_last) micro.finish(last);
    }
  }

  // Returns the place of a tile's sums: there is room for one tile if k is one block, else for all tiles of the chunk,
  // of one panel or, where k is cut into slabs, of each.
  float* sums_at(int64_t row, Range chunk, int64_t p, int64_t part) const {
    const MicroKernels& micro = *plan.micro;
    if (plan.k_block >= plan.k_padded) return sums + part * micro.max_rows * micro.width;
    const int64_t panel = plan.k_slab < plan.k_padded ? p - panels.begin : 0;
    return sums + ((panel * plan.parts + part) * plan.held_rows() + row - chunk.begin) * micro.width;
  }

  const std::byte* weights_at(int64_t p, int64_t part, int64_t k) const {
    return at(call.inputs[1], (p * plan.parts + part) * plan.panel_bytes + plan.micro->head_bytes() +
                                  k * plan.micro->width * static_cast<int64_t>(size_of(plan.micro->w_type)));
  }

  const std::byte* outliers_at(int64_t p, int64_t part) const {
    return at(address_of(call, LinearSlot::w_outliers),
              (p * plan.parts + part) * static_cast<int64_t>(plan.outlier_bytes));
  }

  // A tile's place among those of its block.
  struct Turn {
    int64_t index, tiles;
  };

  void multiply(Range tile_rows, Range chunk, int64_t p, int64_t k, Turn tile) {
    const MicroKernels& micro = *plan.micro;
    const int64_t x_size = static_cast<int64_t>(size_of(micro.x_type));
    Tile t;
    t.x = at(x, ((tile_rows.begin - x_row) * plan.x_stride + k - x_column) * x_size);
    t.x_stride = plan.x_stride;
    t.depth = std::min(plan.k_block, plan.k_padded - k);
    t.accumulate = k > 0;
    t.streams = plan.prefetches && tile.tiles == 1 && tile_rows.count() == 1;
    for (int64_t part = 0; part < plan.parts; ++part) {
      t.w = weights_at(p, part, k);
      t.sums = sums_at(tile_rows.begin, chunk, p, part);
      aim(t, ahead(p, part, k), tile);
      micro.tile_for(tile_rows.count(), plan.shape.n - p * micro.width)(t);
    }
  }

  struct Bytes {
    const std::byte* begin = nullptr;
    int64_t count = 0;
  };
  // Returns the weights of the block after this one; none beyond the lane's.
  Bytes ahead(int64_t p, int64_t part, int64_t k) const {
    const int64_t slab = k / plan.k_slab * plan.k_slab, end = slab_end(slab);
    const bool is_last_slab = end >= plan.k_padded;
    k += plan.k_block;
    if (k >= end) ++p, k = slab;
    if (!is_last_slab && p >= panels.end) p = panels.begin, k = end;
    if (!plan.prefetches || p >= lane_end) return {};
    const int64_t depth = std::min(plan.k_block, plan.k_padded - k);
    return {weights_at(p, part, k), depth * plan.micro->width * static_cast<int64_t>(size_of(plan.micro->w_type))};
  }

  // Lets a tile prefetch its share of the next weights: spread evenly over the block's tiles, they leave room for the
  // lines that the tile itself waits for.
  void aim(Tile& t, Bytes next, Turn tile) const {
    if (t.streams) return void(t.rate = 0);
    const MicroKernels& micro = *plan.micro;
    const int64_t groups = t.depth / micro.depth_grain, most = 4 * micro.prefetch_lines;
    const int64_t steps = std::max<int64_t>(1, groups * tile.tiles / 4);  // of four groups, of all tiles
    t.rate = micro.prefetch_lines > 1 ? most : std::clamp<int64_t>(divide_up(next.count / 64, steps), 1, most);
    const int64_t offset = tile.index * (groups * t.rate / 4) * 64;
    t.prefetch = offset < next.count ? next.begin + offset : nullptr;
  }

  Finish last_step(Range tile_rows, Range chunk, int64_t p) const {
    const int64_t column = p * plan.micro->width;
    Finish f = plan.finish;
    f.sums = sums_at(tile_rows.begin, chunk, p, plan.parts - 1);
    if (plan.parts == 2) f.gate = sums_at(tile_rows.begin, chunk, p, 0);
    if (f.outliers > 0) f.w_outliers = outliers_at(p, plan.parts - 1);
    if (f.outliers > 0 && f.gate) f.gate_outliers = outliers_at(p, 0);
    place(f, operands, tile_rows, {column, std::min(column + plan.micro->width, plan.shape.n)}, plan.shape.n);
    return f;
  }

  // Asks for the lines that the last step of a tile reads and writes, so that they come while the tile multiplies.
  void fetch_ends(const Finish& f) const {
    const auto each_line = [&](const void* base, int64_t stride, DType type, auto fetch) {
      const auto size = static_cast<int64_t>(size_of(type));
      for (int64_t row = 0; row < f.rows; ++row)
        for (int64_t byte = 0; byte < f.columns * size; byte += 64) fetch(at(base, row * stride * size + byte));
    };
    each_line(f.out, f.out_stride, f.out_type, prefetch_end);
    if (f.residual) each_line(f.residual, f.residual_stride, f.residual_type, prefetch_end);
    for (const void* outliers : {f.w_outliers, f.gate_outliers})
      for (size_t byte = 0; outliers && byte < plan.outlier_bytes; byte += 64)
        __builtin_prefetch(static_cast<const std::byte*>(outliers) + byte, 0, 2);
  }
};

// The place of a part: its lane, of as many lanes as threads, and its number among the lane's pieces.
struct LanePiece {
  int lanes, lane, pieces, piece;
  explicit LanePiece(const Call& call)
      : lanes(std::max(1, call.problem.threads)),
        lane(call.part / (call.parts / lanes)),
        pieces(call.parts / lanes),
        piece(call.part % pieces) {}
};

// Runs the first phase: the first piece of each lane copies the lane's share of x, which takes a microsecond or two.
void copy_ahead(const PackedPlan& plan, const Call& call) {
  const LanePiece own(call);
  if (own.piece > 0) return;
  const Range rows = share(plan.shape.m, own.lane, own.lanes);
  auto* copy = static_cast<std::byte*>(call.scratch);
  copy += rows.begin * plan.x_stride * static_cast<int64_t>(size_of(plan.micro->x_type));
  copy_x(plan, call, rows, {0, plan.k_padded}, copy);
}

}  // namespace

size_t packed_bytes(const PackedPlan& plan) { return static_cast<size_t>(plan.panels * plan.parts * plan.panel_bytes); }

void pack(const PackedPlan& plan, const void* from, void* to) {
  std::memset(to, 0, packed_bytes(plan));
  auto* panels = static_cast<std::byte*>(to);
  if (plan.w_type == DType::f32) return pack_as<float>(plan, static_cast<const float*>(from), panels);
  if (plan.w_type == DType::f16) return pack_as<float>(plan, static_cast<const f16*>(from), panels);
  if (plan.w_type == DType::i8) return pack_as<int8_t>(plan, static_cast<const int8_t*>(from), panels);
  pack_as<uint16_t>(plan, static_cast<const uint16_t*>(from), panels);
}

size_t packed_outlier_bytes(const PackedPlan& plan) {
  return static_cast<size_t>(plan.panels * plan.parts) * plan.outlier_bytes;
}

void pack_outliers(const PackedPlan& plan, DType type, const void* from, void* to) {
  std::memset(to, 0, packed_outlier_bytes(plan));
  auto* panels = static_cast<std::byte*>(to);
  if (type == DType::f32) return pack_outliers_as<float>(plan, static_cast<const float*>(from), panels);
  if (type == DType::f16) return pack_outliers_as<float>(plan, static_cast<const f16*>(from), panels);
  pack_outliers_as<uint16_t>(plan, static_cast<const uint16_t*>(from), panels);
}

void multiply_rows(const PackedPlan& plan, const Call& call, Range rows, Range panels, float* sums) {
  Worker{plan, call, nullptr, sums, rows, panels, panels.end}.run();
}

void run(const PackedPlan& plan, const Call& call) {
  if (plan.strassen.is_used()) return run_strassen(plan, call);
  if (plan.copies_ahead && call.phase == 0) return copy_ahead(plan, call);
  const LanePiece own(call);
  const int row_shares = static_cast<int>(plan.row_threads), column_shares = own.lanes / row_shares;
  const int column_share = own.lane / row_shares;
  auto* scratch = static_cast<std::byte*>(call.scratch);
  auto* sums = scratch + plan.copy_bytes + static_cast<size_t>(call.thread) * plan.sums_bytes;
  Worker worker{plan,
                call,
                scratch,
                reinterpret_cast<float*>(sums),
                share(plan.shape.m, own.lane % row_shares, row_shares, plan.micro->row_grain),
                share(plan.panels, column_share * own.pieces + own.piece, column_shares * own.pieces),
                share(plan.panels, column_share, column_shares).end};
  if (plan.micro->enter) plan.micro->enter();
  worker.run();
  if (plan.micro->leave) plan.micro->leave();
}

}  // namespace rung::cpu::gemm
