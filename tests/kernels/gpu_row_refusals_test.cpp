// Refusals of a GPU's rows, those of attention apart, that no problem of the conformance suite meets. Nothing runs.
// SPDX-License-Identifier: Apache-2.0
#include "row_refusals.hpp"

namespace rung::test {
namespace {

TEST(DeviceRowRefusals, AreOfElementsAndNorms) {
  expect_refusals(std::array<Refusal, 3>{{
      {"cast_gpu", "result = cast(x:f32[8], to=@)", "i8", "f8e4m3fn", "result is f8e4m3fn"},
      {"pointwise_gpu", "result = pointwise(@)", operands(8), operands(9),
       "9 operands and 1 steps; the interpreter has 8 and 48"},
      {"layer_norm_rows", "result = layer_norm(x:bf16[4,384]@, out=bf16)", ", w:bf16[384], wb:bf16[384]",
       ", r:bf16[4,384], w:bf16[384], wb:bf16[384], slots=residual", "a residual"},
  }});
}

TEST(DeviceRowRefusals, AreOfLinearsByFusedMultiplyAdds) {
  for (std::string_view row : {"linear_fma", "linear_fma_sm90"})
    expect_refusals(std::array<Refusal, 3>{{
        {row, "result = linear(x:f32[4,64], @:f32[32,64])", "w", "y",
         "w is not constant, so it cannot be fetched ahead"},
        {row, "result = linear(x:f32[@,64], w:f32[32,64])", "64", "65", "65 rows, wanted 1 to 64"},
        {row, "result = linear(x:f32[4,64], w:f32[32,64]@)", "",
         ", c:f32[4,8], s:f32[4,8], slots=cos+sin, rotated_heads=2", "it does not rotate heads (RoPE)"},
    }});
}

TEST(DeviceRowRefusals, AreOfCounts) {
  expect_refusals(std::array<Refusal, 5>{{
      {"recurrence_gpu", "result = recurrence(x:f32[@,1,8], w:f32[8,8], h:f32[1,8], cell=rnn)", "16384", "16385",
       "more than 16384 steps"},
      {"recurrence_gpu", "result = recurrence(x:f32[1,@,8], w:f32[8,8], h:f32[@,8], cell=rnn)", "268435455",
       "268435456", "2^31 elements or more"},
      {"linear_tiled", "result = linear(x:f32[@,8], w:f32[8,8])", "4194240", "4194241", "more than 4194240 rows"},
      {"matmul_tiled", "result = matmul(x:f32[@,8], y:f32[8,8])", "4194240", "4194241", "more than 4194240 rows"},
      {"matmul_cdna", "result = matmul(x:f32[1,@], y:f32[@,8])", "2147483647", "2147483648",
       "k is 2147483648, wanted at most 2147483647"},
  }});
}

TEST(DeviceRowRefusals, AreOfWideLinears) {
  const std::string_view row = "linear_wide_sm90";
  expect_refusals(std::array<Refusal, 5>{{
      {row, "result = linear(x:bf16[128,64], w:bf16[256,64], gated=true, activation=@, out=bf16)", "silu", "relu",
       "gated by relu, wanted gelu_tanh or silu"},
      {row, "result = linear(x:bf16[128,64], w:bf16[256,64]@, gated=true, activation=silu, out=bf16)", "",
       ", r:bf16[128,128], slots=residual", "gated, with a residual"},
      {row,
       "result = linear(x:bf16[128,64], w:bf16[256,64], c:f32[128,128], s:f32[128,128], slots=cos+sin, "
       "rotated_heads=1, out=@)",
       "bf16", "f32", "rotated heads, with a result in f32"},
      {row,
       "result = linear(x:bf16[128,64], w:bf16[256,64], c:f32[128,128], s:@[128,128], slots=cos+sin, "
       "rotated_heads=1, out=bf16)",
       "f32", "bf16", "angles are neither all f32 nor all of x's type"},
      {row,
       "result = linear(x:bf16[128,64], w:bf16[256,64], c:@[128,128], s:@[128,128], slots=cos+sin, "
       "rotated_heads=1, out=bf16)",
       "bf16", "f16", "angles are neither all f32 nor all of x's type"},
  }});
}

TEST(DeviceRowRefusals, AreOfLinearsByALibrary) {
  const std::string_view row = "linear_cublaslt";
  expect_refusals(std::array<Refusal, 8>{{
      {row, "result = linear(x:@[4,64], w:@[32,64])", "f16", "f8e4m3fn",
       "this cuBLASLt has no scales of rows for 8-bit products"},
      {row, "result = linear(x:bf16[4,64], w:@[32,64])", "bf16", "f32", "x and w differ in type"},
      {row, "result = linear(x:bf16[4,64], w:bf16[32,64], gated=true, activation=silu, out=@)", "bf16", "f32",
       "gated, and the result's type is not x's"},
      {row, "result = linear(x:bf16[4,64], w:bf16[32,64], activation=@, out=bf16)", "relu", "silu",
       "the library has no silu epilogue"},
      {row, "result = linear(x:bf16[4,64], w:bf16[32,64], activation=gelu_tanh, out=@)", "bf16", "f32",
       "the library's GELU is coarser than f32"},
      {row, "result = linear(x:bf16[4,64], w:bf16[32,64], @:f32[32], slots=bias, out=bf16)", "wb", "b",
       "the bias is no constant, and is not bf16"},
      {row, "result = linear(x:bf16[4,64], w:bf16[32,64], r:@[4,32], slots=residual, out=bf16)", "bf16", "f32",
       "the residual's type is not the result's"},
      {row, "result = linear(x:bf16[4,64], w:bf16[32,64], r:bf16[4,32], slots=residual, activation=@, out=bf16)",
       "none", "relu", "the library adds a residual before the activation"},
  }});
}

TEST(DeviceRowRefusals, AreOfMatmulsByALibrary) {
  const std::string_view row = "matmul_cublaslt";
  expect_refusals(std::array<Refusal, 3>{{
      {row, "result = matmul(x:@[16,64], y:@[64,32])", "f16", "f8e4m3fn", "only f32, bf16 and f16"},
      {row, "result = matmul(@, y:bf16[64,32])", "x:bf16[16,64]", "transpose(x:bf16[64,16], permutation=[1,0])",
       "a is not rows of one stride, matrices at one distance"},
      {row, "result = matmul(x:bf16[16,64], @)", "y:bf16[64,32]", "slice(y:bf16[64,64], axis=1, end=64, step=2)",
       "b is not rows or columns of one stride, matrices at one distance"},
  }});
}

TEST(DeviceRowRefusals, AreOfRowsOfAnyLength) {
  expect_refusals(std::array<Refusal, 8>{{
      {"linear_gemv", "result = linear(x:bf16[@,5], w:bf16[3,5])", "8", "9", "9 rows, wanted 1 to 8"},
      {"linear_gemv", "result = linear(x:f32[8,@], w:f32[3,@])", "7232", "7233",
       "a block takes 232480 bytes of shared memory, and may have 232448"},
      {"linear_gemv", "result = linear(x:f32[1,@], w:f32[3,@])", "58080", "400000",
       "400000 columns of x do not fit shared memory"},
      {"matmul_gemv", "result = matmul(x:bf16[2,40], @)", "transpose(y:bf16[3,40], permutation=[1,0])", "y:bf16[40,3]",
       "the terms of a column's sum are not neighbours in w"},
      {"linear_mma", "result = linear(x:@, w:bf16[3,40])", "bf16[9,40]", "f16[9,40]",
       "x and w are not both bf16 or both f16"},
      {"linear_mma", "result = linear(x:bf16[9,40], w:bf16[4,40], gated=@, out=bf16)", "false", "true", "gated"},
      {"linear_mma", "result = linear(@, w:bf16[3,40])", "x:bf16[9,40]", "transpose(x:bf16[40,9], permutation=[1,0])",
       "x is not made of dense rows"},
      {"matmul_mma", "result = matmul(x:bf16[9,40], @)", "transpose(y:bf16[3,40], permutation=[1,0])", "y:bf16[40,3]",
       "the terms of a sum are not neighbours in x and in w"},
  }});
}

TEST(DeviceRowRefusals, AreOfStreamedLinears) {
  const std::string_view row = "linear_stream_sm90";
  expect_refusals(std::array<Refusal, 16>{{
      {row, "result = linear(x:bf16[@,64], w:bf16[32,64])", "4", "5", "5 rows, wanted 1 to 4"},
      {row, "result = linear(x:@[1,64], w:bf16[32,64])", "bf16", "f32", "x is f32, wanted bf16 or f16"},
      {row, "result = linear(x:bf16[1,64], w:@[32,64])", "bf16", "f16", "w is f16, wanted bf16, f8e4m3fn, i8 or u8"},
      {row, "result = linear(x:bf16[1,64], w:@[32,64])", "bf16", "f8e4m3fn", "w of 8 bits without a scale"},
      {row, "result = linear(x:bf16[1,64], @:bf16[32,64])", "w", "v",
       "w is not constant, so it cannot be fetched ahead"},
      {row, "result = linear(x:bf16[1,@], w:bf16[32,@])", "128", "72",
       "rows of w have 144 bytes, wanted a multiple of 128"},
      {row, "result = linear(x:bf16[1,64], w:bf16[@,64])", "36", "34", "n is not a multiple of 4"},
      {row, "result = linear(x:bf16[1,64], w:bf16[@,64])", "67108864", "67108868",
       "n is 67108868, wanted at most 67108864"},
      {row, "result = linear(slice(x:bf16[2,@], axis=1, end=64), w:bf16[32,64])", "72", "68",
       "rows of x are not a multiple of 16 bytes apart"},
      {row, "result = linear(x:bf16[4,@], w:bf16[32,@])", "7168", "8192",
       "4 rows of 8192 columns of x leave no room for weights"},
      {row, "result = linear(x:bf16[1,64], w:bf16[64,64], ws:f32[64], slots=norm_weight, norm_run=@)", "8", "32",
       "squares of 32 columns together, wanted 8"},
      {row, "result = linear(x:bf16[1,64], w:bf16[32,64], out=@)", "f16", "f8e4m3fn", "result is f8e4m3fn"},
      {row, "result = linear(x:bf16[2,64], w:bf16[32,64], slice(r:bf16[2,@], axis=1, end=32), slots=residual)", "36",
       "34", "rows of residual are not a multiple of 4 elements apart"},
      {row, "result = linear(x:bf16[1,64], w:bf16[96,64], c:f32[1,@], s:f32[1,@], rotated_heads=1, slots=cos+sin)",
       "24", "12", "heads of 12 columns in 96, wanted a multiple of 8 that divides them"},
      {row, "result = linear(x:bf16[1,256], w:i8[32,256], ws:f32[32], wg:i8[32,@], slots=scale+group_scale, out=bf16)",
       "8", "16", "groups of 16, wanted a multiple of 32"},
      {row,
       "result = linear(x:bf16[1,256], w:u8[32,128], ws:f32[32], wg:i8[32,8], @o:i8[32,8], "
       "slots=scale+group_scale+group_offset, out=bf16)",
       "w", "v", "group_offset is not constant, so it cannot be ordered ahead"},
  }});
}

// On a machine whose blocks have room for no tile.
TEST(DeviceRowRefusals, AreOfSharedMemory) {
  for (std::string_view row : {"linear_skinny_sm90", "linear_skinny_cdna", "linear_wide_cdna"}) {
    const Problem problem =
        problem_of("result = linear(x:bf16[@,64], w:bf16[256,64], out=bf16)", row == "linear_wide_cdna" ? "128" : "64");
    Machine machine = machine_for(row);
    EXPECT_EQ(refusal_of(row, problem, machine), "") << row;
    machine.gpu.shared_bytes_per_block = 4096;
    EXPECT_EQ(refusal_of(row, problem, machine), "no tile fits 4096 bytes of shared memory") << row;
  }
}

}  // namespace
}  // namespace rung::test
