// Convolutions with windows of three by three in steps of one, by Winograd's F(2x2, 3x3): sixteen products of matrices
// over patches of x and weights that are transformed ahead. It multiplies 2.25 times less than the packed convolution.
// Patches and results are sums of sixteen numbers of either sign; on the other hand the products add up a ninth of the
// terms one after another, so that its error is about 0.6 of the packed convolution's (normal random numbers, 64 to 256
// channels).
// SPDX-License-Identifier: Apache-2.0
#include "base/divide.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/cpu/windows/conv_operands.hpp"
#include "kernels/cpu/windows/window_shape.hpp"
#include "kernels/cpu/windows/winograd.hpp"

namespace rung::cpu {
namespace {

constexpr int64_t kTaps = 3, kStep = 2;  // taps and results of a patch along an axis

// The facts of one problem that do not change from call to call.
struct WinogradPlan {
  const gemm::MicroKernels* micro;
  WindowShape shape;
  int64_t channels, rows;          // rows: of w
  int64_t high, wide, patches;     // patches down and along x, and all of them
  int64_t panels, held, x_stride;  // held: patches whose terms are held together, at most
  std::optional<ClippedLine> tail;

  WinogradPlan(const Problem& problem, const gemm::MicroKernels& micro_kernels)
      : micro(&micro_kernels), shape(window_shape_of(problem)), tail(tail_of(problem.as<Conv>())) {
    constexpr int64_t kTermElements = 256 * 1024, kMostHeld = 112;  // half of a second-level cache
    channels = problem.inputs[0].shape.back(), rows = problem.inputs[1].shape[0];
    high = divide_up(shape.axes[1].results(), kStep), wide = divide_up(shape.line(), kStep);
    patches = shape.batch * high * wide;
    panels = divide_up(rows, micro->width);
    x_stride = channels + 16;  // rows that are pages apart would fall into the same sets of a cache
    const int64_t room = std::clamp<int64_t>(kTermElements / (kWinogradTerms * x_stride), 1, kMostHeld);
    held = divide_up(patches, divide_up(patches, room));
  }
  int64_t panel_elements() const { return kWinogradTerms * channels * micro->width; }
  int64_t term_elements() const { return held * x_stride; }
  int64_t sum_elements() const { return held * micro->width; }
  // Terms of patches, then their sums, then results, then zeros.
  size_t thread_floats() const {
    return static_cast<size_t>(kWinogradTerms * (term_elements() + sum_elements()) + 4 * sum_elements() +
                               round_up(channels, 16));
  }
};

// A worker computes one part of the result: some patches.
template <CpuIsa isa>
class WinogradWorker {
 public:
  WinogradWorker(const WinogradPlan& plan, const Call& call)
      : plan_(plan),
        call_(call),
        finish_(call, *plan.micro, plan.tail),
        terms_(static_cast<float*>(call.scratch) + plan.thread_floats() * static_cast<size_t>(call.thread)),
        sums_(terms_ + kWinogradTerms * plan.term_elements()),
        results_(sums_ + kWinogradTerms * plan.sum_elements()),
        zeros_(results_ + 4 * plan.sum_elements()) {
    std::fill_n(zeros_, plan.channels, 0.0f);
  }

  void run() {
    const Range mine = share(plan_.patches, call_.part, call_.parts);
    for (int64_t first = mine.begin; first < mine.end; first += plan_.held) {
      const Range held{first, std::min(mine.end, first + plan_.held)};
      for (int64_t patch = held.begin; patch < held.end; ++patch)
        transform(patch, terms_ + (patch - first) * plan_.x_stride);
      for (int64_t panel = 0; panel < plan_.panels; ++panel) {
        for (int term = 0; term < kWinogradTerms; ++term) multiply(held.count(), panel, term);
        for (int64_t patch = held.begin; patch < held.end;) patch = end(held, patch, panel);
      }
    }
  }

 private:
  struct Place {
    int64_t batch, down, along;
  };
  Place place_of(int64_t patch) const {
    return {patch / plan_.wide / plan_.high, patch / plan_.wide % plan_.high, patch % plan_.wide};
  }

