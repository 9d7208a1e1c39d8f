// Rows in 8 bits, what makes them, attention among that, and products of them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "problems.hpp"

namespace rung::test {
namespace {

// {0} stands for a format of 8 bits.
constexpr const char* kProblems[] = {
    // products of hundreds of tokens
    "linear(x:{0}[130,336], w:{0}[264,336], wsteps:f32[264], slots=scale, out=bf16)",
    "linear(x:{0}[70,272], w:{0}[72,272], wb:f32[72], wsteps:f32[72], steps:f32[70], slots=bias+scale+x_scale, "
    "activation=silu, out=f32)",
    "linear(slice(x:{0}[2,70,640], axis=2, begin=64, end=592), w:{0}[264,528], r:f32[2,70,264], wsteps:f32[264], "
    "steps:f32[2,70], slots=residual+scale+x_scale, out=f32)",
    "linear(x:{0}[129,784], w:{0}[104,784], wb:bf16[104], r:bf16[129,104], wsteps:f32[104], slots=bias+residual+scale, "
    "out=bf16)",
    "linear(x:{0}[66,16384], w:{0}[32,16384], r:f32[66,32], wsteps:f32[32], slots=residual+scale, out=f32)",
    "linear(x:{0}[150,272], w:{0}[304,272], wb:bf16[304], wsteps:f32[304], steps:f32[150], slots=bias+scale+x_scale, "
    "gated=true, activation=gelu_tanh, out=bf16)",
    "linear(x:{0}[81,144], w:{0}[160,144], wsteps:f32[160], slots=scale, gated=true, activation=silu, factor=32, "
    "out={0})",
    "linear(x:{0}[81,144], w:{0}[512,144], wsteps:f32[512], slots=scale, gated=true, activation=gelu_tanh, factor=8, "
    "out={0})",
    "linear(x:{0}[130,272], w:{0}[304,272], wb:bf16[304], wsteps:f32[304], slots=bias+scale, activation=gelu_tanh, "
    "factor=16, out={0})",
    "linear(x:{0}[72,2064], w:{0}[72,2064], wb:f32[72], wsteps:f32[72], slots=bias+scale, activation=gelu, out={0})",
    "linear(x:{0}[72,2064], w:{0}[72,2064], wb:f32[72], wsteps:f32[72], slots=bias+scale, activation=gelu, out=bf16)",
    "linear(x:{0}[1,140,528], w:{0}[960,528], wb:bf16[960], c:bf16[1,140,64], s:bf16[1,140,64], wsteps:f32[960], "
    "steps:f32[1,140], slots=bias+cos+sin+scale+x_scale, rotated_heads=9, out=bf16)",
    "linear(x:{0}[70,272], w:{0}[768,272], slice(c:f32[70,300], axis=1, begin=0, end=256), s:f32[70,256], "
    "wsteps:f32[768], slots=cos+sin+scale, rotated_heads=2, out=bf16)",
    // of few tokens, and with the norms before and behind them
    "linear(x:{0}[51,1024], w:{0}[72,1024], wb:f32[72], r:bf16[51,72], wsteps:f32[72], steps:f32[51], "
    "slots=bias+residual+scale+x_scale, activation=silu, out=bf16)",
    "linear(x:{0}[64,528], w:{0}[200,528], wsteps:f32[200], steps:f32[64], slots=scale+x_scale, gated=true, "
    "activation=gelu_tanh, out=bf16)",
    "linear(x:{0}[17,48], w:{0}[136,48], wb:bf16[136], wsteps:f32[136], slots=bias+scale, gated=true, "
    "activation=silu, factor=16, out={0})",
    "linear(x:{0}[51,256], w:{0}[1024,256], r:f32[51,1024], ws:f32[1024], wsteps:f32[1024], steps:f32[51], "
    "slots=residual+norm_weight+scale+x_scale, norm_run=32, normed={0})",
    "linear(x:bf16[51,256], w:bf16[128,256], r:f32[51,128], ws:f32[128], slots=residual+norm_weight, norm_run=32, "
    "normed={0})",
    "linear(x:{0}[1,51,1024], w:{0}[256,1024], wb:f32[256], ws:f32[256], wsteps:f32[256], "
    "slots=bias+norm_weight+scale, "
    "norm_run=32, activation=silu)",
    "linear(x:{0}[1,51,1024], w:{0}[768,1024], c:f32[1,51,256], s:f32[1,51,256], positive:f32[1,51,32], "
    "wsteps:f32[768], rotated_heads=2, slots=cos+sin+squares+scale, out=bf16)",
    "linear(x:{0}[64,256], w:{0}[200,256], positive:f32[64,8], wsteps:f32[200], gated=true, activation=gelu_tanh, "
    "slots=squares+scale, factor=4, out={0})",
    // of any rows; weights alone in 8 bits
    "linear(x:{0}[5,7], w:{0}[3,7], wsteps:f32[3], slots=scale, out=f32)",
    "linear(x:{0}[9,33], w:{0}[20,33], out={0})",
    "linear(x:bf16[1,1544], w:{0}[200,1544], wsteps:f32[200], slots=scale, out=bf16)",
    "linear(x:f32[1,512], w:{0}[130,512], r:f32[1,130], wsteps:f32[130], slots=residual+scale, out=f32)",
    "linear(x:bf16[8,40], w:{0}[72,40], wb:bf16[72], r:bf16[8,36], wsteps:f32[72], slots=bias+residual+scale, "
    "gated=true, activation=gelu_tanh, out=bf16)",
    "linear(x:f16[3,71], w:{0}[37,71], wb:f32[37], wsteps:f32[37], slots=bias+scale, activation=silu, out=f16)",
    "linear(x:bf16[51,72], w:{0}[48,72], wsteps:f32[48], slots=scale, out=bf16)",
};

// {0} stands for a format of 8 bits, {1} for the type of other floats.
constexpr const char* kMakers[] = {
    "cast(x:{1}[7,33], to={0})",
    "cast(far:{1}[70,8], to={0})",
    "cast(holes:{1}[70], to={0})",
    "cast(x:{0}[3,70], to={1})",
    "quantize(x:{1}[5,37], to={0})",
    "quantize(still:{1}[4,37], to={0})",
    "quantize(holes:{1}[6,37], to={0})",
    "quantize(far:{1}[16,1536], to={0})",
    "quantize(faint:f32[9,264], to={0})",
    "quantize(x:{1}[1,51,2048], to={0})",
    "quantize(x:{1}[3,20480], to={0})",
    "quantize(slice(x:{1}[2,9,96], axis=2, begin=32, end=65), to={0})",
    "rms_norm(x:{1}[51,256], w:f32[256], out={0})",
    "rms_norm(x:{1}[1,19,2048], w:{1}[2048], weight_offset=1, out={0})",
    "layer_norm(x:{1}[7,1152], w:{1}[1152], wb:{1}[1152], eps=1e-06, out={0})",
    "layer_norm(x:{1}[5,64], w:f32[64], wb:f32[64], out={0})",
};

// Attention whose result has 8 bits, or is scaled: {0} stands for ", out=" and the format, or nothing, and {1} for the
// type of q. Numbers have sizes of about 20, unless they are to be beyond the format's largest.
constexpr const char* kAttentions[] = {
    "attention(q:{1}[2,5,4,8], mask:f32[2,1,5,9], k:{1}[2,9,2,8], v:{1}[2,9,2,8], slots=mask, scale=0.35, "
    "factor=40{0})",
    "attention(q:{1}[1,10,2,33], k:{1}[1,12,2,33], v:{1}[1,12,2,33], k2:{1}[1,1,2,33], v2:{1}[1,1,2,33], scale=0.17, "
    "segments=2, factor=-50{0})",
    "attention(q:{1}[1,5,4,64], length70:i64[1], k:{1}[1,128,2,64], v:{1}[1,128,2,64], slots=length, scale=0.125, "
    "after=0, factor=120{0})",
    "attention(q:{1}[1,33,2,256], k:{1}[1,50,2,256], v:{1}[1,50,2,256], scale=0.0625, factor=90{0})",
    "attention(q:{1}[1,9,2,8], k:{1}[1,4,2,8], v:{1}[1,4,2,8], scale=0.35, factor=600{0})",
    "attention(q:{1}[1,9,2,72], k:{1}[1,2,2,72], holes:{1}[1,2,2,72], scale=0.1178511, factor=30{0})",
};

// For Hopper's kernels, which take 16 bits: by warpgroups, and over keys that clusters split; with queries that see no
// key, and numbers beyond the largest.
constexpr const char* kWideAttentions[] = {
    "attention(q:{1}[2,70,4,72], mask:f32[2,1,1,150], k:{1}[2,150,4,72], v:{1}[2,150,4,72], slots=mask, "
    "scale=0.1178511, factor=150{0})",
    "attention(q:{1}[1,130,3,120], k:{1}[1,130,3,120], v:{1}[1,130,3,120], scale=0.0913, factor=140{0})",
    "attention(q:{1}[2,20,4,72], blind200:f32[20,200], k:{1}[2,200,2,72], v:{1}[2,200,2,72], slots=mask, "
    "scale=0.1178511, factor=150{0})",
    "attention(q:{1}[1,40,8,256], mask:f32[1,1,40,260], k:{1}[1,260,1,256], v:{1}[1,260,1,256], slots=mask, "
    "scale=0.0625, factor=180{0})",
    "attention(q:{1}[1,9,8,256], gaps:f32[1,1,9,190], k:{1}[1,181,1,256], v:{1}[1,181,1,256], k2:{1}[1,9,1,256], "
    "v2:{1}[1,9,1,256], slots=mask, scale=0.0625, segments=2, factor=150{0})",
    "attention(q:{1}[1,9,8,256], mask:f32[1,1,9,825], k:{1}[1,816,1,256], v:{1}[1,816,1,256], k2:{1}[1,9,1,256], "
    "v2:{1}[1,9,1,256], slots=mask, scale=0.0625, segments=2, factor=300{0})",
    "attention(q:{1}[2,13,16,256], blind100:f32[2,1,13,100], k:{1}[2,87,1,256], v:{1}[2,87,1,256], "
    "k2:{1}[2,13,1,256], v2:{1}[2,13,1,256], slots=mask, scale=0.0625, segments=2, factor=120{0})",
    "attention(q:{1}[1,9,8,256], k:{1}[1,70,1,256], v:{1}[1,70,1,256], scale=0.0625, factor=3000{0})",
    "attention(q:{1}[1,70,4,72], k:{1}[1,70,4,72], v:{1}[1,70,4,72], scale=0.1178511, factor=-3000{0})",
};

// Rows and weights of integers, by the same kernels.
constexpr const char* kOfIntegers[] = {
    "quantize(x:bf16[9,264], to=i8)",
    "quantize(holes:f32[6,37], to=i8)",
    "quantize(faint:f32[9,264], to=i8)",
    "linear(x:bf16[1,1544], w:i8[200,1544], wsteps:f32[200], slots=scale, out=bf16)",
    "linear(x:f32[4,204], w:i8[130,204], r:f32[4,130], wsteps:f32[130], slots=residual+scale, out=f32)",
    "linear(x:f16[3,71], w:i8[37,71], wb:f32[37], wsteps:f32[37], slots=bias+scale, activation=silu, out=f16)",
    "linear(x:i8[19,72], w:i8[48,72], wb:f32[48], wsteps:f32[48], steps:f32[19], slots=bias+scale+x_scale, out=bf16)",
    // products of hundreds of tokens
    "linear(bytes:i8[130,336], wbytes:i8[264,336], wsteps:f32[264], slots=scale, out=bf16)",
    "linear(bytes:i8[70,272], wbytes:i8[72,272], wb:f32[72], wsteps:f32[72], steps:f32[70], slots=bias+scale+x_scale, "
    "activation=silu, out=f32)",
    "linear(slice(bytes:i8[2,70,640], axis=2, begin=64, end=592), wbytes:i8[264,528], r:f32[2,70,264], "
    "wsteps:f32[264], steps:f32[2,70], slots=residual+scale+x_scale, out=f32)",
    "linear(bytes:i8[129,784], wbytes:i8[104,784], wb:bf16[104], r:bf16[129,104], wsteps:f32[104], "
    "slots=bias+residual+scale, out=bf16)",
    "linear(bytes:i8[66,16384], wbytes:i8[32,16384], r:f32[66,32], wsteps:f32[32], slots=residual+scale, out=f32)",
    "linear(bytes:i8[150,272], wbytes:i8[304,272], wb:bf16[304], wsteps:f32[304], steps:f32[150], "
    "slots=bias+scale+x_scale, gated=true, activation=gelu_tanh, out=bf16)",
    "linear(bytes:i8[81,144], wbytes:i8[160,144], wsteps:f32[160], slots=scale, gated=true, activation=silu, "
    "factor=0.001953125, out=f8e4m3fn)",
    "linear(bytes:i8[72,5136], wbytes:i8[72,5136], wb:f32[72], wsteps:f32[72], slots=bias+scale, activation=gelu, "
    "factor=0.125, out=f8e4m3fn)",
    "linear(bytes:i8[72,5136], wbytes:i8[520,5136], wb:f32[520], wsteps:f32[520], slots=bias+scale, activation=gelu, "
    "out=bf16)",
    "linear(bytes:i8[141,144], wbytes:i8[304,144], wb:f32[304], wsteps:f32[304], slots=bias+scale, gated=true, "
    "activation=gelu_tanh, factor=0.00390625, out=i8)",
    "linear(bytes:i8[150,272], wbytes:i8[160,272], wsteps:f32[160], steps:f32[150], slots=scale+x_scale, gated=true, "
    "activation=silu, factor=0.001953125, out=i8)",
    "linear(bytes:i8[72,528], wbytes:i8[136,528], wsteps:f32[136], slots=scale, factor=0.0625, out=i8)",
    "linear(bytes:i8[129,784], wbytes:i8[104,784], wb:bf16[104], wsteps:f32[104], steps:f32[129], "
    "slots=bias+scale+x_scale, activation=gelu_tanh, factor=0.25, out=i8)",
    "linear(bytes:i8[72,5136], wbytes:i8[520,5136], wb:f32[520], wsteps:f32[520], slots=bias+scale, activation=gelu, "
    "factor=0.0625, out=i8)",
    "linear(bytes:i8[1,140,528], wbytes:i8[960,528], wb:bf16[960], c:bf16[1,140,64], s:bf16[1,140,64], "
    "wsteps:f32[960], steps:f32[1,140], slots=bias+cos+sin+scale+x_scale, rotated_heads=9, out=bf16)",
    "linear(bytes:i8[70,272], wbytes:i8[768,272], c:f32[70,256], s:f32[70,256], wsteps:f32[768], "
    "slots=cos+sin+scale, rotated_heads=2, out=bf16)",
    // of few tokens, and with the norms before and behind them
    "linear(bytes:i8[51,1024], wbytes:i8[72,1024], wb:f32[72], r:bf16[51,72], wsteps:f32[72], steps:f32[51], "
    "slots=bias+residual+scale+x_scale, activation=silu, out=bf16)",
    "linear(bytes:i8[17,48], wbytes:i8[136,48], wb:bf16[136], wsteps:f32[136], slots=bias+scale, gated=true, "
    "activation=silu, factor=0.00390625, out=i8)",
    "linear(bytes:i8[51,256], wbytes:i8[1024,256], r:f32[51,1024], ws:f32[1024], wsteps:f32[1024], "
    "slots=residual+norm_weight+scale, norm_run=32, normed=i8)",
    "linear(far:bf16[51,256], w:bf16[128,256], r:f32[51,128], ws:f32[128], slots=residual+norm_weight, norm_run=32, "
    "normed=i8)",
    "linear(bytes:i8[1,51,1024], wbytes:i8[768,1024], c:f32[1,51,256], s:f32[1,51,256], positive:f32[1,51,32], "
    "wsteps:f32[768], rotated_heads=2, slots=cos+sin+squares+scale, out=bf16)",
    "linear(bytes:i8[64,256], wbytes:i8[200,256], positive:f32[64,8], wsteps:f32[200], gated=true, "
    "activation=gelu_tanh, slots=squares+scale, factor=0.001953125, out=f8e4m3fn)",
    // what makes them
    "rms_norm(far:bf16[51,256], w:bf16[256], weight_offset=30, out=i8)",
    "rms_norm(x:f32[1,19,2048], w:f32[2048], weight_offset=30, out=i8)",
    "rms_norm(holes:f32[6,64], w:f32[64], weight_offset=30, out=i8)",
    "layer_norm(x:f16[7,1152], wbytes:f16[1152], wb:f16[1152], eps=1e-06, out=i8)",
    "layer_norm(x:bf16[5,64], wbytes:f32[64], wb:f32[64], out=i8)",
};

}  // namespace

std::vector<std::string> f8_problems() {
  std::vector<std::string> all;
  for (const char* problem : kOfIntegers) all.push_back(fmt::format("result = {}", problem));
  for (const char* format : {"f8e4m3fn", "f8e4m3fnuz"}) {
    for (const char* problem : kProblems) all.push_back("result = " + fmt::format(fmt::runtime(problem), format));
    for (const char* type : {"f32", "bf16", "f16"})
      for (const char* problem : kMakers) all.push_back("result = " + fmt::format(fmt::runtime(problem), format, type));
  }
  for (const char* out : {"", ", out=i8", ", out=f8e4m3fn", ", out=f8e4m3fnuz"})
    for (const char* type : {"f32", "bf16", "f16"}) {
      const auto add = [&](const char* form) {
        all.push_back("result = " + fmt::format(fmt::runtime(form), out, type));
      };
      for (const char* form : kAttentions) add(form);
      for (const char* form : kWideAttentions)
        if (type != std::string_view("f32")) add(form);
    }
  return all;
}

}  // namespace rung::test
