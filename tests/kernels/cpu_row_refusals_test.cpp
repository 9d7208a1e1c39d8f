// Refusals of the processor's rows that no problem of the conformance suite meets.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "row_refusals.hpp"

namespace rung::test {
namespace {

TEST(CpuRowRefusals, AreOfTypes) {
  const std::string floats = "only f32, bf16 and f16", reserved = "f8e4m3fn";
  const std::string eight = "a result of 8 bits, or with a factor";
  expect_refusals(std::array<Refusal, 12>{{
      {"attention_avx2", "result = attention(q:@[1,4,2,8], k:@[1,4,2,8], v:@[1,4,2,8])", "f32", reserved, floats},
      {"attention_avx2", "result = attention(q:f32[1,4,2,8], k:f32[1,4,2,8], v:f32[1,4,2,8]@)", ", factor=2, out=i8",
       ", out=f8e4m3fn", "a result of f8e4m3fn, wanted i8 or q's type"},
      {"attention_cache_avx2",
       "result = attention(q:f32[1,1,2,8], length2:i64[1], k:f32[1,4,2,8], v:f32[1,4,2,8], slots=length@)", "",
       ", factor=2", eight},
      {"rope_avx2", "result = rope(x:@[4,8], c:@[4,8], s:@[4,8])", "f16", reserved, floats},
      {"masked_mean_avx2", "result = masked_mean(x:@[2,5,8], keep:f32[2,5])", "bf16", reserved, floats},
      {"rms_norm_avx2", "result = rms_norm(x:@[4,8], w:f32[8])", "bf16", reserved, floats},
      {"rms_norm_avx2", "result = rms_norm(x:f32[4,8], w:f32[8], out=@)", "bf16", reserved, floats},
      {"binary_avx2", "result = eq(x:@[8], y:@[8])", "f32", "i64", "integers"},
      {"cast_avx2", "result = cast(x:@[8], to=f32)", "i8", reserved, "integers"},
      {"linear_avx2", "result = linear(x:f32[4,8], w:f32[16,8]@)", "",
       ", c:f32[4,8], s:f32[4,8], slots=cos+sin, rotated_heads=2", "it does not rotate heads (RoPE)"},
      {"linear_avx2", "result = linear(x:@[4,8], w:@[16,8], out=f16)", "f16", reserved, "operand 0 is f8e4m3fn"},
      {"linear_avx512_bf16", "result = linear(x:@[4,8], w:bf16[16,8])", "bf16", "f16",
       "x is f16, which bf16 would round"},
  }});
}

TEST(CpuRowRefusals, AreOfBytes) {
  const std::string bytes = "result = linear(x:@, ws:f32[16], slots=scale)";
  const std::string plain = "result = linear(x:f32[4,8], w:f32[16,8]@)";
  const std::string deep = "result = linear(x:i8[1,@], w:i8[16,@], ws:f32[16], slots=scale)";
  const std::string floats = "f32[4,8], w:i8[16,8]", both = "i8[4,8], w:i8[16,8]";
  const std::string too_deep = "sums of 131072 products, wanted at most 131071";
  const std::string added = "result = linear(x:i8[4,8], w:i8[16,8], b:@[16], ws:f32[16], slots=bias+scale)";
  expect_refusals(std::array<Refusal, 12>{{
      {"linear_avx512", added, "f32", "i32", "operand 2 is i32"},
      {"linear_avx2", added, "f32", "i32", "operand 2 is i32"},
      {"linear_avx512_vnni", bytes, both, floats, "x or w is not i8"},
      {"linear_amx_int8", bytes, both, floats, "x or w is not i8"},
      {"linear_avx512_vnni", deep, "131071", "131072", too_deep},
      {"linear_amx_int8", deep, "131071", "131072", too_deep},
      {"linear_onednn", bytes, both, floats, "it takes no scales"},
      {"linear_openblas", plain, "", ", ws:f32[16], slots=scale", "it takes no scales"},
      {"linear_openblas", plain, "", ", s:f32[4], slots=x_scale", "it takes no scales"},
      {"linear_openblas", plain, "", ", factor=2", "it takes no scales"},
      {"quantize_avx2", "result = quantize(x:f32[4,8], to=@)", "i8", "f8e4m3fn", "only to i8, by whole rows"},
      {"quantize_avx2", "result = quantize(x:@[4,8], to=i8)", "f32", "f8e4m3fn", "only f32, bf16 and f16"},
  }});
}

TEST(CpuRowRefusals, AreOfGroups) {
  const std::string grouped =
      "result = linear(x:f32[4,128], wpairs:u8[16,64], ws:f32[16], wg:i8[16,@], wo:i8[16,@], "
      "slots=scale+group_scale+group_offset)";
  const std::string plain = "result = linear(x:f32[4,64], w:i8[16,64], ws:f32[16]@)";
  const std::string refused = "it takes no groups of columns with scales of their own";
  expect_refusals(std::array<Refusal, 4>{{
      {"linear_grouped_avx2", grouped, "4", "8", "groups of 16, wanted a multiple of 32"},
      {"linear_grouped_avx2", plain, ", wg:i8[16,2], slots=scale+group_scale", ", slots=scale",
       "w has no groups of columns with scales of their own"},
      {"linear_avx2", plain, ", slots=scale", ", wg:i8[16,2], slots=scale+group_scale", refused},
      {"quantize_avx2", "result = quantize(x:f32[4,64], to=i8@)", "", ", group=32", "only to i8, by whole rows"},
  }});
}

TEST(CpuRowRefusals, AreOfOutliers) {
  const std::string form = "result = linear(x:i8[4,8], w:i8[16,8], ws:f32[16], s:f32[4]@)",
                    plain = ", slots=scale+x_scale";
  const std::string outliers = ", o:f32[4,2], wo:f32[16,2], slots=scale+x_scale+x_outliers+w_outliers";
  const std::string variable = ", o:f32[4,2], vo:f32[16,2], slots=scale+x_scale+x_outliers+w_outliers";
  expect_refusals(std::array<Refusal, 3>{{
      {"linear_onednn", form, plain, outliers, "it takes no outliers beside columns of 8 bits"},
      {"linear_avx2", form, outliers, variable, "w_outliers is not constant, so it cannot be packed ahead"},
      {"linear_amx_int8", form, outliers, variable, "w_outliers is not constant, so it cannot be packed ahead"},
  }});
}

TEST(CpuRowRefusals, AreOfIntegersThatAreNoBias) {
  const std::string form = "result = linear(x:i8[4,8], w:i8[16,8], r:@[4,16], ws:f32[16], slots=residual+scale)";
  expect_refusals(std::array<Refusal, 2>{{
      {"linear_avx512_vnni", form, "f32", "i32", "operand 2 is i32"},
      {"linear_amx_int8", form, "f32", "i32", "operand 2 is i32"},
  }});
}

TEST(CpuRowRefusals, AreOfTails) {
  const std::string conv = "result = conv(x:f32[1,9,6], w:f32[8,3,6]@)", plain = "";
  const std::string refused = "its tail is no clipped line, or comes after an activation";
  expect_refusals(std::array<Refusal, 4>{{
      {"conv_avx2", conv, plain, ", tail=\"r1=exp(r0)\"", refused},
      {"conv_avx2", conv, plain, ", activation=silu, tail=\"r1=max(r0,0)\"", refused},
      {"conv_depthwise_avx2", "result = conv(x:f32[1,9,6], w:f32[6,3,1], groups=6@)", plain, ", tail=\"r1=exp(r0)\"",
       refused},
      {"conv_onednn", conv, plain, ", tail=\"r1=max(r0,0)\"", "it has a tail"},
  }});
}

TEST(CpuRowRefusals, AreOfWindows) {
  const std::string conv = "result = conv(x:@, before=[1,1], after=[1,1])", good = "f32[1,9,8,32], w:f32[32,3,3,32]";
  expect_refusals(std::array<Refusal, 6>{{
      {"conv_winograd_avx2", conv, good, "bf16[1,9,8,32], w:bf16[32,3,3,32]", "only f32"},
      {"conv_winograd_avx2", conv, good, "f32[1,9,8,32], w:f32[32,3,3,16], groups=2", "it has groups"},
      {"conv_winograd_avx2", conv, good, "f32[1,9,8,32], w:f32[32,5,3,32]",
       "only windows of three by three in steps of one"},
      {"conv_winograd_avx2", conv, good, "f32[1,9,8,31], w:f32[32,3,3,31]", "it has few channels"},
      {"conv_winograd_avx2", conv, good, "f32[1,9,7,32], w:f32[32,3,3,32]", "lines have few results"},
      {"conv_winograd_avx2", conv, good, "f32[1,9,8,300], w:f32[300,3,3,300]", "its weights are too large to grow"},
  }});
}

TEST(CpuRowRefusals, AreOfCopies) {
  const std::string pool = "result = pool(x:@[1,9,9,9,8], window=[1000000,1000000,9], before=[1000000,1000000,0])";
  expect_refusals(
      std::array<Refusal, 1>{{{"pool_avx2", pool, "f32", "bf16", "windows see too many lines to copy them"}}});
}

TEST(CpuRowRefusals, AreOfSizes) {
  const std::string wide = "result = attention(q:bf16[1,4,2,@], k:bf16[1,4,2,@], v:bf16[1,4,2,@])";
  const std::string one = "result = pointwise(x:f32[8], program=\"@\")";
  const std::string full = "more operands, steps or values at once than the interpreter has";
  const std::string_view step = "neg(@)", numbers = "select(@,1,2)";
  expect_refusals(std::array<Refusal, 8>{{
      {"attention_avx2", "result = attention(q:f32[1,4,2,8]@)", segments(4), segments(5), "at most 4 segments"},
      {"attention_avx512_bf16", wide, "256", "257", "heads wider than 256"},
      {"attention_amx_bf16", wide, "256", "257", "heads wider than 256"},
      {"pointwise_avx2", "result = pointwise(@)", operands(8), operands(9), full},
      {"pointwise_avx2", one, program(48, step), program(49, step), full},
      {"pointwise_avx2", one, program(30, numbers), program(31, numbers), full},
      {"pointwise_generated_avx2", one, program(128, step), program(129, step), "129 steps, wanted at most 128"},
      {"pointwise_generated_avx2", "result = pointwise(@)", operands(16), operands(17),
       "18 operands and results, wanted at most 17"},
  }});
}

// A program of `sums` sums of a row, each of what is left of it by the one before, so that each takes a sweep.
std::string sweeps(int sums) {
  std::string text;
  for (int i = 0; i < sums; ++i)
    text += fmt::format("r{}=row_sum(r{});r{}=sub(r0,r{});", 2 * i + 1, 2 * i, 2 * i + 2, 2 * i + 1);
  return text + "return r1:f32";
}
// A program of sums that one sweep takes.
std::string sums(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("r{}=row_sum(r0);", i + 1);
  return text + "return r1:f32";
}

TEST(CpuRowRefusals, AreOfRegions) {
  const std::string_view row = "region_avx2";
  const std::string one = "result = region(x:f32[4,8], program=\"@\")";
  const std::string full = "more operands, values or sweeps than the interpreter has";
  const auto steps = [](int count, std::string_view step) {
    return fmt::format("{};r{}=row_sum(r0);return r1:f32", program(count, step), count + 1);
  };
  expect_refusals(std::array<Refusal, 9>{{
      {row, "result = region(x:@[4,8], program=\"r1=row_sum(r0);return r1:f32\")", "bf16", "i64",
       "an operand of integers"},
      {row, "result = region(x:f32[4,8], program=\"r1=row_sum(r0);return r1:@\")", "i64", "i32",
       "a result is neither f32, bf16, f16, bool nor i64"},
      {row, one, "r1=row_sum(r0);return r1:f32", "r1=neg(r0);return r1:f32",
       "no value of rows: generated code is faster"},
      {row, one, "r1=row_sum(r0);r2=exp(r0);return r2:f32,r1:f32", "r1=row_sum(r0);r2=log(r0);return r2:f32,r1:f32",
       "a function that is not computed in vectors"},
      {row, one, "r1=row_sum(r0);r2=log(r1);return r2:f32", "r1=row_sum(r0);r2=tan(r1);r3=tan(r0);return r3:f32,r2:f32",
       "the interpreter has no tan"},
      {row, one, steps(93, "neg(@)"), steps(94, "neg(@)"), full},
      {row, one, steps(47, "add(@,1)"), steps(48, "add(@,1)"), full},
      {row, one, sweeps(7), sweeps(8), full},
      {row, one, sums(8), sums(9), full},
  }});
}

TEST(CpuRowRefusals, AreOfGeneratedRegions) {
  const std::string_view row = "region_generated_avx2";
  const std::string one = "result = region(x:f32[4,40], program=\"@\")";
  const auto steps = [](int count) {
    return fmt::format("{};r{}=row_sum(r0);return r1:f32", program(count, "neg(@)"), count + 1);
  };
  expect_refusals(std::array<Refusal, 6>{{
      {row, "result = region(x:@[4,8], program=\"r1=row_sum(r0);return r1:f32\")", "i32", "i64", "an operand is i64"},
      {row, one, "r1=row_sum(r0);return r0:f32,r1:i64", "r1=row_sum(r0);return r0:i64,r1:i64", "a result is i64"},
      {row, one, "r1=neg(r0);return r1:f32", "r1=neg(r0);return r1:i64", "the result is i64"},
      {row, one, steps(127), steps(128), "129 steps, wanted at most 128"},
      {row, one, sums(8), sums(9), "a sweep that carries 9 values, wanted at most 8"},
      {row, "result = region(x:f32[1,@], program=\"r1=row_sum(r0);return r1:f32\")", "1073741824", "1073741825",
       "rows of 1073741825 elements, wanted at most 1073741824"},
  }});
}

// Asks the row where no file can be opened any more, so no library either; exits with 0 if the row refuses.
[[noreturn]] void ask_without_open_blas() {
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_NOFILE, &none) != 0) std::_Exit(2);
  const Problem problem = problem_of("result = linear(x:f32[4,8], w:f32[16,8])", "");
  const std::string reason = refusal_of("linear_openblas", problem, machine_for("linear_openblas"));
  fmt::print(stderr, "refused: {}\n", reason);
  std::_Exit(reason.empty() ? 1 : 0);
}

// In a process of its own, for the library stays open. rows_test.cpp has the row take such a linear with it.
TEST(CpuRowRefusalsDeathTest, SayThatThereIsNoOpenBlas) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ask_without_open_blas(), ::testing::ExitedWithCode(0),
              "refused: no OpenBLAS: libopenblas.so.0: cannot open shared object file");
}

}  // namespace
}  // namespace rung::test
