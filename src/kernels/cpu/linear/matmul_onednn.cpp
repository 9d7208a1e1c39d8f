// matmul by oneDNN: each thread runs its own primitive over its slice of one axis of the result.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/linear/onednn.hpp"
#include "kernels/matmul_shape.hpp"

namespace rung::cpu {
namespace {

// Returns the axis to cut: the outermost batch axis that is long enough, else the rows.
int sliced_axis(const Problem& problem) {
  const Shape& out = problem.output.shape;
  for (int axis = 0; axis + 2 < out.rank(); ++axis)
    if (out[axis] >= problem.threads) return axis;
  return out.rank() - 2;
}

// A view of an operand cut to a range of one axis of the result: its shape as the library wants it (the result's rank,
// 1 where it is broadcast) and its first element.
struct View {
  Shape shape;
  Strides strides;
  int64_t offset = 0;
};
View cut(const Operand& x, int rank, int axis, Range range) {
  View v;
  for (int i = 0; i < rank; ++i) {
    const int own = i - (rank - x.shape.rank());
    const bool repeated = own < 0 || (i + 2 < rank && (x.shape[own] == 1 || x.strides[own] == 0));
    v.shape.push_back(repeated ? 1 : x.shape[own]);
    v.strides.push_back(repeated ? 0 : x.strides[own]);
    if (i == axis && !repeated) {
      v.offset = range.begin * v.strides[i];
      v.shape[i] = range.end - range.begin;
    }
  }
  // The strides of axes with one element do not matter, but must not be 0.
  for (int i = rank - 1; i >= 0; --i)
    if (v.shape[i] == 1) v.strides[i] = i == rank - 1 ? 1 : v.shape[i + 1] * v.strides[i + 1];
  return v;
}

struct Part {
  View a, b, out;
  explicit Part(const Problem& problem, int thread) {
    const int rank = problem.output.shape.rank(), axis = sliced_axis(problem);
    const Range range = share(problem.output.shape[axis], thread, problem.threads);
    a = cut(problem.inputs[0], rank, axis, range);
    b = cut(problem.inputs[1], rank, axis + 2 < rank ? axis : -1, range);
    out = cut(problem.output, rank, axis, range);
  }
  bool empty() const { return out.shape.product() == 0; }
  gemm::OneDnnOperands problem(const Problem& p) const {
    gemm::OneDnnOperands o;
    o.x = gemm::onednn_desc(p.inputs[0].dtype, a.shape, a.strides);
    o.w = gemm::onednn_desc(p.inputs[1].dtype, b.shape, b.strides);
    o.out = gemm::onednn_desc(p.output.dtype, out.shape, out.strides);
    return o;
  }
};

struct Prepared {
  std::vector<Part> parts;
  std::vector<std::unique_ptr<gemm::OneDnnMatmul>> matmuls;
};

void run(const Call& call) {
  const auto& prepared = *static_cast<const Prepared*>(call.state);
  const auto thread = static_cast<size_t>(call.part);
  if (!prepared.matmuls[thread]) return;
  const Part& part = prepared.parts[thread];
  auto bytes = [](int64_t elements, DType type) { return elements * static_cast<int64_t>(size_of(type)); };
  gemm::OneDnnMatmul::Addresses at;
  at.x = call.in<std::byte>(0) + bytes(part.a.offset, call.problem.inputs[0].dtype);
  at.w = call.in<std::byte>(1) + bytes(part.b.offset, call.problem.inputs[1].dtype);
  at.out = call.out<std::byte>() + bytes(part.out.offset, call.problem.output.dtype);
  prepared.matmuls[thread]->run(at);
}

// Returns whether vectors along the axis `dense`, counted from the end, are dense and do not overlap.
bool is_matrix(const Operand& x, int dense) {
  const int64_t length = x.shape.back(dense), across = x.shape.back(1 - dense);
  return (length == 1 || x.strides.back(dense) == 1) && (across == 1 || x.strides.back(1 - dense) >= length);
}

Verdict supports(const Problem& problem, const Machine&) {
  for (const Operand& x : {problem.inputs[0], problem.inputs[1], problem.output}) {
    if (!gemm::onednn_type(x.dtype)) return reject(fmt::format("an operand is {}", name_of(x.dtype)));
    if (!is_matrix(x, 0) && !is_matrix(x, 1)) return reject("a matrix has neither dense rows nor dense columns");
  }
  const Part part(problem, problem.threads - 1);
  return part.empty() ? reject("nothing to multiply") : gemm::onednn_supports(part.problem(problem));
}

std::shared_ptr<void> prepare(const Problem& problem, const Machine&) {
  auto prepared = std::make_shared<Prepared>();
  for (int thread = 0; thread < problem.threads; ++thread) {
    prepared->parts.emplace_back(problem, thread);
    const Part& part = prepared->parts.back();
    prepared->matmuls.push_back(part.empty() ? nullptr : std::make_unique<gemm::OneDnnMatmul>(part.problem(problem)));
  }
  return prepared;
}

}  // namespace

extern const Kernel matmul_onednn = {.name = "matmul_onednn",
                                     .op = "matmul",
                                     .supports = supports,
                                     .run = run,
                                     .prepare = prepare,
                                     .role = Role::library,
                                     .library = "onednn"};

}  // namespace rung::cpu
