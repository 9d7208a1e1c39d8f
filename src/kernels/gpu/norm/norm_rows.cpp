// Kernel rows of RMSNorm and LayerNorm for dense rows of common types; norm.cpp takes the rest.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/norm/norm_rows_arguments.hpp"

#include "kernels/gpu/kernel.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/quantize/machine_f8.hpp"
#include "kernels/gpu/variant.hpp"
#include "kernels/norm_operands.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kMostWidth = int64_t{kNormRowsPerThread} * kNormRowsMostThreads;

constexpr Variant<NormRowsConfig> kVariants[] = {
#include "kernels/gpu/norm/norm_rows.inc"
};

bool is_layer(const Problem& p) { return as<LayerNorm>(p.op) != nullptr; }

NormRowsConfig config_of(const Problem& p) {
  return {is_layer(p) ? NormRowsKind::layer : NormRowsKind::rms, p.inputs[0].dtype,
          p.inputs[static_cast<size_t>(NormOperands(p).weight)].dtype,
          is_quantised(p.output.dtype) ? DType::f8e4m3fn : p.output.dtype};
}

Verdict supports(const Problem& p, const Machine& machine) {
  if (NormOperands(p).residual >= 0) return reject("a residual");
  if (is_f8(p.output.dtype) && p.output.dtype != machine_f8(machine.gpu))
    return reject(fmt::format("rows to {}, wanted {}", name_of(p.output.dtype), name_of(machine_f8(machine.gpu))));
  const NormRowsConfig config = config_of(p);
  if (symbol_of(kVariants, config).empty())
    return reject(fmt::format("rows of {} to {} with a weight of {}", config.x, config.out, config.weight));
  for (size_t i = 1; i < p.inputs.size(); ++i)
    if (!p.inputs[i].constant || !p.inputs[i].contiguous() || p.inputs[i].dtype != config.weight)
      return reject("weight or bias is no dense constant of one type");
  int64_t width = p.output.shape.back();
  if (width == 0 || width % kNormRowsPerThread || width > kMostWidth)
    return reject(
        fmt::format("rows of {}: wanted a multiple of {}, at most {}", width, kNormRowsPerThread, kMostWidth));
  if (!p.inputs[0].contiguous()) return reject("x is not dense");  // if x is dense, all its rows keep its alignment
  if (p.output.rows() > INT32_MAX) return reject("too many rows");
  return accept();
}

Status enqueue(const Call& call) {
  const Problem& p = call.problem;
  if (p.output.shape.product() == 0) return {};
  bool layer = is_layer(p);
  const NormOperands at(p);
  const auto address = [&](int place) { return device_pointer(call.inputs[static_cast<size_t>(place)]); };
  NormRowsArguments arguments{.x = device_pointer(call.inputs[0]),
                              .weight = address(at.weight),
                              .bias = layer ? address(at.bias) : nullptr,
                              .out = device_pointer(call.output),
                              .width = static_cast<int32_t>(p.output.shape.back()),
                              .eps = layer ? p.as<LayerNorm>().eps : p.as<RmsNorm>().eps,
                              .weight_offset = layer ? 0.0f : p.as<RmsNorm>().weight_offset,
                              .to_i8 = p.output.dtype == DType::i8};
  auto lanes = static_cast<uint32_t>(call.gpu.info().lanes);
  uint32_t runs = static_cast<uint32_t>(arguments.width) / kNormRowsPerThread;
  Launch launch{.grid = {static_cast<uint32_t>(p.output.rows())},
                .block = {(runs + lanes - 1) / lanes * lanes},
                .dependent = call.gpu.info().dependent_launch};
  return call.launch("norm_rows", symbol_of(kVariants, config_of(p)), launch, arguments);
}

constexpr Kernel row(std::string_view name, std::string_view op) {
  return {.name = name, .op = op, .supports = supports, .alignment = 16, .enqueue = enqueue};
}

}  // namespace

extern const Kernel layer_norm_rows = row("layer_norm_rows", "layer_norm");
extern const Kernel rms_norm_rows = row("rms_norm_rows", "rms_norm");

}  // namespace rung::gpu
