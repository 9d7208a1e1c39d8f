// matmul of strided f32, bf16 or f16 operands: columns of b are packed into a panel in a near cache, then multiplied by
// the register tiles of the packed linear.
// SPDX-License-Identifier: Apache-2.0
#include "base/numeric.hpp"
#include "kernels/cpu/kernel.hpp"
#include "kernels/cpu/linear/best.hpp"
#include "kernels/cpu/split.hpp"
#include "kernels/matmul_shape.hpp"

namespace rung::cpu {
namespace {

// The work is cut into units of some rows of one matrix each; a part is a run of units.
struct Cut {
  const gemm::MicroKernels* micro = gemm::best_f32(cpu_info());
  MatMulShape shape;
  int64_t chunks = 1, chunk_rows = 0;  // of a matrix
  bool copies_a = false;
  size_t a_bytes = 0, panel_bytes = 0, sums_bytes = 0;  // per thread

  explicit Cut(const Problem& problem) : shape(problem) {
    const Operand& a = problem.inputs[0];
    const int64_t threads = std::max(1, problem.threads);
    const int64_t wanted =
        std::max((threads + shape.batch - 1) / std::max<int64_t>(1, shape.batch), (shape.m + 255) / 256);
    chunk_rows = std::max<int64_t>(1, (shape.m + wanted - 1) / wanted);
    chunks = (shape.m + chunk_rows - 1) / chunk_rows;
    copies_a = a.dtype != DType::f32 || (a.strides.back() != 1 && shape.k != 1);
    a_bytes = copies_a ? rounded(chunk_rows * shape.k) : 0;
    panel_bytes = rounded(shape.k * micro->width);
    sums_bytes = rounded(int64_t{micro->max_rows} * micro->width);
  }
  int64_t units() const { return shape.batch * chunks; }
  size_t thread_bytes() const { return a_bytes + panel_bytes + sums_bytes; }
  static size_t rounded(int64_t floats) { return (static_cast<size_t>(floats) * sizeof(float) + 63) / 64 * 64; }
};

// to[r * to_stride + c] = from[r * row_stride + c * column_stride]
struct Gathering {
  int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0, to_stride = 0;
};
template <class T>
void gather(const Gathering& g, const T* from, float* to) {
  for (int64_t r = 0; r < g.rows; ++r) {
    const T* source = from + r * g.row_stride;
    float* target = to + r * g.to_stride;
    if (g.column_stride == 1)
      for (int64_t c = 0; c < g.columns; ++c) target[c] = static_cast<float>(source[c]);
    else
      for (int64_t c = 0; c < g.columns; ++c) target[c] = static_cast<float>(source[c * g.column_stride]);
  }
}
void gather_any(const Gathering& g, const Call& call, size_t operand, int64_t at, float* to) {
  if (call.problem.inputs[operand].dtype == DType::f32)
    gather(g, call.in<float>(operand) + at, to);
  else if (call.problem.inputs[operand].dtype == DType::bf16)
    gather(g, call.in<bf16>(operand) + at, to);
  else
    gather(g, call.in<f16>(operand) + at, to);
}

struct Worker {
  const Cut& cut;
  const Call& call;
  float *a_copy, *panel, *sums;

  void unit(int64_t index) {
    const int64_t matrix = index / cut.chunks, first = index % cut.chunks * cut.chunk_rows;
    const int64_t rows = std::min(cut.chunk_rows, cut.shape.m - first);
    const Operand& a = call.problem.inputs[0];
    const int64_t a_at = matrix_offset(call.problem, 0, matrix) + first * a.strides.back(1);
    if (cut.copies_a)
      gather_any({rows, cut.shape.k, a.strides.back(1), a.strides.back(), cut.shape.k}, call, 0, a_at, a_copy);
    gemm::Tile t;
    t.x = cut.copies_a ? a_copy : call.in<float>(0) + a_at;
    t.x_stride = cut.copies_a ? cut.shape.k : a.strides.back(1);
    t.depth = cut.shape.k;
    t.w = panel;
    t.sums = sums;
    const int64_t out_at = (matrix * cut.shape.m + first) * cut.shape.n;
    for (int64_t column = 0; column < cut.shape.n; column += cut.micro->width) {
      pack(matrix, column);
      tiles(t, rows, out_at + column, std::min<int64_t>(cut.micro->width, cut.shape.n - column));
    }
  }

