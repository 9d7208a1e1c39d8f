// linear by OpenBLAS's sgemm, each thread over its own columns, and our own code for bias, activation, gate and
// residual.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/linear/best.hpp"
#include "kernels/cpu/linear/openblas.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::cpu {
namespace {

// Sums go to the output itself where it is f32 and nothing else needs room.
bool in_place(const Problem& problem) { return problem.output.dtype == DType::f32 && !problem.as<Linear>().gated; }

size_t scratch_bytes(const Problem& problem) {
  const LinearShape shape(problem);
  return in_place(problem) ? 0 : static_cast<size_t>(shape.m * shape.w_rows) * sizeof(float);
}

// sums[m][columns of w_rows] = x w'
void multiply(const Call& call, const LinearShape& shape, Range columns, float* sums, int64_t stride) {
  gemm::openblas()->sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(shape.m),
                          static_cast<int>(columns.end - columns.begin), static_cast<int>(shape.k), 1.0f,
                          call.in<float>(0), static_cast<int>(call.problem.inputs[0].row_stride()),
                          call.in<float>(1) + columns.begin * shape.k, static_cast<int>(shape.k), 0.0f,
                          sums + columns.begin, static_cast<int>(stride));
}

const std::byte* at(const Call& call, int64_t operand, int64_t element) {
  const DType type = call.problem.inputs[static_cast<size_t>(operand)].dtype;
  return call.in<std::byte>(static_cast<size_t>(operand)) + element * static_cast<int64_t>(size_of(type));
}

void finish(const Call& call, const LinearShape& shape, Range columns, const float* sums, int64_t stride) {
  const Problem& problem = call.problem;
  const bool gated = problem.as<Linear>().gated;
  gemm::Finish f;
  f.sums = sums + columns.begin + (gated ? shape.n : 0);
  f.gate = gated ? sums + columns.begin : nullptr;
  f.width = stride;
  f.rows = shape.m, f.columns = columns.end - columns.begin;
  f.activation = problem.as<Linear>().activation;
  if (shape.bias_at > 0) {
    f.bias_type = problem.inputs[static_cast<size_t>(shape.bias_at)].dtype;
    f.bias = at(call, shape.bias_at, columns.begin + (gated ? shape.n : 0));
    f.gate_bias = gated ? at(call, shape.bias_at, columns.begin) : nullptr;
  }
  if (shape.residual_at > 0) {
    const Operand& residual = problem.inputs[static_cast<size_t>(shape.residual_at)];
    f.residual_type = residual.dtype;
    f.residual_stride = residual.row_stride();
    f.residual = at(call, shape.residual_at, columns.begin);
  }
  f.out_type = problem.output.dtype;
  f.out_stride = shape.n;
  f.out = call.out<std::byte>() + columns.begin * static_cast<int64_t>(size_of(f.out_type));
  gemm::best_f32(cpu_info())->finish(f);
}

void run(const Call& call) {
  const LinearShape shape(call.problem);
  const auto& op = call.problem.as<Linear>();
  const Range columns = share(shape.n, call.thread, call.team->size(), 16);
  if (columns.begin == columns.end || shape.m == 0) return;
  float* sums = in_place(call.problem) ? call.out<float>() : static_cast<float*>(call.scratch);
  multiply(call, shape, columns, sums, shape.w_rows);
  if (op.gated) multiply(call, shape, {shape.n + columns.begin, shape.n + columns.end}, sums, shape.w_rows);
  const bool plain = in_place(call.problem) && !op.has_bias && !op.has_residual && op.activation == Activation::none;
  if (!plain) finish(call, shape, columns, sums, shape.w_rows);
}

Verdict supports(const Problem& problem, const Machine& cpu) {
  if (!gemm::best_f32(cpu)) return reject("the processor has no AVX2");
  if (problem.inputs[0].dtype != DType::f32 || problem.inputs[1].dtype != DType::f32)
    return reject("OpenBLAS multiplies f32 only");
  if (Verdict verdict = supports_linear(problem, f32_or_bf16); !verdict) return verdict;
  if (Verdict verdict = supports_library(problem); !verdict) return verdict;
  const auto& blas = gemm::openblas();
  return blas ? accept() : reject(blas.error().message);
}

// The team's threads each call for their own part; the library's must stay asleep.
std::shared_ptr<void> prepare(const Problem&) {
  gemm::openblas()->set_num_threads(1);
  return nullptr;
}

}  // namespace

extern const Kernel linear_openblas = {.name = "linear_openblas",
                                       .op = "linear",
                                       .supports = supports,
                                       .run = run,
                                       .scratch_bytes = scratch_bytes,
                                       .prepare = prepare,
                                       .role = Role::library};

}  // namespace rung::cpu
