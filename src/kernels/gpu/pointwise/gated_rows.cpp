// Launches gated_rows.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/pointwise/gated_rows.hpp"

#include "kernels/gpu/pointwise/gated_rows_arguments.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

Status enqueue_gated_rows(const Call& call, Address halves) {
  LinearShape shape(call.problem);
  DType type = call.problem.output.dtype;
  GatedRowsArguments arguments{.halves = device_pointer(halves),
                               .residual = nullptr,
                               .out = device_pointer(call.output),
                               .rows = shape.m,
                               .columns = shape.n,
                               .residual_stride = 0,
                               .activation = call.problem.as<Linear>().epilogue.activation,
                               .type = type == DType::f32    ? 0
                                       : type == DType::bf16 ? 1
                                                             : 2};
  if (const Operand* residual = call.problem.linear_operand(LinearSlot::residual)) {
    arguments.residual = device_pointer(address_of(call, LinearSlot::residual));
    arguments.residual_stride = residual->row_stride();
  }
  constexpr int64_t kThreads = 256, kPerThread = 8;
  auto blocks = static_cast<uint32_t>((shape.n + kThreads * kPerThread - 1) / (kThreads * kPerThread));
  Launch launch{.grid = {blocks, static_cast<uint32_t>(shape.m)},
                .block = {kThreads},
                .dependent = call.gpu.info().dependent_launch};
  return call.launch("gated_rows", "gated_rows", launch, arguments);
}

}  // namespace rung::gpu