  void transform(int64_t patch, float* out) const {
    const Place place = place_of(patch);
    const WindowShape& shape = plan_.shape;
    WinogradPatch work{.elements = {}, .channels = plan_.channels, .out = out, .to_term = plan_.term_elements()};
    const float* x = call_.in<float>(0) + place.batch * shape.x_batch;
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 4; ++j) {
        const int64_t row = kStep * place.down - shape.axes[1].before + i;
        const int64_t column = kStep * place.along - shape.axes[2].before + j;
        const bool is_inside = row >= 0 && row < shape.axes[1].extent && column >= 0 && column < shape.axes[2].extent;
        work.elements[i * 4 + j] = is_inside ? x + row * shape.x_strides[1] + column * shape.x_strides[2] : zeros_;
      }
    isa == CpuIsa::avx512 ? avx512::winograd_terms(work) : avx2::winograd_terms(work);
  }

  void multiply(int64_t patches, int64_t panel, int term) const {
    gemm::Tile tile;
    tile.x_stride = plan_.x_stride, tile.depth = plan_.channels;
    tile.w = call_.in<float>(1) + panel * plan_.panel_elements() + term * plan_.channels * plan_.micro->width;
    const int64_t tiles = divide_up(patches, plan_.micro->max_rows);
    const int64_t columns = plan_.rows - panel * plan_.micro->width;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t begin = patches * i / tiles, end = patches * (i + 1) / tiles;
      tile.x = terms_ + term * plan_.term_elements() + begin * plan_.x_stride;
      tile.sums = sums_ + term * plan_.sum_elements() + begin * plan_.micro->width;
      plan_.micro->tile_for(end - begin, columns)(tile);
    }
  }

  // Ends the patches from one on that stand side by side; returns the patch behind them.
  int64_t end(Range held, int64_t patch, int64_t panel) const {
    const Place place = place_of(patch);
    const int64_t width = plan_.micro->width, count = std::min(held.end - patch, plan_.wide - place.along);
    const int64_t first = panel * width, columns = std::min(width, plan_.rows - first);
    WinogradSums work{.sums = sums_ + (patch - held.begin) * width,
                      .to_term = plan_.sum_elements(),
                      .columns = columns <= plan_.micro->narrow ? plan_.micro->narrow : width,
                      .width = width,
                      .patches = count,
                      .lines = {results_, results_ + 2 * plan_.sum_elements()}};
    isa == CpuIsa::avx512 ? avx512::winograd_results(work) : avx2::winograd_results(work);
    const int64_t lines = plan_.shape.axes[1].results(), line = plan_.shape.line(), at = kStep * place.along;
    for (int64_t i = 0; i < kStep && kStep * place.down + i < lines; ++i)
      finish_.run({work.lines[i], width},
                  {(place.batch * lines + kStep * place.down + i) * line + at, std::min(2 * count, line - at)},
                  {first, columns});
    return patch + count;
  }

  const WinogradPlan& plan_;
  const Call& call_;
  ConvFinish finish_;
  float *terms_, *sums_, *results_, *zeros_;
};

// The weights of a window as its sixteen terms.
void transform_window(const double (&w)[kTaps][kTaps], double (&terms)[4][4]) {
  const auto turn = [](double a, double b, double c, double(&out)[4]) {
    out[0] = a, out[1] = (a + b + c) / 2, out[2] = (a - b + c) / 2, out[3] = c;
  };
  double lines[kTaps][4];
  for (int64_t i = 0; i < kTaps; ++i) turn(w[i][0], w[i][1], w[i][2], lines[i]);
  for (int j = 0; j < 4; ++j) {
    double column[4];
    turn(lines[0][j], lines[1][j], lines[2][j], column);
    for (int i = 0; i < 4; ++i) terms[i][j] = column[i];
  }
}

// Packs panels of columns; a panel has, term by term, its columns side by side for each channel.
void pack_terms(const WinogradPlan& plan, const ConvWeights& weights, float* to) {
  const int64_t width = plan.micro->width;
  std::fill_n(to, plan.panels * plan.panel_elements(), 0.0f);
  for (int64_t row = 0; row < plan.rows; ++row)
    for (int64_t channel = 0; channel < plan.channels; ++channel) {
      double window[kTaps][kTaps], terms[4][4];
      for (int64_t tap = 0; tap < kTaps * kTaps; ++tap)
        window[tap / kTaps][tap % kTaps] = static_cast<double>(weights.at(row, tap, channel));
      transform_window(window, terms);
      float* panel = to + row / width * plan.panel_elements() + row % width;
      for (int64_t term = 0; term < kWinogradTerms; ++term)
        panel[(term * plan.channels + channel) * width] = static_cast<float>(terms[term / 4][term % 4]);
    }
}

