// matmul by the vendor's GEMM library as one strided batch.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/matmul_library.hpp"

#include "kernels/gpu/make_nest.hpp"
#include "kernels/matmul_shape.hpp"

namespace rung::gpu {
namespace {

constexpr int64_t kMostMatrices = 65535;

// The form in which the library reads one operand's matrices: rows of one stride, one dense axis, and equal distances.
struct Matrices {
  int64_t stride = 0, distance = 0;
  bool transposed = false;  // dense along the axis before the last
};

// Returns the form, or nullopt if the strides do not fit it.
std::optional<Matrices> matrices_of(const Problem& problem, size_t index) {
  const Operand& x = problem.inputs[index];
  MatMulShape shape(problem);
  int last = x.shape.rank() - 1;
  Matrices found;
  if (x.strides[last] == 1 && x.strides[last - 1] >= x.shape[last])
    found.stride = x.strides[last - 1];
  else if (x.strides[last - 1] == 1 && x.strides[last] >= x.shape[last - 1])
    found = {x.strides[last], 0, true};
  else
    return std::nullopt;
  if (shape.batch > 1) found.distance = matrix_offset(problem, index, 1);
  for (int64_t i = 0; i < shape.batch; ++i)
    if (matrix_offset(problem, index, i) != i * found.distance) return std::nullopt;
  return found;
}

}  // namespace

namespace library_matmul {

LibraryGemm gemm_of(const Problem& problem) {
  MatMulShape shape(problem);
  Matrices a = *matrices_of(problem, 0), b = *matrices_of(problem, 1);
  return {.x = problem.inputs[0].dtype,
          .w = problem.inputs[1].dtype,
          .out = problem.output.dtype,
          .m = shape.m,
          .n = shape.n,
          .k = shape.k,
          .x_stride = a.stride,
          .w_stride = b.stride,
          .out_stride = shape.n,
          .batch = shape.batch,
          .x_batch = a.distance,
          .w_batch = b.distance,
          .out_batch = shape.m * shape.n,
          .w_is_kn = !b.transposed,
          .algorithm = problem.param("algorithm", -1)};
}

Verdict supports(const Problem& problem, const Machine& machine, const LibraryTraits& library) {
  if (auto verdict = has_library(machine, library); !verdict) return verdict;
  DType type = problem.inputs[0].dtype;
  if (!is_computed_float(type)) return reject("only f32, bf16 and f16");
  if (MatMulShape(problem).batch > kMostMatrices) return reject(fmt::format("more than {} matrices", kMostMatrices));
  auto a = matrices_of(problem, 0), b = matrices_of(problem, 1);
  if (!a || a->transposed) return reject("a is not rows of one stride, matrices at one distance");
  if (!b) return reject("b is not rows or columns of one stride, matrices at one distance");
  auto aligned = [&](int64_t elements) { return elements * size_of(type) % 16 == 0; };
  const bool whole_units = aligned(a->stride) && aligned(b->stride) && aligned(a->distance) && aligned(b->distance) &&
                           aligned(problem.output.shape.back());
  if (!library.any_rows && !whole_units) return reject("rows are not a multiple of 16 bytes");
  return accept();
}

size_t scratch_bytes(const Problem&, const Machine&) { return kLibraryWorkspaceBytes; }

Status enqueue(const Call& call) {
  const auto& prepared = *static_cast<const Prepared*>(call.state);
  if (!prepared) return tl::unexpected(prepared.error());
  return (*prepared)->enqueue({.x = call.inputs[0], .w = call.inputs[1], .out = call.output, .workspace = call.scratch},
                              call.stream);
}

}  // namespace library_matmul
}  // namespace rung::gpu
