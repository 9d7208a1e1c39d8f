// Rows in i8 with a scale each, and products of them and with weights of them, in groups of columns and in 4 bits too.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "problems.hpp"

namespace rung::test {
namespace {

// {0} stands for the type of floats.
constexpr const char* kProblems[] = {
    "quantize(x:{0}[5,37], to=i8)",
    "quantize(still:{0}[4,37], to=i8)",
    "quantize(holes:{0}[6,37], to=i8)",
    "quantize(holes:{0}[6,64], to=i8)",
    "quantize(far:{0}[16,1536], to=i8)",
    "quantize(x:{0}[70], to=i8)",
    "quantize(slice(x:{0}[2,9,96], axis=2, begin=32, end=65), to=i8)",
    "linear(bytes:i8[5,7], wbytes:i8[3,7], wsteps:f32[3], slots=scale, out={0})",
    "linear(bytes:i8[1,64], wbytes:i8[96,64], wb:{0}[96], wsteps:f32[96], steps:f32[1], slots=bias+scale+x_scale, "
    "out={0})",
    "linear(bytes:i8[1,19,384], wbytes:i8[100,384], wb:f32[100], r:{0}[1,19,100], wsteps:f32[100], steps:f32[1,19], "
    "slots=bias+residual+scale+x_scale, out={0})",
    "linear(bytes:i8[37,130], wbytes:i8[72,130], wb:f32[72], wsteps:f32[72], steps:f32[37], "
    "slots=bias+scale+x_scale, activation=gelu, out={0})",
    "linear(bytes:i8[33,72], wbytes:i8[130,72], wb:{0}[130], r:{0}[33,65], wsteps:f32[130], steps:f32[33], "
    "slots=bias+residual+scale+x_scale, gated=true, activation=silu, out={0})",
    "linear(bytes:i8[3,2001], wbytes:i8[70,2001], r:f32[3,70], wsteps:f32[70], steps:f32[3], "
    "slots=residual+scale+x_scale, factor=0.25, out=f32)",
    "linear(slice(bytes:i8[9,96], axis=1, begin=32, end=65), wbytes:i8[48,33], wsteps:f32[48], steps:f32[9], "
    "slots=scale+x_scale, out={0})",
    "linear(slice(bytes:i8[9,4096], axis=1, begin=0, end=64), wbytes:i8[256,64], wsteps:f32[256], steps:f32[9], "
    "slots=scale+x_scale, out={0})",
    // beside columns that keep their type: at both ends, side by side, all of them, one of NaN
    "quantize(far:{0}[7,37], to=i8, outliers=[0,17,36])",
    "quantize(far:{0}[16,1536], to=i8, outliers=[3,4,5,511,1024,1025,1534,1535])",
    "quantize(holes:{0}[5,7], to=i8, outliers=[3])",
    "quantize(holes:{0}[6,37], to=i8, outliers=[0])",
    "quantize(x:{0}[3,5], to=i8, outliers=[0,1,2,3,4])",
    "quantize(slice(x:{0}[2,9,96], axis=2, begin=32, end=65), to=i8, outliers=[15,16,32])",
    "linear(bytes:i8[1,384], wbytes:i8[96,384], wb:{0}[96], wsteps:f32[96], steps:f32[1], o:f32[1,1], w:{0}[96,1], "
    "slots=bias+scale+x_scale+x_outliers+w_outliers, out={0})",
    "linear(bytes:i8[1,7,130], wbytes:i8[100,130], wb:f32[100], r:{0}[1,7,100], wsteps:f32[100], steps:f32[1,7], "
    "o:f32[1,7,3], w:{0}[100,3], slots=bias+residual+scale+x_scale+x_outliers+w_outliers, out={0})",
    "linear(bytes:i8[128,64], wbytes:i8[72,64], wb:f32[72], wsteps:f32[72], steps:f32[128], o:f32[128,8], w:{0}[72,8], "
    "slots=bias+scale+x_scale+x_outliers+w_outliers, activation=gelu, out={0})",
    "linear(bytes:i8[33,72], wbytes:i8[130,72], wb:{0}[130], r:{0}[33,65], wsteps:f32[130], steps:f32[33], "
    "o:f32[33,17], w:{0}[130,17], slots=bias+residual+scale+x_scale+x_outliers+w_outliers, gated=true, "
    "activation=silu, factor=0.5, out={0})",
    "linear(bytes:i8[6,2001], wbytes:i8[37,2001], wsteps:f32[37], steps:f32[6], holes:f32[6,2], w:{0}[37,2], "
    "slots=scale+x_scale+x_outliers+w_outliers, out={0})",
    // with a bias of integers
    "linear(bytes:i8[5,7], wbytes:i8[3,7], offsets:i32[3], wsteps:f32[3], slots=bias+scale, out={0})",
    "linear(bytes:i8[19,384], wbytes:i8[100,384], offsets:i32[100], wsteps:f32[100], steps:f32[19], "
    "slots=bias+scale+x_scale, activation=gelu, out={0})",
    "linear(bytes:i8[33,1500], wbytes:i8[130,1500], offsets:i32[130], r:{0}[33,65], wsteps:f32[130], "
    "slots=bias+residual+scale, gated=true, activation=silu, factor=0.001, out={0})",
    // weights alone in i8
    "linear(x:{0}[1,1544], wbytes:i8[200,1544], wsteps:f32[200], slots=scale, out={0})",
    "linear(x:{0}[8,40], wbytes:i8[72,40], wb:{0}[72], r:{0}[8,36], wsteps:f32[72], slots=bias+residual+scale, "
    "gated=true, activation=gelu_tanh, out={0})",
    "linear(x:{0}[51,71], wbytes:i8[37,71], wb:f32[37], wsteps:f32[37], slots=bias+scale, activation=silu, out={0})",
    // in groups of columns
    "linear(x:{0}[1,1536], wbytes:i8[200,1536], wsteps:f32[200], wbytes2:i8[200,48], slots=scale+group_scale, "
    "out={0})",
    "linear(x:{0}[1,2048], wpairs:u8[200,1024], wsteps:f32[200], wbytes2:i8[200,64], wbytes3:i8[200,64], "
    "slots=scale+group_scale+group_offset, out={0})",
    "linear(x:{0}[7,96], wpairs:u8[72,48], wb:{0}[72], r:{0}[7,36], wsteps:f32[72], wbytes2:i8[72,3], "
    "wbytes3:i8[72,3], slots=bias+residual+scale+group_scale+group_offset, gated=true, activation=silu, out={0})",
    "linear(slice(x:{0}[70,288], axis=1, begin=16, end=272), wpairs:u8[37,128], wb:f32[37], wsteps:f32[37], "
    "wbytes2:i8[37,2], wbytes3:i8[37,2], slots=bias+scale+group_scale+group_offset, factor=0.5, out={0})",
    "linear(x:{0}[1,3,128], wbytes:i8[37,128], r:f32[1,3,37], wsteps:f32[37], wbytes2:i8[37,2], "
    "slots=residual+scale+group_scale, activation=gelu, out={0})",
    "linear(holes:{0}[2,64], wpairs:u8[40,32], wsteps:f32[40], wbytes2:i8[40,2], wbytes3:i8[40,2], "
    "slots=scale+group_scale+group_offset, out={0})",
    "linear(x:{0}[2,24], wpairs:u8[5,12], wsteps:f32[5], wbytes2:i8[5,3], wbytes3:i8[5,3], "
    "slots=scale+group_scale+group_offset, out={0})",
    // with scales of floats
    "linear(x:{0}[1,2048], wpairs:u8[200,1024], wsteps:f32[200,64], wbytes3:i8[200,64], "
    "slots=group_scale+group_offset, out={0})",
    "linear(x:{0}[7,256], wpairs:u8[72,128], wb:{0}[72], r:{0}[7,36], wsteps:f32[72,2], wbytes3:i8[72,2], "
    "slots=bias+residual+group_scale+group_offset, gated=true, activation=silu, out={0})",
    "linear(holes:{0}[2,64], wpairs:u8[40,32], wsteps:f32[40,2], wbytes3:i8[40,2], "
    "slots=group_scale+group_offset, out={0})",
    "linear(x:{0}[2,24], wpairs:u8[5,12], wsteps:f32[5,3], wbytes3:i8[5,3], "
    "slots=group_scale+group_offset, out={0})",
    // runs of few bytes side by side
    "concat(bytes:i8[3,7,1], bytes2:i8[3,7,2], bytes3:i8[3,7,3], bytes4:i8[3,7,5], bytes5:i8[3,7,9], "
    "bytes6:i8[3,7,16], bytes7:i8[3,7,17], axis=2)",
    "concat(slice(bytes:i8[2,9,5,3], axis=2, begin=0, end=3), slice(bytes2:i8[2,9,5,3], axis=2, begin=2, end=5), "
    "axis=3)",
    "quantize(x:{0}[5,64], to=i8, group=32)",
    "quantize(still:{0}[4,64], to=u8, group=16)",
};

}  // namespace

std::vector<std::string> byte_problems() {
  std::vector<std::string> all;
  for (const char* type : {"f32", "bf16", "f16"})
    for (const char* problem : kProblems) all.push_back("result = " + fmt::format(fmt::runtime(problem), type));
  return all;
}

}  // namespace rung::test
