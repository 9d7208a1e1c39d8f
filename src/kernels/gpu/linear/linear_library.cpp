// Runs a linear layer by the vendor's GEMM library, with a residual and, where the library has them, bias, ReLU and
// tanh-GELU in its epilogue; a gated product goes to scratch first.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_library.hpp"

#include <algorithm>
#include <cstring>

#include "base/divide.hpp"
#include "ir/tensor.hpp"
#include "kernels/gpu/linear/linear_scaled.hpp"
#include "kernels/gpu/make_nest.hpp"
#include "kernels/gpu/pointwise/gated_rows.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {
namespace {

bool same_types(const Problem& problem) {
  DType type = problem.inputs[0].dtype;
  return problem.inputs[1].dtype == type &&
         (problem.output.dtype == type || problem.output.dtype == DType::f32 || is_f8(type));
}

bool has_f8_products(const Problem& problem) { return is_f8(problem.inputs[0].dtype); }

// The library takes a bias only in the result's type, beside 8-bit products only in 16 bits; another bias is converted
// once, when the plan is built.
DType bias_type(const Problem& problem) {
  return has_f8_products(problem) && problem.output.dtype == DType::f32 ? DType::bf16 : problem.output.dtype;
}
bool converts_bias(const Problem& problem, size_t operand) {
  return static_cast<int>(operand) == problem.as<Linear>().slots.at(LinearSlot::bias) &&
         problem.inputs[operand].dtype != bias_type(problem);
}

// The library wants scales of x beside those of w. Ones, where x has none, stand behind w's, 16-byte aligned.
bool adds_ones(const Problem& problem, size_t operand) {
  const LinearSlots& slots = problem.as<Linear>().slots;
  return static_cast<int>(operand) == slots.at(LinearSlot::scale) && !slots.has(LinearSlot::x_scale);
}
size_t place_of_ones(const Problem& problem) {
  return round_up(static_cast<size_t>(LinearShape(problem).w_rows), size_t{4});
}

// Checks products of f8e4m3fn.
Verdict supports_f8(const Problem& problem, const GemmLibrary& library, const LibraryTraits& traits) {
  if (!library.scales_rows || !library.scales_rows())
    return reject(fmt::format("this {} has no scales of rows for 8-bit products", traits.written));
  if (problem.inputs[0].dtype != DType::f8e4m3fn) return reject(fmt::format("x is {}", problem.inputs[0].dtype));
  if (auto verdict = supports_maybe_scaled(problem, DType::f8e4m3fn); !verdict) return verdict;
  if (problem.as<Linear>().has(LinearSlot::cos)) return reject("it does not rotate heads (RoPE)");
  if (is_f8(problem.output.dtype)) return reject("a result of 8 bits");
  return supports_8_bit_result(problem);
}

Verdict supports_epilogue(const Problem& problem, const LibraryTraits& library) {
  const auto& op = problem.as<Linear>();
  bool gated = op.epilogue.gated;
  if (!library.epilogues && op.has(LinearSlot::bias)) return reject(fmt::format("{} adds no bias", library.written));
  if (!library.epilogues && !gated && op.epilogue.activation != Activation::none)
    return reject(fmt::format("{} has no activations", library.written));
  if (!gated && op.epilogue.activation != Activation::none && op.epilogue.activation != Activation::relu &&
      op.epilogue.activation != Activation::gelu_tanh)
    return reject(fmt::format("the library has no {} epilogue", name_of(op.epilogue.activation)));
  if (!gated && op.epilogue.activation == Activation::gelu_tanh && problem.output.dtype == DType::f32)
    return reject("the library's GELU is coarser than f32");
  const Operand* bias = problem.linear_operand(LinearSlot::bias);
  if (bias && bias->dtype != bias_type(problem) && !bias->constant)
    return reject(fmt::format("the bias is no constant, and is not {}", name_of(bias_type(problem))));
  const Operand* residual = problem.linear_operand(LinearSlot::residual);
  if (residual && residual->dtype != problem.output.dtype) return reject("the residual's type is not the result's");
  if (residual && !gated && op.epilogue.activation != Activation::none)
    return reject("the library adds a residual before the activation");
  return accept();
}

}  // namespace

