// What rows refuse: operands that they, or the library behind them, would read otherwise than their strides say.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "kernels/gpu/kernel.hpp"
#include "kernels/target.hpp"
#include "support/machines.hpp"
#include "support/problems.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

Operand strided(Shape shape, Strides strides) { return {DType::f32, shape, strides}; }

// A machine that has all that rows ask for.
Machine any_machine() {
  cpu::CpuInfo processor;
  processor.avx2 = processor.avx512 = true;
  gpu::GpuInfo card = testing::hopper_card();
  card.gemm_libraries = {&testing::any_gemm_library()};
  return Machine(processor, card);
}

std::string refusal(const Kernel& row, const Problem& problem) {
  Verdict verdict = row.supports(problem, any_machine());
  return verdict ? "" : verdict.reason;
}
const Kernel& cpu_row(std::string_view name) { return *cpu_target().kernel_named(name); }
const Kernel& gpu_row(std::string_view name) {
  for (const Kernel* row : gpu::all_kernels())
    if (row->name == name) return *row;
  return *gpu::all_kernels()[0];
}

// An axis that ends short breaks the rows, wherever it stands.
TEST(Rows, AreOfOneStrideThroughAllAxes) {
  const Shape shape{2, 3, 4, 8};
  EXPECT_TRUE(strided(shape, {96, 32, 8, 1}).is_rows());
  EXPECT_TRUE(strided(shape, {192, 64, 16, 1}).is_rows()) << "with gaps alike between all rows";
  for (const Strides& broken :
       {Strides{128, 32, 8, 1}, Strides{120, 40, 8, 1}, Strides{0, 32, 8, 1}, Strides{96, 32, 8, 2}})
    EXPECT_FALSE(strided(shape, broken).is_rows());
}

TEST(VectorNorms, ReadAResidualAsTheyReadX) {
  for (const char* name : {"layer_norm_avx2", "layer_norm_avx512"}) {
    auto with = [](DType residual) {
      Operand vector = dense(DType::f32, {16});
      return Problem{LayerNorm{.slots = {LayerNormSlot::residual}},
                     {dense(DType::f32, {4, 16}), dense(residual, {4, 16}), vector, vector},
                     dense(DType::f32, {4, 16})};
    };
    EXPECT_EQ(refusal(cpu_row(name), with(DType::f32)), "");
    EXPECT_EQ(refusal(cpu_row(name), with(DType::bf16)), "the residual's type is not x's");
  }
}

TEST(VectorRope, WantsAnglesWithColumns) {
  auto with = [](const Operand& cos) {
    return Problem{Rope{}, {dense(DType::f32, {4, 8}), cos, cos}, dense(DType::f32, {4, 8})};
  };
  EXPECT_EQ(refusal(cpu_row("rope_avx2"), with(dense(DType::f32, {8}))), "");
  EXPECT_EQ(refusal(cpu_row("rope_avx2"), with(dense(DType::f32, {}))), "rows are not dense");
}

// BLAS takes a distance between rows of at least their length, and otherwise computes nothing.
TEST(LibraryLinears, TakeNoRowsThatOverlap) {
  auto with = [](const Operand& x, const Operand& residual) {
    return Problem{Linear{.slots = {LinearSlot::residual}},
                   {x, dense(DType::f32, {32, 64}, true), residual},
                   dense(DType::f32, {4, 32})};
  };
  const Operand x = dense(DType::f32, {4, 64}), residual = dense(DType::f32, {4, 32});
  for (const Kernel* row : {&cpu_row("linear_openblas"), &cpu_row("linear_onednn"), &gpu_row("linear_cublaslt")}) {
    EXPECT_EQ(refusal(*row, with(x, residual)), "") << row->name;
    EXPECT_EQ(refusal(*row, with(strided({4, 64}, {0, 1}), residual)), "rows of x or residual overlap") << row->name;
    EXPECT_EQ(refusal(*row, with(x, strided({4, 32}, {16, 1}))), "rows of x or residual overlap") << row->name;
    EXPECT_EQ(refusal(*row, with(strided({4, 64}, {int64_t{1} << 32, 1}), residual)),
              "rows of x or residual are too far apart")
        << row->name;
  }
}