const gemm::MicroKernels& micro_of(CpuIsa isa) {
  return isa == CpuIsa::avx512 ? gemm::kAvx512F32x32 : gemm::kAvx2F32x24;
}

// Transforms pay where many channels share them, patches are full of results, and the weights stay in a cache: they
// become 16/9 as large.
Verdict pays(const Problem& problem) {
  constexpr int64_t kLeastChannels = 32, kLeastResults = 8, kMostWeights = 3 << 18;
  const Shape &x = problem.inputs[0].shape, &w = problem.inputs[1].shape, &y = problem.output.shape;
  if (x.back() < kLeastChannels || w[0] < kLeastChannels) return reject("it has few channels");
  if (y[1] < kLeastResults || y[2] < kLeastResults) return reject("lines have few results");
  if (w.product() > kMostWeights) return reject("its weights are too large to grow");
  return accept();
}

template <CpuIsa isa>
struct WinogradConv {
  static Verdict supports(const Problem& problem, const Machine& cpu) {
    if (auto verdict = wants<isa>(cpu); !verdict) return verdict;
    if (auto verdict = supports_constant_conv(problem); !verdict) return verdict;
    if (problem.inputs[0].shape.rank() != 4) return reject("only windows over two axes");
    if (problem.inputs[0].dtype != DType::f32) return reject("only f32");
    if (problem.as<Conv>().groups != 1) return reject("it has groups");
    if (problem.inputs[0].strides.back() != 1) return reject("channels of x are not dense");
    const WindowShape shape = window_shape_of(problem);
    for (size_t axis : {size_t{1}, size_t{2}}) {
      const Window& window = shape.axes[axis];
      if (window.taps != kTaps || window.stride != 1 || window.dilation != 1)
        return reject("only windows of three by three in steps of one");
    }
    return pays(problem);
  }
  static void run(const Call& call) { WinogradWorker<isa>(*static_cast<const WinogradPlan*>(call.state), call).run(); }
  static size_t scratch_bytes(const Problem& problem, const Machine&) {
    return WinogradPlan(problem, micro_of(isa)).thread_floats() * sizeof(float) *
           static_cast<size_t>(std::max(1, problem.threads));
  }
  static size_t packed_bytes(const Problem& problem, const Machine&, size_t i) {
    const WinogradPlan plan(problem, micro_of(isa));
    return i == 1 ? static_cast<size_t>(plan.panels * plan.panel_elements()) * sizeof(float) : 0;
  }
  static void pack(const Problem& problem, const Machine&, size_t, const void* from, void* to) {
    pack_terms(WinogradPlan(problem, micro_of(isa)), ConvWeights(problem, from), static_cast<float*>(to));
  }
  static std::shared_ptr<void> prepare(const Problem& problem, const Machine&) {
    return std::make_shared<WinogradPlan>(problem, micro_of(isa));
  }
  static Split split(const Problem& problem, const Machine&) {
    const WinogradPlan plan(problem, micro_of(isa));
    const double flop = 2.0 * static_cast<double>(plan.patches * kWinogradTerms * plan.channels * plan.rows);
    const int threads = std::max(1, problem.threads);
    return {threads * pieces_of_share(problem, flop * 1e-3 / kCoreGflops,
                                      std::max<int64_t>(1, plan.patches / plan.held / threads))};
  }
};

template <CpuIsa isa>
constexpr Kernel row(std::string_view name) {
  using W = WinogradConv<isa>;
  return {.name = name,
          .op = "conv",
          .supports = W::supports,
          .run = W::run,
          .scratch_bytes = W::scratch_bytes,
          .packed_bytes = W::packed_bytes,
          .pack = W::pack,
          .prepare = W::prepare,
          .split = W::split};
}

}  // namespace

extern const Kernel conv_winograd_avx512 = row<CpuIsa::avx512>("conv_winograd_avx512");
extern const Kernel conv_winograd_avx2 = row<CpuIsa::avx2>("conv_winograd_avx2");

}  // namespace rung::cpu