  void pack(int64_t matrix, int64_t column) const {
    const Operand& b = call.problem.inputs[1];
    const int64_t columns = std::min<int64_t>(cut.micro->width, cut.shape.n - column), width = cut.micro->width;
    const int64_t at = matrix_offset(call.problem, 1, matrix) + column * b.strides.back();
    gather_any({cut.shape.k, columns, b.strides.back(1), b.strides.back(), width}, call, 1, at, panel);
    for (int64_t k = 0; columns < width && k < cut.shape.k; ++k)
      std::fill(panel + k * width + columns, panel + (k + 1) * width, 0.0f);
  }

  void tiles(gemm::Tile t, int64_t rows, int64_t out_at, int64_t columns) const {
    const auto* x = static_cast<const float*>(t.x);
    const int64_t count = (rows + cut.micro->max_rows - 1) / cut.micro->max_rows;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t begin = rows * i / count, end = rows * (i + 1) / count;
      t.x = x + begin * t.x_stride;
      cut.micro->tiles[end - begin](t);
      gemm::Finish f;
      f.sums = t.sums;
      f.width = cut.micro->width;
      f.rows = end - begin, f.columns = columns;
      f.out_type = call.problem.output.dtype;
      f.out_stride = cut.shape.n;
      f.out = call.out<std::byte>() + (out_at + begin * cut.shape.n) * static_cast<int64_t>(size_of(f.out_type));
      cut.micro->finish(f);
    }
  }
};

void run(const Call& call) {
  const Cut& cut = *static_cast<const Cut*>(call.state);
  auto* own = static_cast<std::byte*>(call.scratch) + static_cast<size_t>(call.thread) * cut.thread_bytes();
  Worker worker{cut, call, reinterpret_cast<float*>(own), reinterpret_cast<float*>(own + cut.a_bytes),
                reinterpret_cast<float*>(own + cut.a_bytes + cut.panel_bytes)};
  const Range units = share(cut.units(), call.part, call.parts);
  for (int64_t unit = units.begin; unit < units.end; ++unit) worker.unit(unit);
}

Verdict supports(const Problem& problem, const Machine& cpu) {
  if (!gemm::best_f32(cpu)) return reject("the processor has no AVX2");
  for (const Operand& x : {problem.inputs[0], problem.inputs[1], problem.output})
    if (!is_computed_float(x.dtype)) return reject(fmt::format("an operand is {}", name_of(x.dtype)));
  return accept();
}

size_t scratch_bytes(const Problem& problem, const Machine&) {
  return Cut(problem).thread_bytes() * static_cast<size_t>(std::max(1, problem.threads));
}
std::shared_ptr<void> prepare(const Problem& problem, const Machine&) { return std::make_shared<Cut>(problem); }
Split split(const Problem& problem, const Machine&) {
  const Cut cut(problem);
  const double flop = 2 * static_cast<double>(cut.shape.batch * cut.shape.m * cut.shape.n * cut.shape.k);
  return {problem.threads * pieces_of_share(problem, flop * 1e-3 / kCoreGflops, cut.units() / problem.threads)};
}

}  // namespace

extern const Kernel matmul_blocked = {.name = "matmul_blocked",
                                      .op = "matmul",
                                      .supports = supports,
                                      .run = run,
                                      .scratch_bytes = scratch_bytes,
                                      .prepare = prepare,
                                      .split = split};

}  // namespace rung::cpu
