// What rows of each format mean: sizes, types, layouts, solutions and times in our words.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/files/format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stacks/files/samples.hpp"
#include "stacks/files/tunableop_names.hpp"
#include "stacks/files/tunableop_solutions.hpp"

namespace rung::stacks {
namespace {

using testing::HasSubstr;

TuningFile read_sample(std::string_view name) {
  const Sample& one = sample(name);
  EXPECT_EQ(one.name, name);
  auto file = read_tuning_text(std::string(one.name), one.text);
  EXPECT_TRUE(file) << file.error().message;
  return file ? std::move(*file) : TuningFile{};
}

std::string product(const TuningFile& file, size_t i) {
  return i < file.entries.size() && file.entries[i].shape ? text_of(*file.entries[i].shape) : "";
}

TEST(GemmShapes, BecomeWeightsFirstAndColumnMajorInBlas) {
  GemmShape shape;
  shape.m = 51, shape.n = 1024, shape.k = 2048;
  BlasShape blas = blas_of(shape);
  EXPECT_EQ(std::tuple(blas.trans_a, blas.trans_b, blas.m, blas.n, blas.k), std::tuple('T', 'N', 1024, 51, 2048));
  EXPECT_EQ(std::tuple(blas.lda, blas.ldb, blas.ldc), std::tuple(2048, 2048, 1024));
  shape.layout = GemmLayout::nt;
  blas = blas_of(shape);
  EXPECT_EQ(std::tuple(blas.lda, blas.ldb, blas.ldc), std::tuple(1024, 51, 1024));
}

TEST(GemmShapes, GoToBlasAndBack) {
  for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt})
    for (const int64_t gap : {0, 64}) {
      GemmShape shape;
      shape.m = 3, shape.n = 5, shape.k = 7, shape.layout = layout, shape.batch = 2, shape.bias = ElementType::f32;
      if (gap) shape.x_stride = 100, shape.w_stride = 200, shape.out_stride = 300;
      EXPECT_EQ(shape_of(blas_of(shape), shape), shape);
    }
}

TEST(GemmShapes, AreChecked) {
  GemmShape shape{3, 5, 7};
  EXPECT_TRUE(check(shape));
  shape.m = 0;
  EXPECT_THAT(check(shape).error().message, HasSubstr("m: got 0, wanted 1 to"));
  shape.m = 3, shape.x_stride = 6;
  EXPECT_THAT(check(shape).error().message, HasSubstr("x_stride: got 6, wanted 0 or at least 7"));
  shape.x_stride = 0, shape.m = int64_t{1} << 40, shape.k = int64_t{1} << 40;
  EXPECT_THAT(check(shape).error().message, HasSubstr("wanted at most 2^58"));
}

TEST(TunableOpRows, SayOperationTypesLayoutAndSolution) {
  const TuningFile file = read_sample("tunableop_results0.csv");
  ASSERT_EQ(file.entries.size(), 8u);
  EXPECT_EQ(product(file, 0), "m=51 n=1024 k=2048 bf16 TN");
  EXPECT_EQ(product(file, 1), "m=64 n=512 k=256 f32 NN");
  EXPECT_EQ(product(file, 2), "m=64 n=512 k=256 bf16x9 TN");
  EXPECT_EQ(product(file, 3), "m=1 n=4096 k=1024 f16 TN bias=f16");
  EXPECT_FALSE(file.entries[4].shape) << "a pattern";
  EXPECT_EQ(product(file, 5), "m=128 n=64 k=64 batch=16 bf16 NT");
  EXPECT_EQ(product(file, 6), "m=16 n=2048 k=2048 x=f8e4m3fnuz w=f8e4m3fnuz out=bf16 TN scaling=row");
  EXPECT_EQ(product(file, 7), "m=32 n=2048 k=2048 x=f8e5m2fnuz w=f8e4m3fnuz out=f16 TN bias=f16 scaling=tensor");
  EXPECT_NEAR(*file.entries[0].us, 12.3, 1e-9);
  EXPECT_EQ(file.entries[1].solution->index, -621294427);
  EXPECT_EQ(file.entries[1].solution->library, "rocblas");
  EXPECT_EQ(file.facts[2].name, "GCN_ARCH_NAME");
  EXPECT_EQ(file.facts[2].value, "gfx942:sramecc+:xnack-");
}

