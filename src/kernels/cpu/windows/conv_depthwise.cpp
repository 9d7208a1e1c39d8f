// Convolutions whose every channel has a row of weights of its own: element-wise products of lines, without panels.
// SPDX-License-Identifier: Apache-2.0
#include "base/divide.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/cpu/windows/conv_operands.hpp"
#include "kernels/cpu/windows/padded_lines.hpp"
#include "kernels/cpu/windows/seen_lines.hpp"

namespace rung::cpu {
namespace {

int64_t channels_of(const Problem& problem) { return problem.inputs[0].shape.back(); }
int64_t taps_of(const Problem& problem) {
  const Shape& w = problem.inputs[1].shape;
  return w.product() / w[0];
}

// The facts of one problem that do not change from call to call. Lines of 16 bits are copied as f32, for kNarrow
// channels where copies of all in a block would leave the first-level cache.
struct DepthwisePlan {
  static constexpr int64_t kNarrow = 16;
  WindowShape shape;
  int64_t channels, taps, block = kWindowChannels;  // block: channels that are computed together
  bool copies_x;
  std::optional<ClippedLine> tail;

  explicit DepthwisePlan(const Problem& problem)
      : shape(window_shape_of(problem)),
        channels(channels_of(problem)),
        taps(taps_of(problem)),
        tail(tail_of(problem.as<Conv>())) {
    constexpr int64_t kMostElements = 6 * 1024;
    copies_x = problem.inputs[0].dtype != DType::f32;
    if (copies_x && PaddedLines::elements(shape, block) > kMostElements) block = kNarrow;
  }
  int64_t channels_at(int64_t first) const { return std::min(block, channels - first); }
  // Copies of lines, then the sums of a line of results.
  int64_t copied() const { return !copies_x ? 0 : round_up(PaddedLines::elements(shape, block), 16); }
  size_t thread_floats() const { return static_cast<size_t>(copied() + round_up(shape.line() * block, 16)); }
};

template <CpuIsa isa>
Verdict supports(const Problem& problem, const Machine& cpu) {
  if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
  const int64_t channels = channels_of(problem);
  if (problem.as<Conv>().groups != channels || problem.inputs[1].shape[0] != channels || channels == 1)
    return reject("it is not depthwise");
  if (problem.inputs[0].strides.back() != 1) return reject("channels of x are not dense");
  if (auto verdict = supports_constant_conv(problem); !verdict) return verdict;
  if (DepthwisePlan(problem).copied() > PaddedLines::kMostElements) return reject("x has too many zeros around it");
  return accept();
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

size_t scratch_bytes(const Problem& problem, const Machine&) {
  return DepthwisePlan(problem).thread_floats() * sizeof(float) * static_cast<size_t>(std::max(1, problem.threads));
}

std::shared_ptr<void> prepare(const Problem& problem, const Machine&) {
  return std::make_shared<DepthwisePlan>(problem);
}

Split split(const Problem& problem, const Machine&) {
  constexpr double kGflops = 50;  // about the rate of a core
  const double us = 2e-3 * static_cast<double>(problem.output.shape.product() * taps_of(problem)) / kGflops;
  const int threads = std::max(1, problem.threads);
  const int64_t lines = window_shape_of(problem).lines();
  return {threads * pieces_of_share(problem, us, std::max<int64_t>(1, lines / threads))};
}

// A worker computes one part of the result: some lines of it, block by block of channels.
template <CpuIsa isa>
class DepthwiseWorker {
 public:
  DepthwiseWorker(const DepthwisePlan& plan, const Call& call)
      : plan_(plan),
        call_(call),
        scratch_(static_cast<float*>(call.scratch) + plan.thread_floats() * static_cast<size_t>(call.thread)),
        finish_(call, micro(), plan.tail),
        lines_(share(plan.shape.lines(), call.part, call.parts)),
        seen_(plan.shape) {}

  // Reads x as it stands, line by line, while all channels of its lines are in the caches.
  void run_in_place() {
    for (int64_t line = lines_.begin; line < lines_.end; ++line) {
      seen_.find(line);
      for (int64_t first = 0; first < plan_.channels; first += plan_.block) {
        x_.clear();
        for (int64_t offset : seen_.offsets()) x_.push_back(call_.template in<float>(0) + offset + first);
        WindowLines work = windows_over(x_, plan_.shape.axes[2], plan_.shape.x_strides[2]);
        compute(work, line, first);
      }
    }
  }

  void run_over_copies() {
    PaddedLines copies(plan_.shape, micro(), plan_.block, scratch_);
    const Window window = PaddedLines::window(plan_.shape);
    for (int64_t first = 0; first < plan_.channels; first += plan_.block) {
      copies.start({call_.inputs[0], call_.problem.inputs[0].dtype, first, plan_.channels_at(first)});
      for (int64_t line = lines_.begin; line < lines_.end; ++line) {
        seen_.find(line);
        WindowLines work = windows_over(copies.find(seen_.offsets()), window, plan_.block);
        compute(work, line, first);
      }
    }
  }

 private:
  static const gemm::MicroKernels& micro() { return isa == CpuIsa::avx512 ? gemm::kAvx512F32x32 : gemm::kAvx2F32x24; }

  void compute(WindowLines& work, int64_t line, int64_t first) {
    const WindowShape& shape = plan_.shape;
    weights_.clear();
    for (int64_t tap : seen_.taps())
      weights_.push_back(call_.template in<float>(1) + tap * shape.axes[2].taps * plan_.channels + first);
    float* sums = scratch_ + plan_.copied();
    work.weights = weights_.data(), work.weight_stride = plan_.channels;
    work.channels = plan_.channels_at(first);
    work.out = sums, work.out_stride = plan_.block;
    isa == CpuIsa::avx512 ? avx512::sum_depthwise(work) : avx2::sum_depthwise(work);
    finish_.run({sums, plan_.block}, {line * shape.line(), shape.line()}, {first, plan_.channels_at(first)});
  }

  const DepthwisePlan& plan_;
  const Call& call_;
  float* scratch_;
  ConvFinish finish_;
  Range lines_;
  SeenLines seen_;
  std::vector<const float*> x_, weights_;
};

template <CpuIsa isa>
void run(const Call& call) {
  const auto& plan = *static_cast<const DepthwisePlan*>(call.state);
  DepthwiseWorker<isa> worker(plan, call);
  plan.copies_x ? worker.run_over_copies() : worker.run_in_place();
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
