// Runs packed convolutions; one row per instruction set.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/numeric.hpp"
#include "device/cpu/share.hpp"
#include "kernels/cpu/windows/conv_operands.hpp"
#include "kernels/cpu/windows/conv_plan.hpp"

namespace rung::cpu {
namespace {

// A worker computes one part of the result: some chunks of segments of some panels of w.
struct ConvWorker {
  const ConvPlan& plan;
  const float* x;  // x or its copy
  const float *w, *w_end;
  float* sums;
  ConvFinish finish;
  const float *ahead = nullptr, *ahead_end = nullptr;  // the next block's weights, of which each tile prefetches some

  // Multiplies all segments of a chunk by one panel, block by block of its weights, which stay in the nearest cache.
  void panel_of(int64_t chunk, int64_t panel) {
    const Range segments{chunk * plan.chunk, std::min((chunk + 1) * plan.chunk, plan.shape.lines() * plan.segments)};
    const int64_t depth = plan.together * plan.run, taps = plan.together * plan.lines,
                  steps = plan.shape.taps() / taps * plan.blocks;
    const float* weights = w + panel * plan.panel_bytes / int64_t{sizeof(float)};
    const float* from = x + panel / plan.panels_of_group * plan.run;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t tap = step / plan.blocks * taps, begin = step % plan.blocks * plan.block;
      gemm::Tile tile;
      tile.x_stride = plan.shape.axes[2].stride * plan.shape.x_strides[2];
      tile.depth = std::min(plan.block, depth - begin);
      tile.lines = plan.lines, tile.x_line = plan.shape.axes[1].dilation * plan.shape.x_strides[1];
      tile.w = weights + (tap * plan.run + begin) * plan.micro->width;
      tile.accumulate = step > 0;
      ahead = weights + (tap * plan.run + begin + tile.depth * plan.lines) * plan.micro->width;
      ahead_end = std::min(ahead + plan.block * plan.lines * plan.micro->width, w_end);
      for (int64_t at = segments.begin; at < segments.end;) {
        const Operands operands{from + offset_of(tap) + begin, sums_of(at - segments.begin), plan.columns_of(panel)};
        at += is_pair(at, segments.end) ? pair(tile, at, operands) : segment(tile, at, operands);
      }
    }
    for (int64_t at = segments.begin; at < segments.end; ++at) end(at, panel, sums_of(at - segments.begin));
  }

  float* sums_of(int64_t held) const { return sums + held * plan.segment * plan.micro->width; }

  // The elements from what a window's first tap sees to what this one sees.
  int64_t offset_of(int64_t tap) const {
    int64_t offset = 0;
    for (size_t axis = kWindowAxes; axis-- > 0; tap /= plan.shape.axes[axis].taps)
      offset += tap % plan.shape.axes[axis].taps * plan.shape.axes[axis].dilation * plan.shape.x_strides[axis];
    return offset;
  }

  // The results of a segment within its line.
  Range results_of(int64_t segment) const {
    const int64_t begin = segment % plan.segments * plan.segment;
    return {begin, std::min(plan.shape.line(), begin + plan.segment)};
  }

  // A segment of a panel reads these and adds up to them.
  struct Operands {
    const float* from;
    float* to;
    int64_t columns;
  };

  // The elements from x's first one to those that a segment's line sees through the first tap.
  int64_t place_of(int64_t segment) const {
    const LinePlace line(plan.shape, segment / plan.segments);
    const WindowShape& shape = plan.shape;
    return line.batch * shape.x_batch + line.at[0] * shape.axes[0].stride * shape.x_strides[0] +
           line.at[1] * shape.axes[1].stride * shape.x_strides[1];
  }

  void run(gemm::Tile& tile, void (*multiply)(const gemm::Tile&)) {
    tile.prefetch = ahead < ahead_end ? ahead : nullptr;
    ahead += tile.depth * tile.lines * 64 / int64_t{sizeof(float)};
    multiply(tile);
  }

  // Returns whether a segment and the next one are whole lines so short that one tile takes both.
  bool is_pair(int64_t at, int64_t end) const {
    return plan.segments == 1 && at + 1 < end && plan.segment <= plan.micro->most_paired;
  }