TEST(TunableOpRows, OnNvidiaNameAlgorithmsOfCublasLt) {
  const TuningFile file = read_sample("tunableop_h200.csv");
  const auto algorithm = cublaslt_algorithm_of(file.entries[0].solution->name);
  ASSERT_TRUE(algorithm);
  EXPECT_EQ(*algorithm, (CublasLtAlgorithm{66, 35, 36, 1, 0, 0, 0, 0, 2}));
  EXPECT_EQ(solution_name(*algorithm), file.entries[0].solution->name);
  EXPECT_FALSE(cublaslt_algorithm_of(file.entries[0].solution->name + "_more"));
  EXPECT_FALSE(
      cublaslt_algorithm_of("Gemm_Cublaslt_id_66_tile_99999999999_stages_36_splitk_1_red_0_swizzle_0_custom_0_"
                            "inner_0_cluster_2"));
  EXPECT_EQ(product(file, 1), "m=64 n=512 k=512 x=f8e4m3fn w=f8e4m3fn out=bf16 TN scaling=row");
}

TEST(TunableOpNames, SaySolutionsOfEveryLibrary) {
  EXPECT_EQ(parse_solution("Default").library, "default");
  EXPECT_EQ(parse_solution("Gemm_Hipblaslt_12").index, 12);
  EXPECT_FALSE(parse_solution("Gemm_Hipblaslt_12").has_layout);
  EXPECT_TRUE(parse_solution("Gemm_Hipblaslt_TN_12").has_layout);
  EXPECT_EQ(parse_solution("Gemm_Hipblaslt_TN_12").index, 12);
  for (const char* other : {"", "default", "1219", "Gemm_Hipblaslt_", "Gemm_Hipblaslt_12x", "Gemm_Rocblas_ 1",
                            "Gemm_Cublaslt_id_66", "Gemm_Rocblas_TN_4", "Gemm_Hipblaslt_99999999999999999999"})
    EXPECT_TRUE(parse_solution(other).library.empty()) << other;
}

TEST(TunableOpNames, AreRefusedWhereTheyAreNone) {
  const auto refused = [](const std::string& line) {
    const auto file = read_tuning_text("f", line, "tunableop");
    return file && file->refused.size() == 1 && file->entries.empty() ? file->refused[0].text : "not refused: " + line;
  };
  EXPECT_THAT(refused("GemmTunableOp_BFloat16,tn_1_1_1,Default"), HasSubstr("where a type such as BFloat16"));
  EXPECT_THAT(refused("GemmTunableOp_BFloat16_TX,tn_1_1_1,Default"), HasSubstr("got layout 'TX'"));
  EXPECT_THAT(refused("Gemm_BFloat16_TN,tn_1_1_1,Default"), HasSubstr("got operation 'Gemm_BFloat16_TN'"));
  EXPECT_THAT(refused("GemmTunableOp_Half_TN,tn_1_-1_1,Default"), HasSubstr("m: got -1"));
  EXPECT_THAT(refused("GemmTunableOp_Half_TN,tn_1_1,Default"), HasSubstr("k: got ''"));
  EXPECT_THAT(refused("GemmTunableOp_Half_TN,tn_1_1_1_ld_1_1,Default"), HasSubstr("ldc: got ''"));
  EXPECT_THAT(refused("GemmTunableOp_Half_TN,tn_1_1_1_ld_1_1_1_rw_1,Default"), HasSubstr("got 'rw' after the sizes"));
  EXPECT_THAT(refused("ScaledGemmTunableOp_Half_Half_Half_TN,tn_1_1_1_ld_1_1_1,Default"), HasSubstr("wanted 'rw'"));
  EXPECT_THAT(refused("GemmTunableOp_Half_TN,tn_1_1_1_ld_1_1_1,Default,soon"), HasSubstr("time: got 'soon'"));
  EXPECT_THAT(refused("GemmTunableOp_Half_TN,tn_1_1_1"), HasSubstr("got 2 cells"));
}

TEST(TunableOpRows, AreNotMadeForProductsTunableOpLacks) {
  GemmShape shape{2, 3, 4};
  EXPECT_EQ(*tunableop_key(shape), "GemmTunableOp_BFloat16_TN,tn_3_2_4_ld_4_4_3");
  shape.scaling = Scaling::block;
  EXPECT_THAT(tunableop_key(shape).error().message, HasSubstr("blocks"));
  shape.scaling = Scaling::none, shape.out = ElementType::f32;
  EXPECT_THAT(tunableop_key(shape).error().message, HasSubstr("several types"));
  shape.out = ElementType::bf16, shape.bias = ElementType::f32;
  EXPECT_THAT(tunableop_key(shape).error().message, HasSubstr("bias of another type"));
  shape.bias = ElementType::bf16, shape.batch = 2;
  EXPECT_THAT(tunableop_key(shape).error().message, HasSubstr("batched product with a bias"));
  shape = GemmShape{2, 3, 4};
  shape.epilogue = Epilogue::gelu;
  EXPECT_THAT(tunableop_key(shape).error().message, HasSubstr("activation"));
  shape = GemmShape{2, 3, 4};
  shape.x = shape.w = shape.out = ElementType::i8;
  EXPECT_THAT(tunableop_key(shape).error().message, HasSubstr("no products of i8"));
}

