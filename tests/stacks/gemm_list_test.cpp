// Lists of products out of files of all kinds, and out of a trace's operations.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/gemm_list.hpp"

#include <gmock/gmock.h>

#include "support/temporary_directory.hpp"

namespace rung::stacks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::vector<std::string> texts(const GemmList& list) {
  std::vector<std::string> all;
  for (const auto& shape : list.shapes()) all.push_back(fmt::format("{} x {}", shape.count, text_of(shape)));
  return all;
}

class GemmLists : public ::testing::Test {
 protected:
  GemmList read(const std::string& text) {
    auto list = read_gemm_list(folder.write("list", text));
    EXPECT_TRUE(list) << list.error().message;
    return list ? *list : GemmList{};
  }
  std::string error(const std::string& text) {
    auto list = read_gemm_list(folder.write("list", text));
    EXPECT_FALSE(list);
    return list ? "" : list.error().message;
  }
  TemporaryDirectory folder;
};

TEST_F(GemmLists, OfTheirOwnFormAddCountsUp) {
  const GemmList list = read("m,n,k,dtype,count\n8,64,32,bf16,3\n1,64,32,f32,1\n8,64,32,bf16,4\nx,1,2,bf16,1\n");
  EXPECT_EQ(list.source, "shapes");
  EXPECT_THAT(texts(list), ElementsAre("7 x m=8 n=64 k=32 bf16 TN", "1 x m=1 n=64 k=32 f32 TN"));
  ASSERT_EQ(list.remarks().size(), 1u);
  EXPECT_THAT(list.remarks().begin()->first, HasSubstr("line 5: m: got 'x'"));
}

TEST_F(GemmLists, NameTheFirstBadLinesCountingTheRest) {
  std::string text = "m,n,k\n1,2,3\n";
  for (int i = 0; i < 50; ++i) text += "1,2,x\n";
  const GemmList list = read(text);
  EXPECT_EQ(list.remarks().size(), 21u);
  EXPECT_EQ(list.remarks().at("further lines that cannot be read"), 30);
}

TEST_F(GemmLists, OfWhatPyTorchRecorded) {
  const GemmList list = read(
      "GemmTunableOp_BFloat16_TN,tn_1024_51_512_ld_512_512_1024\n"
      "GemmAndBiasTunableOp_BFloat16_TN,tn_1024_51_512_ld_512_512_1024\n"
      "GemmStridedBatchedTunableOp_BFloat16_NN,nn_64_51_51_B_8_ld_64_51_64\n");
  EXPECT_EQ(list.source, "tunableop_untuned");
  EXPECT_THAT(texts(list), ElementsAre("1 x m=51 n=1024 k=512 bf16 TN", "1 x m=51 n=1024 k=512 bf16 TN bias=bf16",
                                       "1 x m=51 n=64 k=51 batch=8 bf16 NN"));
}

TEST_F(GemmLists, OfWhatGradlibRecorded) {
  EXPECT_THAT(texts(read("M,N,K,bias,dtype\n1280,1,8192,False,torch.bfloat16\n")),
              ElementsAre("1 x m=1 n=1280 k=8192 bf16 TN"));
}

// An operation of a trace, at a microsecond.
std::string op(const std::string& name, int at, int duration, const std::string& arguments) {
  return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":7,"ts":{},"dur":{},"args":{{{}}}}})", name,
                     at, duration, arguments);
}
std::string arguments(const std::string& shapes, const std::string& strides, const std::string& types) {
  std::string text = fmt::format(R"("Input Dims":{},"Input type":{})", shapes, types);
  return strides.empty() ? text : text + fmt::format(R"(,"Input Strides":{})", strides);
}
std::string trace(const std::vector<std::string>& events) {
  return fmt::format(R"({{"traceEvents":[{}]}})", fmt::join(events, ","));
}
constexpr const char* kTwoBf16 = R"(["c10::BFloat16","c10::BFloat16"])";

