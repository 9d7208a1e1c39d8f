// The one name of a problem: tuning key, log line, test name and bench argument.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kernels/problem.hpp"

namespace rung {

// "linear m=128 n=1536 k=384 x=f32 w=f32 out=f32 bias act=gelu threads=2"; for other ops their operand types and
// fields: "attention f32[1,128,12,32] ... scale=0.17 threads=2". Operands read through strides carry them:
// f32[128,384]{1152,1}. Two problems of one name differ in no more than rows do not read to choose: the leading axes
// that rows of a linear are spread over, and its eps.
std::string problem_key(const Problem& problem);
// The same for the rows of GEMM libraries alone, among which another may win: a climb does not look it up.
std::string library_key(const Problem& problem);

}  // namespace rung