  // Both return the segments that they took.
  int64_t pair(gemm::Tile& tile, int64_t at, Operands operands) {
    tile.x = operands.from + place_of(at);
    tile.x_run = place_of(at + 1) - place_of(at);
    tile.sums = operands.to;
    run(tile, plan.micro->pair_tiles[plan.segment]);
    return 2;
  }

  int64_t segment(gemm::Tile& tile, int64_t at, Operands operands) {
    const float* from = operands.from + place_of(at);
    const Range results = results_of(at);
    const int64_t tiles = (results.count() + plan.micro->max_rows - 1) / plan.micro->max_rows;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t begin = results.count() * i / tiles, end = results.count() * (i + 1) / tiles;
      tile.x = from + (results.begin + begin) * tile.x_stride;
      tile.sums = operands.to + begin * plan.micro->width;
      run(tile, plan.micro->tile_for(end - begin, operands.columns));
    }
    return 1;
  }

  void end(int64_t at, int64_t panel, float* from) {
    const Range results = results_of(at);
    const int64_t group = panel / plan.panels_of_group, first = panel % plan.panels_of_group * plan.micro->width;
    finish.run({from, plan.micro->width}, {at / plan.segments * plan.shape.line() + results.begin, results.count()},
               {group * plan.rows_of_group + first, plan.columns_of(panel)});
  }
};

// Copies the elements of one line of x.
void copy_line(const ConvPlan& plan, const void* x, int64_t offset, float* to) {
  const Window& last = plan.from.axes[2];
  const int64_t size = static_cast<int64_t>(size_of(plan.x_type));
  gemm::CopyRows c;
  c.from = static_cast<const std::byte*>(x) + offset * size;
  c.from_stride = plan.from.x_strides[2], c.from_column = plan.from_channel, c.from_type = plan.x_type;
  c.to = to, c.to_stride = plan.pitch, c.to_type = DType::f32;
  c.rows = last.extent, c.columns = c.padded = plan.channels;
  if (plan.from_channel == 1 && c.from_stride == c.columns && c.to_stride == c.columns)
    c.columns = c.padded = c.rows * c.columns, c.rows = 1;
  if (plan.from_channel == 1) return plan.micro->copy_rows(c);
  if (plan.micro->gather_rows(c)) return;
  for (int64_t i = 0; i < last.extent; ++i)
    for (int64_t channel = 0; channel < plan.channels; ++channel)
      to[i * plan.pitch + channel] =
          element_at(x, plan.x_type, offset + i * plan.from.x_strides[2] + channel * plan.from_channel);
}

// Copies a share of the lines of x, with their zeros, as f32.
void copy_x(const ConvPlan& plan, const Call& call) {
  const WindowShape& from = plan.from;
  std::array<int64_t, kWindowAxes> extents{};
  for (size_t axis = 0; axis < kWindowAxes; ++axis)
    extents[axis] = from.axes[axis].extent + from.axes[axis].before + from.axes[axis].after;
  const int64_t line = extents[2] * plan.pitch;
  const Range mine = share(from.batch * extents[0] * extents[1], call.part, call.parts);
  for (int64_t at = mine.begin; at < mine.end; ++at) {
    float* to = static_cast<float*>(call.scratch) + at * line;
    const int64_t batch = at / extents[1] / extents[0];
    const int64_t place[] = {at / extents[1] % extents[0] - from.axes[0].before, at % extents[1] - from.axes[1].before};
    const auto is_inside = [&](int axis) {
      return place[axis] >= 0 && place[axis] < from.axes[static_cast<size_t>(axis)].extent;
    };
    const Window& last = from.axes[2];
    if (!is_inside(0) || !is_inside(1)) {
      std::fill_n(to, line, 0.0f);
      continue;
    }
    std::fill_n(to, last.before * plan.pitch, 0.0f);
    std::fill_n(to + (last.before + last.extent) * plan.pitch, last.after * plan.pitch, 0.0f);
    const int64_t offset = batch * from.x_batch + place[0] * from.x_strides[0] + place[1] * from.x_strides[1];
    copy_line(plan, call.inputs[0], offset, to + last.before * plan.pitch);
  }
}

}  // namespace

