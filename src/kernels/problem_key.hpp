// The name of a problem, which is its tuning key, log line, test name and bench argument.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kernels/problem.hpp"

namespace rung {

// "linear m=128 n=1536 k=384 x=f32 w=f32 out=f32 bias act=gelu threads=2"; for other ops their operand types and
// fields: "attention f32[1,128,12,32] ... scale=0.17 threads=2". Operands read through strides carry them:
// f32[128,384]{1152,1}. Two problems of one name differ only in facts that choose no row: the leading axes over which
// rows of a linear are spread, its eps, and the numbers of factors: factor=any.
std::string problem_key(const Problem& problem);
// Returns a key that an earlier build wrote, with numbers, as problem_key() writes it.
std::string without_factors(std::string key);
// Returns the key for the rows of GEMM libraries alone, where another row may win; a climb does not look it up.
std::string library_key(const Problem& problem);

}  // namespace rung
