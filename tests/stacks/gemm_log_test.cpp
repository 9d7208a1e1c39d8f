// Products out of the logs of hipBLASLt, rocBLAS and aiter, among other lines.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/gemm_log.hpp"

#include <gmock/gmock.h>

#include "support/gzip.hpp"
#include "support/temporary_directory.hpp"

namespace rung::stacks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GemmLogs : public ::testing::Test {
 protected:
  GemmList read(const std::string& text) {
    auto list = read_gemm_list(folder.write("log", text));
    EXPECT_TRUE(list) << list.error().message;
    return list ? *list : GemmList{};
  }
  static std::vector<std::string> texts(const GemmList& list) {
    std::vector<std::string> all;
    for (const auto& shape : list.shapes()) all.push_back(fmt::format("{} x {}", shape.count, text_of(shape)));
    return all;
  }
  std::string only_remark(const std::string& line) {
    const auto list = read_gemm_log(folder.write("log", line + "\n"));
    EXPECT_TRUE(list && list->shapes().empty() && list->remarks().size() == 1) << line;
    return list && !list->remarks().empty() ? list->remarks().begin()->first : "";
  }
  TemporaryDirectory folder;
};

constexpr std::string_view kHipblaslt =
    "hipblaslt-bench --api_method c -m 1024 -n 51 -k 2048 --lda 2048 --ldb 2048 --ldc 1024 --ldd 1024  --stride_a 0 "
    "--stride_b 0 --stride_c 0 --stride_d 0  --alpha 1.000000 --beta 0.000000 --transA T --transB N --batch_count 1 "
    "--scaleA 0 --scaleB 0 --bias_vector --bias_source d --a_type bf16_r --b_type bf16_r --c_type bf16_r --d_type "
    "bf16_r "
    "--scale_type f32_r --bias_type bf16_r   --compute_type f32_r --algo_method index --solution_index 218160 "
    "--activation_type gelu\n";

TEST_F(GemmLogs, OfHipblasltsBenchLines) {
  const GemmList list = read("loading weights\n" + std::string(kHipblaslt) + "step 1\n" + std::string(kHipblaslt));
  EXPECT_EQ(list.source, "hipBLASLt's log");
  EXPECT_THAT(texts(list), ElementsAre("2 x m=51 n=1024 k=2048 bf16 TN bias=bf16 gelu"));
  EXPECT_THAT(list.remarks(), IsEmpty());
}

TEST_F(GemmLogs, OfHipblasltsProfileLines) {
  EXPECT_THAT(
      texts(read("- { function: matmul, M: 64, N: 8, K: 32, lda: 64, ldb: 32, ldc: 64, ldd: 64, transA: N, transB: "
                 "N, batch_count: 4, a_type: f16_r, b_type: f16_r, c_type: f16_r, d_type: f16_r, compute_type: "
                 "c_f32_r, call_count: 3 }\n")),
      ElementsAre("3 x m=8 n=64 k=32 batch=4 f16 NN"));
}

// Counted by `sort | uniq -c`.
TEST_F(GemmLogs, OfRocblassBenchLines) {
  const GemmList list = read(
      "  16320 ./rocblas-bench -f gemm_ex --transposeA T --transposeB N -m 8192 -n 1 -k 7392 --alpha 1 --a_type bf16_r "
      "--lda 7392 --b_type bf16_r --ldb 7392 --beta 0 --c_type bf16_r --ldc 8192 --d_type bf16_r --ldd 8192 "
      "--compute_type "
      "f32_r --algo 0 --solution_index 0 --flags 0\n"
      "./rocblas-bench -f gemm -r s --transposeA N --transposeB T -m 16 -n 8 -k 4 --alpha 1 --lda 20 --ldb 8 --beta 0 "
      "--ldc 16\n"
      "./rocblas-bench -f axpy -r f32_r -n 100 --alpha -1 --incx 1 --incy 1\n");
  EXPECT_EQ(list.source, "rocBLAS's log");
  EXPECT_THAT(texts(list), ElementsAre("16320 x m=1 n=8192 k=7392 bf16 TN", "1 x m=8 n=16 k=4 f32 NT w_stride=20"));
  ASSERT_EQ(list.remarks().size(), 1u);
  EXPECT_THAT(list.remarks().begin()->first, HasSubstr("'axpy': no matrix product"));
}

TEST_F(GemmLogs, OfRocblassProfile) {
  EXPECT_THAT(
      texts(read(
          "- { rocblas_function: \"rocblas_gemm_ex\", atomics_mode: atomics_allowed, a_type: \"bf16_r\", b_type: "
          "\"bf16_r\", c_type: \"bf16_r\", d_type: \"bf16_r\", compute_type: \"f32_r\", transA: 'T', transB: 'N', M: "
          "12288, N: 4547, K: 4608, alpha: 1.0, lda: 4608, beta: 0.0, ldb: 4608, ldc: 12288, ldd: 12288, "
          "batch_count: 1, algo: 0, solution_index: 0, flags: none, call_count: 136 }\n"
          "- { rocblas_function: \"rocblas_hgemm\", transA: 'N', transB: 'N', M: 8, N: 4, K: 2, lda: 8, ldb: 2, ldc: "
          "8, "
          "call_count: 2 }\n")),
      ElementsAre("136 x m=4547 n=12288 k=4608 bf16 TN", "2 x m=4 n=8 k=2 f16 NN"));
}

