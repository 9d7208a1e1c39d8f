// Plans a packed convolution.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/windows/conv_plan.hpp"

#include <algorithm>

#include "base/divide.hpp"
#include "ir/with_type.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/cpu/windows/conv_operands.hpp"

namespace rung::cpu {
namespace {

constexpr int64_t kResultsHeld = 112;   // their sums take about a third of the first-level cache
constexpr int64_t kElementsHeld = 384;  // so do their weights in a panel
constexpr int64_t kPage = 4096, kLineFloats = 16;

bool is_point(const WindowShape& shape) {
  return shape.axes[0].is_point() && shape.axes[1].is_point() && shape.axes[2].is_point();
}

// Makes one line of all results of windows of one element.
void join_lines(WindowShape& shape) {
  int64_t elements = shape.batch;
  for (const Window& axis : shape.axes) elements *= axis.extent;
  const int64_t step = shape.x_strides[2];
  shape = {};
  shape.axes[2].extent = elements, shape.x_strides[2] = step;
}

bool has_zeros(const WindowShape& shape) {
  for (const Window& axis : shape.axes)
    if (axis.before > 0 || axis.after > 0) return true;
  return false;
}

// Returns the elements from place to place of a copy of x. Windows whose distance is a multiple of a page fall into the
// same few cache sets, so there the copy's places stand a line further apart: one of 3 taps, 512 channels and a step of
// 2 took 27.2 ms for 1500 results and takes 21.9 since (AMD EPYC with AVX-512, f32).
int64_t pitch_of(const WindowShape& from, int64_t channels) {
  const int64_t step = from.axes[2].stride * channels * int64_t{sizeof(float)};
  return from.axes[2].taps > 1 && step % kPage == 0 ? channels + kLineFloats : channels;
}

// Returns the windows over a copy of x that has its zeros.
WindowShape over_copy(const WindowShape& from, int64_t pitch) {
  WindowShape copy = from;
  int64_t stride = pitch;
  for (int axis = kWindowAxes - 1; axis >= 0; --axis) {
    Window& window = copy.axes[static_cast<size_t>(axis)];
    window.extent += window.before + window.after;
    window.before = window.after = 0;
    copy.x_strides[static_cast<size_t>(axis)] = stride;
    stride *= window.extent;
  }
  copy.x_batch = stride;
  return copy;
}

}  // namespace

ConvPlan::ConvPlan(const Problem& problem, const gemm::MicroKernels& micro_kernels) : micro(&micro_kernels) {
  const Operand &x = problem.inputs[0], &w = problem.inputs[1];
  channels = x.shape.back(), groups = problem.as<Conv>().groups, run = channels / groups;
  rows = w.shape[0], rows_of_group = rows / groups;
  x_type = x.dtype, out_type = problem.output.dtype;
  from = shape = window_shape_of(problem);
  from_channel = channels > 1 ? x.strides.back() : 1;
  const bool is_dense = x.contiguous();
  copies_x = x_type != DType::f32 || from_channel != 1 || has_zeros(from) ||
             (shape.axes[2].taps > 1 && shape.x_strides[2] != channels);
  pitch = copies_x ? pitch_of(from, channels) : channels;
  if (copies_x) {
    shape = over_copy(from, pitch);
    copy_bytes = static_cast<size_t>(round_up(shape.batch * shape.x_batch * int64_t{sizeof(float)}, 64));
  }
  if (is_point(shape) && (is_dense || copies_x)) join_lines(shape);
  together = groups == 1 && shape.axes[2].dilation == 1 && pitch == channels ? shape.axes[2].taps : 1;
  if (together == shape.axes[2].taps && together * shape.axes[1].taps * run <= kElementsHeld)
    lines = shape.axes[1].taps;
  blocks = divide_up(together * run, kElementsHeld);
  block = divide_up(together * run, blocks);
  panels_of_group = divide_up(rows_of_group, micro->width);
  panel_bytes = round_up(depth() * micro->width * int64_t{sizeof(float)}, 64);
  packs_w = !w.constant;
  if (packs_w) w_bytes = static_cast<size_t>(panels() * panel_bytes);
  segments = divide_up(shape.line(), kResultsHeld);
  segment = divide_up(shape.line(), segments);
  chunk = std::max<int64_t>(1, kResultsHeld / segment);
  tail = tail_of(problem.as<Conv>());
  lines_first = x.shape.product() > w.shape.product();
  sums_bytes = static_cast<size_t>(round_up(chunk * segment * micro->width * int64_t{sizeof(float)}, 64));
}

Split ConvPlan::split(int threads) const {
  const double flop = 2 * static_cast<double>(shape.lines() * shape.line() * rows * depth());
  Problem cut{};
  cut.threads = threads;
  const int pieces =
      pieces_of_share(cut, flop * 1e-3 / kCoreGflops, std::max<int64_t>(1, panels() * chunks() / threads));
  return {threads * pieces, copies_x || packs_w ? 2 : 1};
}

namespace {

// Writes a panel of columns, side by side for each tap and channel, and zeros behind them.
template <class T>
void pack_panel(const ConvPlan& plan, const Operand& w, const T* from, float* to, int64_t columns) {
  const int64_t width = plan.micro->width, row = w.strides[0], channel = w.strides.back();
  for (int64_t tap = 0; tap < plan.shape.taps(); ++tap) {
    int64_t offset = 0, rest = tap;
    for (int axis = w.shape.rank() - 2; axis > 0; rest /= w.shape[axis--])
      offset += rest % w.shape[axis] * w.strides[axis];
    for (int64_t i = 0; i < plan.run; ++i, to += width, offset += channel) {
      for (int64_t c = 0; c < columns; ++c) to[c] = static_cast<float>(from[offset + c * row]);
      std::fill(to + columns, to + width, 0.0f);
    }
  }
  std::fill_n(to, plan.panel_bytes / int64_t{sizeof(float)} - plan.depth() * width, 0.0f);
}

}  // namespace

void pack(const ConvPlan& plan, const Operand& w, const void* from, void* to, Range panels) {
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    auto* at = reinterpret_cast<float*>(static_cast<std::byte*>(to) + panel * plan.panel_bytes);
    const int64_t row =
        panel / plan.panels_of_group * plan.rows_of_group + panel % plan.panels_of_group * plan.micro->width;
    with_type(w.dtype, [&](auto tag) {
      pack_panel(plan, w, static_cast<const decltype(tag)*>(from) + row * w.strides[0], at, plan.columns_of(panel));
    });
  }
}

}  // namespace rung::cpu
