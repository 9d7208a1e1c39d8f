// What rows of a GPU take of floats of 8 bits, and what they refuse, saying why. Nothing runs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/linear/linear_skinny.hpp"
#include "kernels/gpu/linear/linear_wide.hpp"
#include "row_refusals.hpp"

namespace rung::test {
namespace {

constexpr const char* kGate =
    "result = linear(x:f8e4m3fn[816,2048], w:f8e4m3fn[32768,2048], wscale:f32[32768], slots=scale, gated=true, "
    "activation=gelu_tanh, out=@)";

TEST(F8Linears, OfHundredsOfTokensHaveHalfTheChunks) {
  const Problem gate = problem_of(kGate, "f8e4m3fn");
  const gpu::WidePlan plan(gate, testing::hopper_card());
  EXPECT_EQ(plan.chunks, 16);
  EXPECT_EQ(plan.function, "linear_wide_f8_to_f8_256_136_1_gated_gelu");
  EXPECT_EQ(gpu::WidePlan(problem_of(kGate, "bf16"), testing::hopper_card()).function,
            "linear_wide_f8_256_136_1_gated_gelu");
}

TEST(F8Linears, OfIntegersGiveAllThreeTypes) {
  const std::string gate =
      "result = linear(x:i8[816,2048], w:i8[32768,2048], wscale:f32[32768], slots=scale, gated=true, "
      "activation=gelu_tanh, out=@)";
  for (const auto& [out, function] : {std::pair("i8", "linear_wide_i8_to_i8_256_144_1_gated_gelu"),
                                      std::pair("f8e4m3fn", "linear_wide_i8_to_f8_256_144_1_gated_gelu"),
                                      std::pair("bf16", "linear_wide_i8_256_144_1_gated_gelu")})
    EXPECT_EQ(gpu::WidePlan(problem_of(gate, out), testing::hopper_card()).function, function);
}

TEST(F8Linears, OfFewTokensHaveAsManyBlocks) {
  const auto blocks = [](const char* type) {
    const std::string text =
        fmt::format("result = linear(x:{0}[51,2048], w:{0}[1024,2048], r:f32[51,1024]{1}, out=f32)", type,
                    std::string_view(type) == "bf16" ? ", slots=residual" : ", wscale:f32[1024], slots=residual+scale");
    const gpu::SkinnyPlan plan(problem_of(text, ""), testing::hopper_card());
    return plan.blocks();
  };
  EXPECT_EQ(blocks("bf16"), 128u);
  EXPECT_EQ(blocks("f8e4m3fn"), 128u);
}

TEST(F8Linears, AreOfAScaleForEachRow) {
  for (std::string_view row : {"linear_wide_sm90", "linear_skinny_sm90"})
    expect_refusals(std::array<Refusal, 3>{{
        {row, "result = linear(x:f8e4m3fn[65,64], w:f8e4m3fn[256,64]@, out=bf16)", ", wscale:f32[256], slots=scale", "",
         "8 bits without a scale for each row of w"},
        {row, "result = linear(x:f8e4m3fn[65,64], w:f8e4m3fn[256,64], @:f32[256], slots=scale, out=bf16)", "wscale",
         "scale", "scale is no dense constant"},
        {row,
         "result = linear(x:f8e4m3fn[65,64], w:f8e4m3fn[256,64], wscale:f32[256], @, slots=scale+x_scale, out=bf16)",
         "y:f32[65]", "slice(y:f32[130], axis=0, end=130, step=2)", "x_scale is not dense"},
    }});
}

TEST(F8Linears, GiveRoundedResultsOf8Bits) {
  const std::string_view row = "linear_wide_sm90";
  const std::string form = "result = linear(x:f8e4m3fn[128,64], w:f8e4m3fn[256,64], ";
  const std::string integers = "result = linear(x:i8[128,64], w:i8[256,64], ";
  expect_refusals(std::array<Refusal, 8>{{
      {row, integers + "wscale:f32[256], slots=scale, activation=@, out=i8)", "gelu", "silu",
       "a result of i8 after silu"},
      {row, integers + "r:bf16[128,256], wscale:f32[256], slots=residual+scale, out=@)", "bf16", "i8",
       "a residual, and a result of i8"},
      {row, form + "wscale:f32[256], slots=scale, out=@)", "bf16", "i8", "result is i8"},
      {row, form + "wscale:f32[256], slots=scale, factor=4, out=@)", "f8e4m3fn", "bf16",
       "a factor, and a result not of 8 bits"},
      {row, form + "wscale:f32[256], slots=scale, activation=@, out=f8e4m3fn)", "gelu", "silu",
       "a result of f8e4m3fn after silu"},
      {row, form + "r:bf16[128,256], wscale:f32[256], slots=residual+scale, out=@)", "bf16", "f8e4m3fn",
       "a residual, and a result of f8e4m3fn"},
      {row, form + "c:f32[128,128], s:f32[128,128], wscale:f32[256], slots=cos+sin+scale, rotated_heads=1, out=@)",
       "bf16", "f8e4m3fn", "rotated heads, with a result in f8e4m3fn"},
      {row, "result = linear(x:@[128,64], w:@[256,64], wscale:f32[256], slots=scale, out=bf16)", "f8e4m3fn",
       "f8e4m3fnuz", "x is f8e4m3fnuz"},
  }});
}

TEST(F8Linears, AreOfTheMachinesFormat) {
  const std::string form = "result = linear(x:@[17,64], w:@[256,64], wscale:f32[256], slots=scale, out=bf16)";
  expect_refusals(std::array<Refusal, 3>{{
      {"linear_tiled", "result = linear(x:i8[@,8], w:i8[8,8], wscale:f32[8], slots=scale)", "2097120", "2097121",
       "more than 2097120 rows"},
      {"linear_skinny_cdna", form, "f8e4m3fnuz", "f8e4m3fn",
       "x and w are not both bf16, both f32, both f8e4m3fnuz or both f16"},
      {"linear_tiled", form, "f8e4m3fn", "f8e4m3fnuz", "operand 0 is f8e4m3fnuz"},
  }});
}

TEST(F8Rows, AreOfTheMachinesFormat) {
  expect_refusals(std::array<Refusal, 7>{{
      {"quantize_gpu", "result = quantize(x:bf16[4,64], to=i8@)", "", ", outliers=[3]",
       "it keeps no outliers beside columns of 8 bits"},
      {"quantize_gpu", "result = quantize(x:bf16[4,64], to=@)", "f8e4m3fn", "f8e4m3fnuz",
       "to f8e4m3fnuz, wanted i8 or f8e4m3fn"},
      {"quantize_gpu", "result = quantize(@)", "x:bf16[4,64]", "transpose(x:bf16[64,4], permutation=[1,0])",
       "x is not made of dense rows"},
      {"cast_f8_gpu", "result = cast(x:bf16[4,64], to=@)", "f8e4m3fn", "f32",
       "bf16 to f32, wanted f8e4m3fn on one side and f32, bf16 or f16 on the other"},
      {"cast_f8_gpu", "result = cast(@, to=f8e4m3fn)", "x:bf16[4,64]", "transpose(x:bf16[64,4], permutation=[1,0])",
       "x is not dense"},
      {"rms_norm_rows", "result = rms_norm(x:bf16[4,64], w:f32[64], out=@)", "f8e4m3fn", "f8e4m3fnuz",
       "rows to f8e4m3fnuz, wanted f8e4m3fn"},
      {"rms_norm_gpu", "result = rms_norm(x:@[4,64], w:f32[64], out=f8e4m3fn)", "bf16", "f8e4m3fn",
       "operand 0 is f8e4m3fn"},
  }});
}

// Weights of 8 bits beside x of more are for rows that widen them.
TEST(F8Linears, OfWeightsAloneAreOfFewRows) {
  const std::string form = "result = linear(x:@[8,64], w:i8[256,64], wscale:f32[256], slots=scale, out=bf16)";
  expect_refusals(std::array<Refusal, 1>{{
      {"linear_gemv", form, "bf16", "i8", "x or the result is of 8 bits"},
  }});
}

}  // namespace
}  // namespace rung::test