TEST_F(GemmLists, OfATraceHaveLayoutsByTheirStrides) {
  const GemmList list = read(trace({
      op("aten::mm", 0, 1, arguments("[[8,32],[32,64]]", "[[32,1],[1,32]]", kTwoBf16)),
      op("aten::mm", 2, 1, arguments("[[8,32],[32,64]]", "[[32,1],[64,1]]", kTwoBf16)),
      op("aten::mm", 4, 1, arguments("[[8,32],[32,64]]", "[[1,8],[64,1]]", kTwoBf16)),
      op("aten::mm", 6, 1, arguments("[[8,32],[32,64]]", "[[96,1],[1,40]]", kTwoBf16)),
      op("aten::bmm", 8, 1, arguments("[[4,8,32],[4,32,64]]", "[[256,32,1],[2048,1,32]]", kTwoBf16)),
      op("aten::addmm", 10, 1,
         arguments("[[64],[8,32],[32,64],[],[]]", "[[1],[32,1],[1,32],[],[]]",
                   R"(["float","float","float","Scalar","Scalar"])")),
      op("aten::mm", 12, 1, arguments("[[8,32],[32,64]]", "[[32,1],[1,32]]", kTwoBf16)),
  }));
  EXPECT_EQ(list.source, "PyTorch profiler");
  EXPECT_THAT(texts(list), ElementsAre("2 x m=8 n=64 k=32 bf16 TN", "1 x m=8 n=64 k=32 bf16 NN",
                                       "1 x m=8 n=64 k=32 bf16 NT", "1 x m=8 n=64 k=32 bf16 TN x_stride=96 w_stride=40",
                                       "1 x m=8 n=64 k=32 batch=4 bf16 TN", "1 x m=8 n=64 k=32 f32 TN bias=f32"));
  EXPECT_TRUE(list.remarks().empty());
}

// aten::linear calls one of the others, or does the work itself.
TEST_F(GemmLists, OfATraceCountALinearLayerOnce) {
  const std::string linear =
      arguments("[[2,4,32],[64,32],[]]", "[[128,32,1],[32,1],[]]", R"(["c10::Half","c10::Half",""])");
  const std::string inner = arguments("[[8,32],[32,64]]", "[[32,1],[1,32]]", R"(["c10::Half","c10::Half"])");
  EXPECT_THAT(texts(read(trace({op("aten::linear", 0, 10, linear), op("aten::mm", 2, 3, inner)}))),
              ElementsAre("1 x m=8 n=64 k=32 f16 TN"));
  EXPECT_THAT(texts(read(trace({op("aten::linear", 0, 10, linear), op("aten::linear", 20, 10, linear)}))),
              ElementsAre("2 x m=8 n=64 k=32 f16 TN"));
}

// The list of operations is the findings', too: trace/analysis/recorded_product.cpp.
TEST_F(GemmLists, OfATraceHaveAllLibraryOperationsProducts) {
  const std::string bias = R"(["float","float","float"])", two = R"(["float","float"])";
  const GemmList list = read(trace({
      op("aten::mm", 0, 1, arguments("[[1,32],[32,64]]", "[[32,1],[1,32]]", two)),
      op("aten::addmm", 2, 1, arguments("[[64],[2,32],[32,64]]", "[[1],[32,1],[1,32]]", bias)),
      op("aten::_addmm_activation", 4, 1, arguments("[[64],[3,32],[32,64]]", "[[1],[32,1],[1,32]]", bias)),
      op("aten::bmm", 6, 1, arguments("[[2,4,32],[2,32,64]]", "[[128,32,1],[2048,1,32]]", two)),
      op("aten::baddbmm", 8, 1, arguments("[[64],[2,5,32],[2,32,64]]", "[[1],[160,32,1],[2048,1,32]]", bias)),
      op("aten::linear", 10, 1, arguments("[[6,32],[64,32]]", "[[32,1],[32,1]]", two)),
      op("vllm::rocm_unquantized_gemm", 12, 1, arguments("[[7,32],[64,32],[]]", "[[32,1],[32,1],[]]", bias)),
  }));
  EXPECT_THAT(texts(list),
              ElementsAre("1 x m=1 n=64 k=32 f32 TN", "1 x m=2 n=64 k=32 f32 TN bias=f32",
                          "1 x m=3 n=64 k=32 f32 TN bias=f32", "1 x m=4 n=64 k=32 batch=2 f32 TN",
                          "1 x m=5 n=64 k=32 batch=2 f32 TN", "1 x m=6 n=64 k=32 f32 TN", "1 x m=7 n=64 k=32 f32 TN"));
  EXPECT_TRUE(list.remarks().empty());
}

