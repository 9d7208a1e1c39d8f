// Convolutions whose every channel has a row of weights of its own: element-wise products of lines, without panels.
// SPDX-License-Identifier: Apache-2.0
#include "base/divide.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/cpu/windows/conv_operands.hpp"
#include "kernels/cpu/windows/seen_lines.hpp"

namespace rung::cpu {
namespace {

int64_t channels_of(const Problem& problem) { return problem.inputs[0].shape.back(); }
int64_t taps_of(const Problem& problem) {
  const Shape& w = problem.inputs[1].shape;
  return w.product() / w[0];
}

template <CpuIsa isa>
Verdict supports(const Problem& problem, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  const int64_t channels = channels_of(problem);
  if (problem.as<Conv>().groups != channels || problem.inputs[1].shape[0] != channels || channels == 1)
    return reject("it is not depthwise");
  if (problem.inputs[0].dtype != DType::f32) return reject("only f32");
  if (problem.inputs[0].strides.back() != 1) return reject("channels of x are not dense");
  return supports_conv(problem);
}

// Weights by taps: a row of channels each.
size_t packed_bytes(const Problem& problem, const Machine&, size_t i) {
  return i == 1 ? static_cast<size_t>(taps_of(problem) * channels_of(problem)) * sizeof(float) : 0;
}
void pack(const Problem& problem, const Machine&, size_t, const void* from, void* to) {
  const ConvWeights weights(problem, from);
  const int64_t channels = channels_of(problem), taps = taps_of(problem);
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t c = 0; c < channels; ++c) static_cast<float*>(to)[tap * channels + c] = weights.at(c, tap, 0);
}

// The sums of one line of results, for a block of channels.
size_t line_bytes(const Problem& problem) {
  const int64_t line = window_shape_of(problem).line();
  return static_cast<size_t>(round_up(line * kWindowChannels * int64_t{sizeof(float)}, 64));
}
size_t scratch_bytes(const Problem& problem, const Machine&) {
  return line_bytes(problem) * static_cast<size_t>(std::max(1, problem.threads));
}

std::shared_ptr<void> prepare(const Problem& problem, const Machine&) {
  return std::make_shared<WindowShape>(window_shape_of(problem));
}

Split split(const Problem& problem, const Machine&) {
  constexpr double kGflops = 10;  // about the rate of a core
  const double us = 2e-3 * static_cast<double>(problem.output.shape.product() * taps_of(problem)) / kGflops;
  const int threads = std::max(1, problem.threads);
  const int64_t lines = window_shape_of(problem).lines();
  return {threads * pieces_of_share(problem, us, std::max<int64_t>(1, lines / threads))};
}

template <CpuIsa isa>
void run(const Call& call) {
  const auto& shape = *static_cast<const WindowShape*>(call.state);
  const int64_t channels = channels_of(call.problem);
  const auto* micro = isa == CpuIsa::avx512 ? &gemm::kAvx512F32x32 : &gemm::kAvx2F32x24;
  const ConvFinish finish(call, micro->finish);
  auto* sums = reinterpret_cast<float*>(static_cast<std::byte*>(call.scratch) +
                                        line_bytes(call.problem) * static_cast<size_t>(call.thread));
  SeenLines seen(shape);
  std::vector<const float*> weights, x;
  const Range lines = share(shape.lines(), call.part, call.parts);
  for (int64_t line = lines.begin; line < lines.end; ++line) {
    seen.find(call.in<float>(0), line);
    for (int64_t first = 0; first < channels; first += kWindowChannels) {
      x.clear(), weights.clear();
      for (size_t i = 0; i < seen.x().size(); ++i) {
        x.push_back(seen.x()[i] + first);
        weights.push_back(call.in<float>(1) + seen.taps()[i] * shape.axes[2].taps * channels + first);
      }
      WindowLines work = seen.windows();
      work.x = x.data(), work.weights = weights.data(), work.weight_stride = channels;
      work.channels = std::min(kWindowChannels, channels - first);
      work.out = sums, work.out_stride = kWindowChannels;
      isa == CpuIsa::avx512 ? avx512::sum_depthwise(work) : avx2::sum_depthwise(work);
      finish.run({sums, kWindowChannels}, {line * shape.line(), shape.line()}, {first, work.channels});
    }
  }
}

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  return {.name = name,
          .op = "conv",
          .supports = supports<isa>,
          .run = run<isa>,
          .scratch_bytes = scratch_bytes,
          .packed_bytes = packed_bytes,
          .pack = pack,
          .prepare = prepare,
          .split = split};
}

}  // namespace

extern const Kernel conv_depthwise_avx512 = row<CpuIsa::avx512>("conv_depthwise_avx512");
extern const Kernel conv_depthwise_avx2 = row<CpuIsa::avx2>("conv_depthwise_avx2");

}  // namespace rung::cpu