TEST(TunableOpHeaders, HaveTheValidatorsThatPyTorchHasThere) {
  const auto names = [](const TunedMachine& machine) {
    const auto file = new_tuning_file("tunableop", machine);
    std::string text = file ? "" : file.error().message;
    if (file)
      for (const Fact& fact : file->facts) text += fact.name + " ";
    return text;
  };
  EXPECT_EQ(names(mi300x()), "PT_VERSION HIP_VERSION HIPBLASLT_VERSION GCN_ARCH_NAME ROCBLAS_VERSION ");
  EXPECT_EQ(names(h200()), "PT_VERSION CUBLASLT_VERSION CUDA_DEVICE ");
  TunedMachine old = h200();
  old.versions["PT_VERSION"] = "2.13.0+cu126";
  EXPECT_EQ(names(old), "PT_VERSION ");
  old = mi300x();
  old.versions["PT_VERSION"] = "2.8.0+rocm6.4", old.versions["ROCM_VERSION"] = "6.4.0.0-1-abc";
  EXPECT_EQ(names(old), "PT_VERSION ROCM_VERSION HIPBLASLT_VERSION GCN_ARCH_NAME ROCBLAS_VERSION ");
  old.versions.erase("ROCBLAS_VERSION");
  EXPECT_THAT(names(old), HasSubstr("got no ROCBLAS_VERSION of this machine"));
  old = mi300x();
  old.architecture = "gfx942";
  EXPECT_THAT(names(old), HasSubstr("got no GCN_ARCH_NAME"));
}

TEST(HipblasltRows, HaveTheColumnsOfTheLineBefore) {
  const TuningFile file = read_sample("tuning.txt");
  ASSERT_EQ(file.entries.size(), 2u);
  EXPECT_EQ(product(file, 0), "m=70 n=3456 k=512 bf16 TN bias=bf16");
  EXPECT_EQ(file.entries[0].solution->index, 56537);
  EXPECT_EQ(file.entries[0].compute_units, 304);
  EXPECT_NEAR(*file.entries[0].us, 106.345, 1e-9);
  EXPECT_EQ(product(file, 1), "m=512 n=1024 k=1024 batch=4 f16 NN");
  EXPECT_THAT(file.entries[1].solution->name, HasSubstr("MT128x128x16"));
  EXPECT_EQ(file.entries[1].key, "N,N,4,1024,512,1024,f16_r,f16_r,f16_r,f32_r");
  EXPECT_EQ(file.facts[0].value, "a6254b89-dirty");
}

TEST(HipblasltRows, OfTf32AreF32ComputedAsXf32) {
  const std::string head = "transA,transB,batch_count,m,n,k,a_type,b_type,c_type,compute_type,solution_index\n";
  const auto file = read_tuning_text("f", head + "T,N,1,8,4,2,f32_r,f32_r,f32_r,xf32_r,5\n");
  ASSERT_TRUE(file);
  EXPECT_EQ(product(*file, 0), "m=4 n=8 k=2 tf32 TN");
  const auto bad = read_tuning_text("f", head + "C,N,1,8,4,2,f32_r,f32_r,f32_r,f32_r,5\nT,N,1,8\n");
  ASSERT_EQ(bad->refused.size(), 2u);
  EXPECT_THAT(bad->refused[0].text, HasSubstr("transA: got 'C'"));
  EXPECT_THAT(bad->refused[1].text, HasSubstr("got 4 cells, wanted the header's 11"));
}

TEST(AiterRows, TakeTypesFromColumnsOrFromTheirFamily) {
  const TuningFile half = read_sample("bf16_tuned_gemm.csv");
  EXPECT_EQ(product(half, 1), "m=64 n=256 k=5120 x=bf16 w=bf16 out=f32 TN bias=f32");
  EXPECT_EQ(half.entries[1].key, "gfx942,304,64,256,5120,True,torch.bfloat16,torch.float32,False,True");
  EXPECT_EQ(half.entries[1].solution->library, "asm");
  EXPECT_EQ(half.entries[1].solution->split_k, 13);
  EXPECT_EQ(cell_of(half, half.entries[1], "tflops"), "21.19");
  const TuningFile byte = read_sample("a8w8_blockscale_tuned_gemm.csv");
  EXPECT_EQ(product(byte, 0), "m=1 n=3072 k=1536 x=f8e4m3fnuz w=f8e4m3fnuz out=bf16 TN scaling=block");
  const TuningFile list = read_sample("a8w8_untuned_gemm.csv");
  EXPECT_EQ(product(list, 0), "m=1 n=1280 k=8192 x=i8 w=i8 out=bf16 TN scaling=row");
  EXPECT_EQ(list.entries[0].key, "1,1280,8192,torch.int8");
}

