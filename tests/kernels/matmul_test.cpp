// Every matmul row against a plain f64 loop: batches, broadcasting, transposed and strided operands, f32 and bf16.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "kernels/cpu/bind.hpp"
#include "kernels/target.hpp"

namespace rung::cpu {
namespace {

// An operand whose elements lie in the order of `layout` (outermost axis first), with `gap` elements after each
// innermost run.
Operand laid_out(DType type, Shape shape, const Dims& layout, int64_t gap = 0) {
  Operand x{type, shape, Strides::filled(shape.rank(), 0), false};
  int64_t stride = 1;
  for (int i = layout.rank() - 1; i >= 0; --i) {
    x.strides[static_cast<int>(layout[i])] = stride;
    stride = stride * shape[static_cast<int>(layout[i])] + (i == layout.rank() - 1 ? gap : 0);
  }
  return x;
}

int64_t extent(const Operand& x) {
  int64_t last = 0;
  for (int i = 0; i < x.shape.rank(); ++i) last += (x.shape[i] - 1) * x.strides[i];
  return last + 1;
}

Tensor random_tensor(DType type, int64_t count, uint64_t seed) {
  Tensor t({DType::f32, Shape{count}});
  auto values = t.as<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = random_normal(seed, i);
  return convert(t, type);
}

struct Case {
  Operand a, b;
  Shape out;
  int threads = 1;
  Problem problem() const {
    Problem p;
    p.op = MatMul{};
    p.inputs = {a, b};
    p.output = {a.dtype, out, contiguous_strides(out), false};
    p.threads = threads;
    return p;
  }
};

// A position in the result's batch of matrices, and a row and column of an operand.
struct Position {
  int64_t batch, i, j;
};

double element(const Operand& x, std::span<const float> values, const Shape& out, Position position) {
  int64_t at = position.i * x.strides.back(1) + position.j * x.strides.back(), batch = position.batch;
  for (int axis = out.rank() - 3, own = x.shape.rank() - 3; axis >= 0; --axis, --own) {
    if (own >= 0 && x.shape[own] != 1) at += batch % out[axis] * x.strides[own];
    batch /= out[axis];
  }
  return static_cast<double>(values[static_cast<size_t>(at)]);
}

// The largest |got - want| over the size of the terms, and 1 if a run repeats with other bits.
double worst_error(const Kernel& row, const Case& c) {
  const Tensor a = random_tensor(c.a.dtype, extent(c.a), 1), b = random_tensor(c.b.dtype, extent(c.b), 2);
  Tensor out({c.a.dtype, c.out});
  const Bound bound = cpu::bind(row, c.problem(), {a.data(), b.data()}, out.data());
  Team team(c.threads);
  std::atomic<Fault> fault{Fault::none};
  bound.run(team, &fault);
  const Tensor first = convert(out, DType::f32), a32 = convert(a, DType::f32), b32 = convert(b, DType::f32);
  bound.run(team, &fault);
  const Tensor second = convert(out, DType::f32);
  const int64_t m = c.out.back(1), n = c.out.back(), k = c.a.shape.back();
  double worst = 0;
  for (int64_t at = 0; at < c.out.product(); ++at) {
    const int64_t batch = at / (m * n), i = at / n % m, j = at % n;
    double want = 0, size = 0;
    for (int64_t s = 0; s < k; ++s) {
      const double term =
          element(c.a, a32.as<float>(), c.out, {batch, i, s}) * element(c.b, b32.as<float>(), c.out, {batch, s, j});
      want += term, size += std::abs(term);
    }
    const float got = first.as<float>()[static_cast<size_t>(at)];
    worst = std::max(worst, std::abs(static_cast<double>(got) - want) / size);
    if (!(got == second.as<float>()[static_cast<size_t>(at)])) return 1;
  }
  return worst;
}

class MatMulRow : public ::testing::TestWithParam<const Kernel*> {
 protected:
  const Kernel& row() const { return *GetParam(); }
  void check(Case c) const {
    for (int threads : {1, 2}) {
      c.threads = threads;
      if (!row().supports(c.problem(), cpu_info())) continue;
      EXPECT_LT(worst_error(row(), c), c.a.dtype == DType::bf16 ? 0x1.0p-8 : 1e-6)
          << to_string(c.a.shape) << to_string(c.a.strides) << " x " << to_string(c.b.shape) << to_string(c.b.strides)
          << " threads " << threads;
    }
  }
  void SetUp() override {
    Case c{laid_out(DType::f32, {4, 8}, {0, 1}), laid_out(DType::f32, {8, 4}, {0, 1}), {4, 4}};
    if (Verdict v = row().supports(c.problem(), cpu_info()); !v) GTEST_SKIP() << v.reason;
  }
};

TEST_P(MatMulRow, MatchesF64LoopForOddSizes) {
  for (DType type : {DType::f32, DType::bf16})
    for (int64_t m : {1, 5, 17})
      for (int64_t n : {1, 23, 50})
        for (int64_t k : {1, 33}) check({laid_out(type, {m, k}, {0, 1}), laid_out(type, {k, n}, {0, 1}), {m, n}});
}

TEST_P(MatMulRow, ReadsTransposedAndGappedOperands) {
  for (DType type : {DType::f32, DType::bf16}) {
    check({laid_out(type, {9, 20}, {0, 1}, 3), laid_out(type, {20, 30}, {1, 0}, 5), {9, 30}});
    check({laid_out(type, {9, 20}, {1, 0}), laid_out(type, {20, 30}, {0, 1}, 2), {9, 30}});
  }
}

TEST_P(MatMulRow, MultipliesHeadsOfInterleavedLayouts) {
  // q and k as [B,S,H,D] in memory, read as [B,H,S,D] and [B,H,D,S].
  for (DType type : {DType::f32, DType::bf16})
    check({laid_out(type, {1, 3, 10, 8}, {0, 2, 1, 3}), laid_out(type, {1, 3, 8, 11}, {0, 3, 1, 2}), {1, 3, 10, 11}});
}

TEST_P(MatMulRow, BroadcastsLeadingDimensions) {
  check({laid_out(DType::f32, {4, 6, 7}, {0, 1, 2}), laid_out(DType::f32, {7, 5}, {0, 1}), {4, 6, 5}});
  check({laid_out(DType::f32, {2, 1, 6, 7}, {0, 1, 2, 3}), laid_out(DType::f32, {3, 7, 5}, {0, 1, 2}), {2, 3, 6, 5}});
}

TEST_P(MatMulRow, SplitsOneTallMatrixOverThreads) {
  check({laid_out(DType::f32, {600, 40}, {0, 1}), laid_out(DType::f32, {40, 70}, {0, 1}), {600, 70}});
}

INSTANTIATE_TEST_SUITE_P(All, MatMulRow, ::testing::ValuesIn(cpu_target().kernels_for("matmul")),
                         [](const auto& row) { return std::string(row.param->name); });

}  // namespace
}  // namespace rung::cpu