namespace library_linear {

LibraryGemm gemm_of(const Problem& problem) {
  const auto& op = problem.as<Linear>();
  LinearShape shape(problem);
  LibraryGemm gemm{.x = problem.inputs[0].dtype,
                   .w = problem.inputs[1].dtype,
                   .out = problem.output.dtype,
                   .m = shape.m,
                   .n = shape.w_rows,
                   .k = shape.k,
                   .x_stride = problem.inputs[0].row_stride(),
                   .w_stride = shape.k,
                   .out_stride = shape.w_rows,
                   .bias = op.has(LinearSlot::bias),
                   .algorithm = problem.param("algorithm", -1)};
  gemm.bias_type = bias_type(problem);
  gemm.scaled = has_f8_products(problem);
  if (op.epilogue.gated) return gemm;
  if (const Operand* residual = problem.linear_operand(LinearSlot::residual))
    gemm.residual = true, gemm.residual_stride = residual->row_stride();
  if (op.epilogue.activation == Activation::relu) gemm.epilogue = LibraryGemm::Epilogue::relu;
  if (op.epilogue.activation == Activation::gelu_tanh) gemm.epilogue = LibraryGemm::Epilogue::gelu_tanh;
  return gemm;
}

size_t packed_bytes(const Problem& problem, const Machine&, size_t i) {
  if (adds_ones(problem, i))
    return (place_of_ones(problem) + static_cast<size_t>(LinearShape(problem).m)) * sizeof(float);
  return converts_bias(problem, i)
             ? static_cast<size_t>(problem.inputs[i].shape.product()) * size_of(bias_type(problem))
             : 0;
}

void pack(const Problem& problem, const Machine&, size_t i, const void* from, void* to) {
  if (adds_ones(problem, i)) {
    const LinearShape shape(problem);
    auto* scales = static_cast<float*>(to);
    std::memcpy(scales, from, static_cast<size_t>(shape.w_rows) * sizeof(float));
    std::fill(scales + shape.w_rows, scales + place_of_ones(problem) + shape.m, 1.0f);
    return;
  }
  Tensor bias({problem.inputs[i].dtype, problem.inputs[i].shape});
  std::memcpy(bias.data(), from, bias.bytes());
  Tensor converted = convert(bias, bias_type(problem));
  std::memcpy(to, converted.data(), converted.bytes());
}

Verdict supports(const Problem& problem, const Machine& machine, const LibraryTraits& library) {
  if (auto verdict = has_library(machine, library); !verdict) return verdict;
  if (has_f8_products(problem)) {
    if (auto verdict = supports_f8(problem, *find_library(machine, library), library); !verdict) return verdict;
  } else if (auto verdict = supports_linear(problem, is_computed_float); !verdict) {
    return verdict;
  }
  if (auto verdict = supports_library(problem); !verdict) return verdict;
  LinearShape shape(problem);
  if (!same_types(problem)) return reject("x and w differ in type");
  if (problem.as<Linear>().epilogue.gated && !is_f8(problem.inputs[0].dtype) &&
      problem.inputs[0].dtype != problem.output.dtype)
    return reject("gated, and the result's type is not x's");
  const bool whole_units = shape.k * size_of(problem.inputs[0].dtype) % 16 == 0 &&
                           shape.n * size_of(problem.output.dtype) % 16 == 0 &&
                           problem.inputs[0].row_stride() * size_of(problem.inputs[0].dtype) % 16 == 0;
  if ((!library.any_rows || has_f8_products(problem)) && !whole_units)
    return reject("rows are not a multiple of 16 bytes");
  return supports_epilogue(problem, library);
}

// Scratch has the library's workspace, then, for a gated product, its two halves.
size_t scratch_bytes(const Problem& problem, const Machine&) {
  LinearShape shape(problem);
  size_t halves = problem.as<Linear>().epilogue.gated
                      ? static_cast<size_t>(shape.m * shape.w_rows) * size_of(problem.output.dtype)
                      : 0;
  return kLibraryWorkspaceBytes + halves;
}

Status enqueue(const Call& call) {
  const auto& prepared = *static_cast<const Prepared*>(call.state);
  if (!prepared) return tl::unexpected(prepared.error());
  bool gated = call.problem.as<Linear>().epilogue.gated;
  LibraryOperands operands{.x = call.inputs[0],
                           .w = call.inputs[1],
                           .bias = address_of(call, LinearSlot::bias),
                           .residual = gated ? Address{0} : address_of(call, LinearSlot::residual),
                           .out = gated ? call.scratch + kLibraryWorkspaceBytes : call.output,
                           .workspace = call.scratch};
  if (has_f8_products(call.problem)) {
    operands.w_scales = address_of(call, LinearSlot::scale);
    const bool has_ones = !call.problem.as<Linear>().has(LinearSlot::x_scale);
    operands.x_scales = has_ones ? operands.w_scales + place_of_ones(call.problem) * sizeof(float)
                                 : address_of(call, LinearSlot::x_scale);
  }
  RUNG_CHECK((*prepared)->enqueue(operands, call.stream));
  return gated ? enqueue_gated_rows(call, operands.out) : Status{};
}

}  // namespace library_linear
}  // namespace rung::gpu
