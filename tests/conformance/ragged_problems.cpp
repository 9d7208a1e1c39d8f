// Products whose rows have lengths that are no multiple of what machines load at once.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "problems.hpp"

namespace rung::test {
namespace {

// {0} stands for the type. Of a row of w a machine can load 16, 8, 4 or 2 bytes at once.
constexpr const char* kProblems[] = {
    "linear(x:{0}[1,2048], w:{0}[2,2048], wb:{0}[2], slots=bias, out={0})",
    "linear(x:{0}[1,388], w:{0}[600,388], wb:{0}[600], slots=bias, activation=silu, out={0})",
    "linear(slice(x:{0}[3,70], axis=1, begin=1, end=67), w:{0}[37,66], r:f32[3,37], slots=residual, out=f32)",
    "linear(x:{0}[8,129], w:{0}[42,129], wb:f32[42], slots=bias, gated=true, activation=gelu, out={0})",
    "linear(x:f16[2,9], w:{0}[5,9], out=f32)",
    "linear(x:{0}[7,26], w:{0}[20,26], c:{0}[7,10], s:{0}[7,10], slots=cos+sin, rotated_heads=1, out={0})",
    "linear(x:{0}[1,24], w:{0}[9000,24], out={0})",
    "matmul(x:{0}[3,5,140], transpose(y:{0}[3,70,140], permutation=[0,2,1]))",
    "matmul(x:{0}[2,1,3,64], transpose(y:{0}[1,2,11,64], permutation=[0,1,3,2]))",
    "matmul(x:{0}[3,66], transpose(slice(y:{0}[11,72], axis=1, begin=0, end=66), permutation=[1,0]))",
    "matmul(x:{0}[3,64], transpose(slice(y:{0}[11,72], axis=1, begin=2, end=66), permutation=[1,0]))",
    "linear(x:{0}[130,588], w:{0}[72,588], wb:{0}[72], slots=bias, out={0})",
    "linear(x:{0}[70,147], w:{0}[41,147], wb:{0}[41], r:{0}[70,41], slots=bias+residual, out={0})",
};

}  // namespace

std::vector<std::string> ragged_problems() {
  std::vector<std::string> all;
  for (const char* type : {"f32", "bf16", "f16"})
    for (const char* problem : kProblems) all.push_back("result = " + fmt::format(fmt::runtime(problem), type));
  return all;
}

}  // namespace rung::test