TEST_F(GemmLists, OfATraceCountNestedLayersOnce) {
  const std::string layer = arguments("[[8,32],[64,32],[]]", "[[32,1],[32,1],[]]", R"(["c10::Half","c10::Half",""])");
  const std::string inner = arguments("[[8,32],[32,64]]", "[[32,1],[1,32]]", R"(["c10::Half","c10::Half"])");
  EXPECT_THAT(texts(read(trace({op("vllm::rocm_unquantized_gemm", 0, 10, layer), op("aten::linear", 1, 8, layer),
                                op("aten::mm", 2, 3, inner)}))),
              ElementsAre("1 x m=8 n=64 k=32 f16 TN"));
}

// As PyTorch recorded it on a GPU: 177 aten::addmm, 96 aten::bmm and 210 aten::mm, inside 387 aten::linear.
TEST_F(GemmLists, OfARecordedTraceAreAllOfIt) {
  const auto list = read_gemm_list(RUNG_TEST_DATA "/traces/pi0_eager.json.gz");
  ASSERT_TRUE(list) << list.error().message;
  int64_t total = 0;
  for (const auto& shape : list->shapes()) total += shape.count;
  EXPECT_EQ(total, 177 + 96 + 210);
  EXPECT_TRUE(list->remarks().empty());
  EXPECT_THAT(texts(*list),
              ::testing::IsSupersetOf({"24 x m=51 n=1024 k=4096 bf16 TN", "72 x m=256 n=1152 k=1152 bf16 TN bias=bf16",
                                       "24 x m=51 n=256 k=867 batch=8 bf16 NN"}));
}

TEST_F(GemmLists, OfATraceSayWhatTheyLeaveOut) {
  const GemmList list = read(trace({
      op("aten::mm", 0, 1, arguments("[[8,32],[32,64]]", "", kTwoBf16)),
      op("aten::mm", 2, 1, arguments("[[8,32],[32,64]]", "[[32,2],[64,1]]", kTwoBf16)),
      op("aten::mm", 4, 1, arguments("[[8,32],[31,64]]", "[[32,1],[64,1]]", kTwoBf16)),
      op("aten::mm", 6, 1, R"("External id":3)"),
      op("aten::_scaled_mm", 8, 1, ""),
      op("triton_tem_fused_mm_1", 9, 1, ""),
      op("aten::mm", 10, 1, arguments("[[8,32],[32,64]]", "[[32,1],[64,1]]", R"(["strange","strange"])")),
  }));
  EXPECT_THAT(texts(list), ElementsAre("1 x m=8 n=64 k=32 bf16 TN"));
  EXPECT_THAT(list.remarks(),
              ElementsAre(Pair("aten::_scaled_mm: products of 8-bit operands are not timed", 1),
                          Pair("aten::mm: no shapes recorded", 1),
                          Pair("aten::mm: no strides recorded, taken for a linear layer's (TN)", 1),
                          Pair("aten::mm: operands of strange and strange", 1),
                          Pair("aten::mm: operands that are copied first: no axis is dense", 1),
                          Pair("aten::mm: operands whose inner sizes differ", 1),
                          Pair("triton_tem_fused_mm_1: products that no library computes are not timed", 1)));
}

TEST_F(GemmLists, WithoutProductsAreErrorsThatSayWhy) {
  EXPECT_THAT(error("m,n,k\n"), HasSubstr("has no matrix products"));
  EXPECT_THAT(error("m,n,k\n1,2,x\n"), HasSubstr("has no matrix products: line 2: k: got 'x'"));
  EXPECT_THAT(error(trace({op("aten::add", 0, 1, "")})), HasSubstr("record it with record_shapes=True"));
  EXPECT_THAT(error("hello\n"), HasSubstr("got a first line 'hello', wanted one of"));
  EXPECT_THAT(error(""), HasSubstr("wanted one of"));
  EXPECT_THAT(error("{\"traceEvents\": [{"), HasSubstr("list'"));
  EXPECT_THAT(read_gemm_list(folder / "nothing").error().message, HasSubstr("no such file"));
  EXPECT_THAT(read_gemm_list(TemporaryDirectory().path()).error().message,
              HasSubstr("got a folder without a profiler's files"));
}

}  // namespace
}  // namespace rung::stacks
