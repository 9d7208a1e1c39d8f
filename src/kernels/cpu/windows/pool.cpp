// Rows of pooling, line by line of the results.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/share.hpp"
#include "kernels/cpu/rows.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/cpu/windows/seen_lines.hpp"

namespace rung::cpu {
namespace {

template <CpuIsa isa>
Verdict supports_pool(const Problem& problem, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  if (problem.as<Pool>().places) return reject("places are wanted");
  if (problem.inputs[0].dtype != DType::f32) return reject("only f32");
  if (problem.inputs[0].strides.back() != 1) return reject("channels of x are not dense");
  return accept();
}

std::shared_ptr<void> prepare_pool(const Problem& problem, const Machine&) {
  return std::make_shared<WindowShape>(window_shape_of(problem));
}

Split split_pool(const Problem& problem, const Machine&) {
  constexpr double kTapUs = 0.1e-3;  // of one element
  const WindowShape shape = window_shape_of(problem);
  const double us = kTapUs * static_cast<double>(problem.output.shape.product() * shape.taps());
  const int threads = std::max(1, problem.threads);
  return {threads * pieces_of_share(problem, us, std::max<int64_t>(1, shape.lines() / threads))};
}

template <CpuIsa isa>
void run_pool(const Call& call) {
  const auto& shape = *static_cast<const WindowShape*>(call.state);
  const int64_t channels = call.problem.output.shape.back();
  const ReduceKind kind = call.problem.as<Pool>().kind;
  SeenLines seen(shape);
  std::vector<const float*> x;
  const Range lines = share(shape.lines(), call.part, call.parts);
  for (int64_t line = lines.begin; line < lines.end; ++line) {
    seen.find(line);
    x.clear();
    for (int64_t offset : seen.offsets()) x.push_back(call.in<float>(0) + offset);
    WindowLines work = windows_over(x, shape.axes[2], shape.x_strides[2]);
    work.channels = channels, work.out_stride = channels;
    work.out = call.out<float>() + line * shape.line() * channels;
    isa == CpuIsa::avx512 ? avx512::pool_windows(work, kind) : avx2::pool_windows(work, kind);
  }
}

template <CpuIsa isa>
constexpr Kernel pool_row(std::string_view name) {
  return {.name = name,
          .op = "pool",
          .supports = supports_pool<isa>,
          .run = run_pool<isa>,
          .prepare = prepare_pool,
          .split = split_pool};
}

}  // namespace

extern const Kernel pool_avx512 = pool_row<CpuIsa::avx512>("pool_avx512");
extern const Kernel pool_avx2 = pool_row<CpuIsa::avx2>("pool_avx2");

}  // namespace rung::cpu