TEST_F(GemmLogs, OfAitersLinesWithoutATunedRow) {
  const GemmList list = read(
      "(Worker_TP0 pid=8) [aiter] shape is M:64, N:7168, K:2048 dtype='torch.float16' otype='torch.float16' bias=True, "
      "scaleAB=False, bpreshuffle=False, not found tuned config in /tmp/bf16_tuned_gemm.csv, will use default config!\n"
      "[aiter] shape is M:64, N:7168, K:2048, not found tuned config in /tmp/bf16_tuned_gemm.csv, will use default "
      "config!\n"
      "[aiter] shape is M:64, N:7168, K:2048, found padded_M: 64, N:7168, K:2048 is tuned on cu_num = 304\n");
  EXPECT_EQ(list.source, "aiter's log");
  EXPECT_THAT(texts(list), ElementsAre("1 x m=64 n=7168 k=2048 f16 TN bias=f16", "1 x m=64 n=7168 k=2048 bf16 TN"));
}

TEST_F(GemmLogs, OfAitersQuantisedProductsNameTheirTypes) {
  const GemmList list = read(
      "[aiter] shape is M:8, N:16, K:32, q_dtype_w:torch.int8, not found tuned config in a8w8_tuned_gemm.csv, will "
      "use\n"
      "[aiter] shape is M:8, N:16, K:32, not found tuned config in a8w8_blockscale_tuned_gemm.csv, will use\n");
  ASSERT_EQ(list.shapes().size(), 2u);
  EXPECT_EQ(list.shapes()[0].w, ElementType::i8);
  EXPECT_EQ(list.shapes()[0].scaling, Scaling::row);
  EXPECT_EQ(list.shapes()[1].w, ElementType::f8e4m3fn);
  EXPECT_EQ(list.shapes()[1].scaling, Scaling::block);
}

TEST_F(GemmLogs, DamagedLinesSayWhatIsWrong) {
  EXPECT_THAT(only_remark("hipblaslt-bench -m x -n 1 -k 1 --transA T --transB N --a_type f16_r"),
              HasSubstr("m: got 'x'"));
  EXPECT_THAT(only_remark("hipblaslt-bench -m 1 -n 1 --transA T --transB N --a_type f16_r"), HasSubstr("k: got none"));
  EXPECT_THAT(only_remark("hipblaslt-bench -m 8 -n 1 -k 8 --transA C --transB N --a_type f16_r"),
              HasSubstr("transA: got 'C'"));
  EXPECT_THAT(only_remark("hipblaslt-bench -m 8 -n 1 -k 8 --transA T --transB N --a_type q4"),
              HasSubstr("a_type: got 'q4'"));
  EXPECT_THAT(only_remark("hipblaslt-bench -m 8 -n 1 -k 8 --transA T --transB N --lda 4 --a_type f16_r"),
              HasSubstr("w_stride"));
  EXPECT_THAT(only_remark("hipblaslt-bench -m 8 -n 1 -k 8 --transA T --transB N --a_type f16_r --grouped_gemm 1"),
              HasSubstr("grouped"));
  EXPECT_THAT(only_remark("rocblas-bench -f gemm_ex -m 0 -n 1 -k 8 --transposeA T --transposeB N --a_type f16_r"),
              HasSubstr("n: got 0"));
  EXPECT_THAT(only_remark("shape is M:8, N:9223372036854775807, K:8, not found tuned config in bf16.csv"),
              HasSubstr("n: got"));
  EXPECT_THAT(only_remark("not found tuned config"), HasSubstr("m: got none"));
  EXPECT_THAT(only_remark(std::string(3 << 20, 'x') + "hipblaslt-bench "), HasSubstr("lines of more than 1 MB"));
}

// Of a server, whose log begins with a megabyte of other lines.
TEST_F(GemmLogs, LinesMayComeLateAndPacked) {
  std::string late;
  while (late.size() < (1 << 20) + 100) late += "INFO: a request was answered\n";
  EXPECT_THAT(texts(read(late + std::string(kHipblaslt))), ::testing::SizeIs(1));
  EXPECT_THAT(texts(read(gzip(kHipblaslt))), ::testing::SizeIs(1));
  std::string without_end(kHipblaslt);
  without_end.pop_back();
  EXPECT_THAT(texts(read(without_end)), ::testing::SizeIs(1));
}

}  // namespace
}  // namespace rung::stacks