// What each library has in its epilogue, and rows of which lengths it takes.
TEST(LibraryLinears, OfAmdTakeWhatTheirLibraryCan) {
  gpu::GpuInfo card = testing::cdna_card(0x942);
  const Machine without(cpu::CpuInfo{}, card);
  card.gemm_libraries = testing::any_amd_libraries();
  const Machine with(cpu::CpuInfo{}, card);
  const Kernel &hipblaslt = gpu_row("linear_hipblaslt"), &rocblas = gpu_row("linear_rocblas");
  const auto says = [&](const Kernel& row, const Linear& op, int64_t k, const Machine& machine) {
    Problem problem{op, {dense(DType::f32, {4, k}), dense(DType::f32, {32, k}, true)}, dense(DType::f32, {4, 32})};
    if (op.epilogue.gated) problem.output = dense(DType::f32, {4, 16});
    if (op.has(LinearSlot::bias)) problem.inputs.push_back(dense(DType::f32, {32}, true));
    if (op.has(LinearSlot::residual)) problem.inputs.push_back(dense(DType::f32, {4, 32}));
    Verdict verdict = row.supports(problem, machine);
    return verdict ? "" : verdict.reason;
  };
  EXPECT_EQ(says(hipblaslt, {}, 64, without), "hipBLASLt is not here");
  EXPECT_EQ(says(rocblas, {}, 64, without), "rocBLAS is not here");
  const Linear residual{.slots = {LinearSlot::residual}}, bias{.slots = {LinearSlot::bias}};
  for (const Kernel* row : {&hipblaslt, &rocblas}) {
    EXPECT_EQ(says(*row, {}, 64, with), "") << row->name;
    EXPECT_EQ(says(*row, residual, 64, with), "") << row->name;
    EXPECT_EQ(says(*row, {.epilogue = {.gated = true}}, 64, with), "") << row->name;
  }
  EXPECT_EQ(says(hipblaslt, bias, 64, with), "");
  EXPECT_EQ(says(rocblas, bias, 64, with), "rocBLAS adds no bias");
  EXPECT_EQ(says(hipblaslt, {.epilogue = {.activation = Activation::relu}}, 64, with), "");
  EXPECT_EQ(says(rocblas, {.epilogue = {.activation = Activation::relu}}, 64, with), "rocBLAS has no activations");
  EXPECT_EQ(says(hipblaslt, {}, 63, with), "rows are not a multiple of 16 bytes");
  EXPECT_EQ(says(rocblas, {}, 63, with), "");
}

TEST(LibraryMatmuls, TakeMatricesWithDenseRowsOrColumns) {
  auto with = [](const Operand& a) {
    return Problem{MatMul{}, {a, dense(DType::f32, {8, 16})}, dense(DType::f32, {4, 16})};
  };
  const Kernel& row = cpu_row("matmul_onednn");
  EXPECT_EQ(refusal(row, with(dense(DType::f32, {4, 8}))), "");
  EXPECT_EQ(refusal(row, with(strided({4, 8}, {1, 4}))), "");
  for (const Strides& strides : {Strides{0, 1}, Strides{16, 2}, Strides{7, 1}, Strides{1, 3}})
    EXPECT_EQ(refusal(row, with(strided({4, 8}, strides))), "a matrix has neither dense rows nor dense columns")
        << to_string(strides);
}

TEST(LibraryMatmuls, OfAGpuCountTheirMatrices) {
  auto of = [](int64_t count) {
    return Problem{MatMul{},
                   {dense(DType::f32, {count, 4, 8}), strided({count, 8, 16}, {0, 16, 1})},
                   dense(DType::f32, {count, 4, 16})};
  };
  EXPECT_EQ(refusal(gpu_row("matmul_cublaslt"), of(1000)), "");
  EXPECT_EQ(refusal(gpu_row("matmul_cublaslt"), of(int64_t{1} << 36)), "more than 65535 matrices");
}

}  // namespace
}  // namespace rung
