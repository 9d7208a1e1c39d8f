// The packed convolution: a tile of neighbouring results is a product of matrices for each line of its windows, because
// with channels last the elements that a line of a window sees stand side by side, and those of the next result at one
// step from them. So no window is copied; only an x that lacks its zeros or stands otherwise is copied once, as a
// whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <optional>

#include "device/cpu/share.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/linear/micro.hpp"
#include "kernels/cpu/windows/window_shape.hpp"

namespace rung::cpu {

// The facts of one problem that do not change from call to call.
struct ConvPlan {
  const gemm::MicroKernels* micro = nullptr;
  WindowShape shape;                          // of x or of its copy, which has no zeros to add
  WindowShape from;                           // of x itself
  int64_t from_channel = 1;                   // elements from channel to channel of x
  int64_t channels = 0, groups = 1, run = 0;  // run: channels of a group
  int64_t pitch = 0;                          // elements from place to place of x's copy
  int64_t rows = 0, rows_of_group = 0;        // of w
  int64_t panels_of_group = 0, panel_bytes = 0;
  int64_t together = 1;  // taps of the last axis that one product can take
  int64_t lines = 1;     // such lines of taps that it takes
  int64_t block = 1;     // elements that one product takes of a line, at most; `blocks` of them are the taps together
  int64_t blocks = 1;
  int64_t segment = 1;      // results of a line that are computed together, at most; a tile has some of them
  int64_t segments = 1;     // of a line
  int64_t chunk = 1;        // segments whose sums are held while a block of weights is in the first-level cache
  bool lines_first = true;  // the outer loop goes over lines, else over panels
  bool copies_x = false, packs_w = false;  // before anything else in a call; a constant w was packed before all calls
  DType x_type = DType::f32, out_type = DType::f32;
  size_t copy_bytes = 0;  // of x's copy, which is first in scratch
  size_t w_bytes = 0;     // of a w that is packed in a call, which follows
  size_t sums_bytes = 0;  // of each thread
  std::optional<ClippedLine> tail;

  ConvPlan(const Problem& problem, const gemm::MicroKernels& micro_kernels);
  int64_t panels() const { return groups * panels_of_group; }
  int64_t chunks() const { return (shape.lines() * segments + chunk - 1) / chunk; }
  int64_t depth() const { return shape.taps() * run; }
  // Returns the columns of a panel.
  int64_t columns_of(int64_t panel) const {
    return std::min<int64_t>(micro->width, rows_of_group - panel % panels_of_group * micro->width);
  }
  Split split(int threads) const;
};

// Packs some panels of w; `to`: the first of all panels.
void pack(const ConvPlan& plan, const Operand& w, const void* from, void* to, Range panels);
void run(const ConvPlan& plan, const Call& call);

}  // namespace rung::cpu
