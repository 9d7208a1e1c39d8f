// The row of convolutions whose channels do not mix.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_depthwise.hpp"

#include "base/divide.hpp"
#include "ir/with_type.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/gpu/windows/conv_operands.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<DepthwiseConfig> kVariants[] = {
#include "kernels/gpu/windows/conv_depthwise.inc"
};
constexpr int64_t kTogether = 8;  // channels of a thread

Verdict supports(const Problem& p, const Machine&) {
  const Conv& op = p.as<Conv>();
  const Operand &x = p.inputs[0], &w = p.inputs[1];
  if (auto verdict = supports_conv(p); !verdict) return verdict;
  if (auto verdict = supports_dense_bias(p); !verdict) return verdict;
  if (op.transposed) return reject("transposed");
  if (w.shape.back() != 1 || w.shape[0] != op.groups) return reject("channels mix");
  if (!w.constant || !w.contiguous()) return reject("w is not constant and dense");
  if (w.shape[0] % kTogether) return reject(fmt::format("{} channels, not a multiple of {}", w.shape[0], kTogether));
  if (x.strides.back() != 1) return reject("channels of x are not dense");
  for (int axis = 0; axis + 1 < x.shape.rank(); ++axis)
    if (x.shape[axis] != 1 && x.strides[axis] % kTogether) return reject("rows of x do not begin at vectors");
  return accept();
}

int64_t threads_of(const Problem& p, int64_t run) {
  const Shape& y = p.output.shape;
  return y.product() / y.back(1) * divide_up(y.back(1), run) / kTogether;
}

// The default is the longest run that still makes enough threads for each multiprocessor to hide its reads.
int64_t default_run(const Problem& p, const GpuInfo& gpu) {
  constexpr int64_t kEnough = 1024;
  int64_t best = kVariants[0].config.run;
  for (const auto& [config, symbol] : kVariants)
    if (threads_of(p, config.run) >= gpu.multiprocessors * kEnough) best = config.run;
  return best;
}

std::vector<Tunable> tunables(const Problem& p, const Machine& machine) {
  std::vector<int64_t> runs{default_run(p, machine.gpu)};
  for (const auto& [config, symbol] : kVariants)
    if (config.run != runs[0]) runs.push_back(config.run);
  return {{"run", runs}};
}

size_t packed_bytes(const Problem& p, const Machine&, size_t i) {
  return i == 1 ? static_cast<size_t>(p.inputs[1].shape.product()) * sizeof(float) : 0;
}

// Turns [channels, taps] into f32 [taps, channels].
void pack(const Problem& p, const Machine&, size_t, const void* from, void* to) {
  const Operand& w = p.inputs[1];
  const int64_t channels = w.shape[0], taps = w.shape.product() / channels;
  with_type(w.dtype, [&](auto type) {
    const auto* rows = static_cast<const decltype(type)*>(from);
    auto* packed = static_cast<float*>(to);
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t tap = 0; tap < taps; ++tap)
        packed[tap * channels + channel] = static_cast<float>(rows[channel * taps + tap]);
  });
}

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  const Shape& y = p.output.shape;
  if (y.product() == 0) return {};
  const int64_t run = p.param("run", default_run(p, call.gpu.info()));
  DepthwiseArguments a{.x = call.inputs[0], .w = call.inputs[1], .end = conv_end_of(call)};
  place_windows(p, a.axes);
  a.x_batch = p.inputs[0].strides[0], a.x_type = p.inputs[0].dtype;
  a.channels = static_cast<uint32_t>(y.back()), a.runs = static_cast<uint32_t>(divide_up(y.back(1), run));
  a.count = static_cast<uint32_t>(threads_of(p, run));
  return call.launch("conv_depthwise", symbol_of(kVariants, {static_cast<int>(run)}),
                     launch_threads(call, a.count, kDepthwiseThreads), a);
}

}  // namespace

extern const Kernel conv_depthwise_gpu;
const Kernel conv_depthwise_gpu{.name = "conv_depthwise_gpu",
                                .op = "conv",
                                .supports = supports,
                                .packed_bytes = packed_bytes,
                                .pack = pack,
                                .tunables = tunables,
                                .alignment = 16,
                                .enqueue = enqueue};

}  // namespace rung::gpu
