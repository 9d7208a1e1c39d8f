// The row of convolutions whose channels do not mix.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/windows/conv_depthwise.hpp"

#include "base/divide.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/gpu/windows/conv_operands.hpp"

namespace rung::gpu {
namespace {

constexpr Variant<DepthwiseConfig> kVariants[] = {
#include "kernels/gpu/windows/conv_depthwise.inc"
};

// Returns the channels of a thread: eight where all of a row can be read as vectors.
int channels_together(const Problem& p) {
  constexpr int64_t kVector = 8;
  const Operand& x = p.inputs[0];
  if (p.output.shape.back() % kVector || x.strides.back() != 1 || !supports_dense_bias(p)) return 1;
  for (int axis = 0; axis + 1 < x.shape.rank(); ++axis)
    if (x.shape[axis] != 1 && x.strides[axis] % kVector) return 1;
  return kVector;
}

Verdict supports(const Problem& p, const Machine&) {
  const Conv& op = p.as<Conv>();
  const Operand &x = p.inputs[0], &w = p.inputs[1];
  if (auto verdict = supports_conv(p); !verdict) return verdict;
  if (op.transposed) return reject("transposed");
  if (w.shape.back() != 1 || w.shape[0] != op.groups) return reject("channels mix");
  if (!w.constant || !w.contiguous()) return reject("w is not constant and dense");
  if (x.strides.back() != 1) return reject("channels of x are not dense");
  return accept();
}

int64_t threads_of(const Problem& p, int64_t run) {
  const Shape& y = p.output.shape;
  return y.product() / y.back(1) * divide_up(y.back(1), run) / channels_together(p);
}

// The default is the longest run that still makes enough threads for each multiprocessor to hide its reads.
std::vector<int64_t> runs_of(const Problem& p, const GpuInfo& gpu) {
  constexpr int64_t kEnough = 1024;
  std::vector<int64_t> runs;
  for (const auto& [config, symbol] : kVariants) {
    if (config.channels != channels_together(p)) continue;
    const bool is_enough = runs.empty() || threads_of(p, config.run) >= gpu.multiprocessors * kEnough;
    runs.insert(is_enough ? runs.begin() : runs.end(), config.run);
  }
  return runs;
}

std::vector<Tunable> tunables(const Problem& p, const Machine& machine) { return {{"run", runs_of(p, machine.gpu)}}; }

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  const Shape& y = p.output.shape;
  if (y.product() == 0) return {};
  const int64_t run = p.param("run", runs_of(p, call.gpu.info())[0]);
  DepthwiseArguments a{.x = call.inputs[0], .w = call.inputs[1], .end = conv_end_of(call)};
  place_windows(p, a.axes);
  a.x_batch = p.inputs[0].strides[0], a.x_type = p.inputs[0].dtype;
  a.channels = static_cast<uint32_t>(y.back()), a.runs = static_cast<uint32_t>(divide_up(y.back(1), run));
  a.count = static_cast<uint32_t>(threads_of(p, run));
  return call.launch("conv_depthwise", symbol_of(kVariants, {channels_together(p), static_cast<int>(run)}),
                     launch_threads(call, a.count, kDepthwiseThreads), a);
}

}  // namespace

extern const Kernel conv_depthwise_gpu;
const Kernel conv_depthwise_gpu{.name = "conv_depthwise_gpu",
                                .op = "conv",
                                .supports = supports,
                                .packed_bytes = depthwise_packed_bytes,
                                .pack = pack_depthwise,
                                .tunables = tunables,
                                .alignment = 16,
                                .enqueue = enqueue};

}  // namespace rung::gpu
