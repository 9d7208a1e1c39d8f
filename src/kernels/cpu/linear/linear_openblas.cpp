// linear by OpenBLAS's sgemm, each part over its own columns; our own code does bias, activation, gate and residual.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/linear/best.hpp"
#include "kernels/cpu/linear/openblas.hpp"
#include "kernels/cpu/linear/packed.hpp"

namespace rung::cpu {
namespace {

// Returns whether the sums go to the output itself: it is f32, and there are no sums of a gate beside them.
bool in_place(const Problem& problem) {
  return problem.output.dtype == DType::f32 && !problem.as<Linear>().epilogue.gated;
}

size_t scratch_bytes(const Problem& problem, const Machine&) {
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

void finish(const Call& call, const LinearShape& shape, Range columns, const float* sums, int64_t stride) {
  const bool gated = call.problem.as<Linear>().epilogue.gated;
  gemm::Finish f = gemm::finish_of(call.problem);
  f.sums = sums + columns.begin + (gated ? shape.n : 0);
  f.gate = gated ? sums + columns.begin : nullptr;
  f.width = stride;
  gemm::place(f, gemm::FinishOperands(call), {0, shape.m}, columns, shape.n);
  gemm::best_f32(cpu_info())->finish(f);
}

void run(const Call& call) {
  const LinearShape shape(call.problem);
  const auto& op = call.problem.as<Linear>();
  const Range columns = share(shape.n, call.part, call.parts, 16);
  if (columns.begin == columns.end || shape.m == 0) return;
  float* sums = in_place(call.problem) ? call.out<float>() : static_cast<float*>(call.scratch);
  multiply(call, shape, columns, sums, shape.w_rows);
  if (op.epilogue.gated) multiply(call, shape, {shape.n + columns.begin, shape.n + columns.end}, sums, shape.w_rows);
  const bool bare = in_place(call.problem) && op.is_plain() && !op.has(LinearSlot::bias);
  if (!bare) finish(call, shape, columns, sums, shape.w_rows);
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

// Each of the team's threads calls the library for its own part, so the library's own threads must stay asleep.
std::shared_ptr<void> prepare(const Problem&, const Machine&) {
  gemm::openblas()->hold_to_one_thread();
  return nullptr;
}

}  // namespace

extern const Kernel linear_openblas = {.name = "linear_openblas",
                                       .op = "linear",
                                       .supports = supports,
                                       .run = run,
                                       .scratch_bytes = scratch_bytes,
                                       .prepare = prepare,
                                       .role = Role::library,
                                       .library = "openblas"};

}  // namespace rung::cpu
