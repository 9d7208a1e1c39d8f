// A matrix product of a tuning file as a problem that kernels are chosen for.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/problem.hpp"
#include "stacks/files/gemm_shape.hpp"

namespace rung::stacks {

// A linear layer where it can be one, else a matmul; weights that a run does not change are constants, so that trials
// find them as cold as in a model. Threads as Problem::threads. Errors: a type, layout or epilogue that no kernel here
// is asked for.
Result<Problem> problem_of(const GemmShape& shape, int threads);

// Time that a perfect kernel saves in a run, in no unit: which of several products to tune first.
double headroom_of(const GemmShape& shape);

}  // namespace rung::stacks