TEST(GradlibRows, GiveSizesInVllmsOrAitersOrder) {
  const TuningFile file = read_sample("tuned.csv");
  EXPECT_EQ(product(file, 0), "m=1 n=4096 k=4096 f16 TN");
  EXPECT_NEAR(*file.entries[0].us, 12.3, 1e-9);
  const auto aiter = read_tuning_text("f",
                                      "M,N,K,bias,dtype,outdtype,scaleAB,cu_num,libtype,solidx,soltimes,kernelName\n"
                                      "1,4096,64,False,torch.bfloat16,torch.bfloat16,False,80,hipblaslt,3,0.5,k\n");
  ASSERT_TRUE(aiter);
  EXPECT_EQ(aiter->format->name, "gradlib");
  EXPECT_EQ(product(*aiter, 0), "m=1 n=4096 k=64 bf16 TN");
  EXPECT_EQ(aiter->entries[0].compute_units, 80);
}

TEST(MiopenRecords, HaveAResultOfEachSolver) {
  const TuningFile file = read_sample("gfx942130.HIP.3_5_0_a85ca8a54.ufdb.txt");
  ASSERT_EQ(file.entries.size(), 3u);
  EXPECT_EQ(file.entries[1].solution->name, "ConvBinWinogradRxSf2x3");
  EXPECT_NEAR(*file.entries[1].us, 20, 1e-9);
  EXPECT_EQ(file.entries[1].line, 1u);
  EXPECT_EQ(file.entries[0].architecture, "gfx942");
  EXPECT_EQ(file.entries[0].compute_units, 304);
  const TuningFile old = read_sample("gfx906_60.HIP.2_1_0.ufdb.txt");
  EXPECT_EQ(old.entries[0].solution->name, "ConvAsm3x3U");
  EXPECT_EQ(old.entries[0].compute_units, 60);
  const TuningFile parameters = read_sample("gfx90a6e.HIP.2_20_0.udb.txt");
  EXPECT_EQ(parameters.entries[0].compute_units, 110);
  EXPECT_FALSE(parameters.entries[0].us);
}

TEST(ListsOfProducts, DefaultToLinearLayersInBf16) {
  const TuningFile least = read_sample("least.csv");
  EXPECT_EQ(product(least, 0), "m=51 n=1024 k=2048 bf16 TN");
  const TuningFile file = read_sample("shapes.csv");
  EXPECT_EQ(file.entries[0].shape->count, 18);
  EXPECT_EQ(file.entries[0].line, 3u);
  EXPECT_EQ(product(file, 1), "m=1 n=4096 k=1024 x=f8e4m3fn w=f8e4m3fn out=bf16 TN bias=bf16 gelu");
  EXPECT_EQ(cell_of(file, file.entries[1], "layer"), "mlp");
}

TEST(ListsOfProducts, SayWhatIsWrongAndWhere) {
  const auto error = [](const std::string& row) {
    const auto file = read_tuning_text("list.csv", "m,n,k,dtype,layout,bias,epilogue\n" + row + "\n");
    const Status status = file ? expect_no_refused(*file) : Status(tl::unexpected<Error>(file.error()));
    return status ? "accepted" : status.error().message;
  };
  EXPECT_EQ(error("a,2,3,,,,"), "'list.csv' line 2: m: got 'a', wanted a whole number");
  EXPECT_EQ(error("0,2,3,,,,"), "'list.csv' line 2: m: got 0, wanted 1 to 2^58");
  EXPECT_EQ(error("1,2,3,f128,,,"), "'list.csv' line 2: dtype: got 'f128', wanted a type such as bf16");
  EXPECT_EQ(error("1,2,3,,NX,,"), "'list.csv' line 2: layout: got 'NX', wanted one of TN, NN, NT, TT");
  EXPECT_EQ(error("1,2,3,,,f7,"), "'list.csv' line 2: bias: got 'f7', wanted 0, 1 or a type such as bf16");
  EXPECT_EQ(error("1,2,3,,,,tanh"), "'list.csv' line 2: epilogue: got 'tanh', wanted one of none, relu, gelu, silu");
  EXPECT_EQ(error("1,2,3"), "'list.csv' line 2: got 3 cells, wanted the header's 7");
  EXPECT_EQ(error("1,2,3,f16,nn,f32,RELU"), "accepted");
}

}  // namespace
}  // namespace rung::stacks
