// Rows of pooling, line by line of the results.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/share.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/cpu/windows/padded_lines.hpp"
#include "kernels/cpu/windows/seen_lines.hpp"

namespace rung::cpu {
namespace {

// The facts of one problem that do not change from call to call. Lines of 16 bits are copied as f32, without zeros.
struct PoolPlan {
  WindowShape shape, of_copies;
  int64_t channels;
  bool copies_x;

  explicit PoolPlan(const Problem& problem)
      : shape(window_shape_of(problem)),
        of_copies(shape),
        channels(problem.output.shape.back()),
        copies_x(problem.inputs[0].dtype != DType::f32) {
    of_copies.axes[2].before = of_copies.axes[2].after = 0;
  }
  // Copies of lines, then a line of results.
  int64_t copied() const { return copies_x ? PaddedLines::elements(of_copies, channels) : 0; }
  size_t thread_floats() const { return copies_x ? static_cast<size_t>(copied() + shape.line() * channels) : 0; }
};

template <CpuIsa isa>
Verdict supports_pool(const Problem& problem, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  if (problem.as<Pool>().places) return reject("places are wanted");
  if (!is_computed_float(problem.inputs[0].dtype)) return reject("only f32, bf16 and f16");
  if (problem.inputs[0].strides.back() != 1) return reject("channels of x are not dense");
  if (PoolPlan(problem).copied() > PaddedLines::kMostElements) return reject("windows see too many lines to copy them");
  return accept();
}

std::shared_ptr<void> prepare_pool(const Problem& problem, const Machine&) {
  return std::make_shared<PoolPlan>(problem);
}

size_t pool_scratch(const Problem& problem, const Machine&) {
  return PoolPlan(problem).thread_floats() * sizeof(float) * static_cast<size_t>(std::max(1, problem.threads));
}

Split split_pool(const Problem& problem, const Machine&) {
  constexpr double kTapUs = 0.1e-3;  // of one element
  const WindowShape shape = window_shape_of(problem);
  const double us = kTapUs * static_cast<double>(problem.output.shape.product() * shape.taps());
  const int threads = std::max(1, problem.threads);
  return {threads * pieces_of_share(problem, us, std::max<int64_t>(1, shape.lines() / threads))};
}

template <CpuIsa isa>
void pool_line(const PoolPlan& plan, WindowLines work, ReduceKind kind, float* out) {
  work.channels = work.out_stride = plan.channels, work.out = out;
  isa == CpuIsa::avx512 ? avx512::pool_windows(work, kind) : avx2::pool_windows(work, kind);
}

template <CpuIsa isa>
void run_in_place(const PoolPlan& plan, const Call& call) {
  SeenLines seen(plan.shape);
  std::vector<const float*> x;
  const Range lines = share(plan.shape.lines(), call.part, call.parts);
  for (int64_t line = lines.begin; line < lines.end; ++line) {
    seen.find(line);
    x.clear();
    for (int64_t offset : seen.offsets()) x.push_back(call.in<float>(0) + offset);
    pool_line<isa>(plan, windows_over(x, plan.shape.axes[2], plan.shape.x_strides[2]), call.problem.as<Pool>().kind,
                   call.out<float>() + line * plan.shape.line() * plan.channels);
  }
}

template <CpuIsa isa>
void run_over_copies(const PoolPlan& plan, const Call& call) {
  const gemm::MicroKernels& micro = isa == CpuIsa::avx512 ? gemm::kAvx512F32x32 : gemm::kAvx2F32x24;
  const DType type = call.problem.output.dtype;
  float* scratch = static_cast<float*>(call.scratch) + plan.thread_floats() * static_cast<size_t>(call.thread);
  PaddedLines copies(plan.of_copies, micro, plan.channels, scratch);
  copies.start({call.inputs[0], call.problem.inputs[0].dtype, 0, plan.channels});
  SeenLines seen(plan.shape);
  gemm::CopyRows narrow;
  narrow.from = scratch + plan.copied(), narrow.to_type = type;
  narrow.rows = 1, narrow.columns = narrow.padded = plan.shape.line() * plan.channels;
  const Range lines = share(plan.shape.lines(), call.part, call.parts);
  for (int64_t line = lines.begin; line < lines.end; ++line) {
    seen.find(line);
    pool_line<isa>(plan, windows_over(copies.find(seen.offsets()), plan.shape.axes[2], plan.channels),
                   call.problem.as<Pool>().kind, scratch + plan.copied());
    narrow.to = call.out<std::byte>() + line * narrow.columns * static_cast<int64_t>(size_of(type));
    micro.copy_rows(narrow);
  }
}

template <CpuIsa isa>
void run_pool(const Call& call) {
  const auto& plan = *static_cast<const PoolPlan*>(call.state);
  plan.copies_x ? run_over_copies<isa>(plan, call) : run_in_place<isa>(plan, call);
}

template <CpuIsa isa>
constexpr Kernel pool_row(std::string_view name) {
  return {.name = name,
          .op = "pool",
          .supports = supports_pool<isa>,
          .run = run_pool<isa>,
          .scratch_bytes = pool_scratch,
          .prepare = prepare_pool,
          .split = split_pool};
}

}  // namespace

extern const Kernel pool_avx512 = pool_row<CpuIsa::avx512>("pool_avx512");
extern const Kernel pool_avx2 = pool_row<CpuIsa::avx2>("pool_avx2");

}  // namespace rung::cpu