void run(const ConvPlan& plan, const Call& call) {
  auto* scratch = static_cast<std::byte*>(call.scratch);
  auto* packed = scratch + plan.copy_bytes;
  if (call.phase == 0 && plan.packs_w)
    pack(plan, call.problem.inputs[1], call.inputs[1], packed, share(plan.panels(), call.part, call.parts));
  if (call.phase == 0 && plan.copies_x) copy_x(plan, call);
  if (call.phase == 0 && (plan.packs_w || plan.copies_x)) return;
  auto* sums = packed + plan.w_bytes + static_cast<size_t>(call.thread) * plan.sums_bytes;
  const float* w = plan.packs_w ? reinterpret_cast<const float*>(packed) : call.in<float>(1);
  ConvWorker worker{plan,
                    plan.copies_x ? reinterpret_cast<const float*>(scratch) : call.in<float>(0),
                    w,
                    w + plan.panels() * plan.panel_bytes / int64_t{sizeof(float)},
                    reinterpret_cast<float*>(sums),
                    ConvFinish(call, *plan.micro, plan.tail)};
  const int64_t inner = plan.lines_first ? plan.panels() : plan.chunks();
  const Range mine = share(plan.panels() * plan.chunks(), call.part, call.parts);
  for (int64_t at = mine.begin; at < mine.end; ++at)
    plan.lines_first ? worker.panel_of(at / inner, at % inner) : worker.panel_of(at % inner, at / inner);
}

namespace {

constexpr double kMostCopied = 1e12;

double elements_with_zeros(const Problem& problem) {
  const WindowShape shape = window_shape_of(problem);
  double elements = static_cast<double>(shape.batch * problem.inputs[0].shape.back());
  for (const Window& axis : shape.axes) elements *= static_cast<double>(axis.extent + axis.before + axis.after);
  return elements;
}

const gemm::MicroKernels& micro_of(CpuIsa isa) {
  return isa == CpuIsa::avx512 ? gemm::kAvx512F32x32 : gemm::kAvx2F32x24;
}

template <CpuIsa isa>
struct PackedConv {
  static Verdict supports(const Problem& problem, const Machine& cpu) {
    if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
    if (elements_with_zeros(problem) > kMostCopied) return reject("x has too many zeros around it");
    return supports_conv(problem);
  }
  static void run(const Call& call) { cpu::run(*static_cast<const ConvPlan*>(call.state), call); }
  static size_t scratch_bytes(const Problem& problem, const Machine&) {
    const ConvPlan plan(problem, micro_of(isa));
    return plan.copy_bytes + plan.w_bytes + plan.sums_bytes * static_cast<size_t>(std::max(1, problem.threads));
  }
  static size_t packed_bytes(const Problem& problem, const Machine&, size_t i) {
    const ConvPlan plan(problem, micro_of(isa));
    return i == 1 ? static_cast<size_t>(plan.panels() * plan.panel_bytes) : 0;
  }
  static void pack(const Problem& problem, const Machine&, size_t, const void* from, void* to) {
    const ConvPlan plan(problem, micro_of(isa));
    cpu::pack(plan, problem.inputs[1], from, to, {0, plan.panels()});
  }
  static std::shared_ptr<void> prepare(const Problem& problem, const Machine&) {
    return std::make_shared<ConvPlan>(problem, micro_of(isa));
  }
  static Split split(const Problem& problem, const Machine&) {
    return ConvPlan(problem, micro_of(isa)).split(std::max(1, problem.threads));
  }
};

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  using P = PackedConv<isa>;
  return {.name = name,
          .op = "conv",
          .supports = P::supports,
          .run = P::run,
          .scratch_bytes = P::scratch_bytes,
          .packed_bytes = P::packed_bytes,
          .pack = P::pack,
          .prepare = P::prepare,
          .split = P::split};
}

}  // namespace

extern const Kernel conv_avx512 = row<CpuIsa::avx512>("conv_avx512");
extern const Kernel conv_avx2 = row<CpuIsa::avx2>("conv_avx2");

}  // namespace rung::cpu
