// Turns a matrix product of a tuning file into a problem for which kernels are chosen.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/problem.hpp"
#include "stacks/files/gemm_shape.hpp"

namespace rung::stacks {

// Makes a linear layer if possible, else a matmul; weights that a run does not change are constants, so that trials
// find them as cold as in a model. `threads` is Problem::threads. Errors: a type, layout or epilogue that no kernel
// here supports.
Result<Problem> problem_of(const GemmShape& shape, int threads);

// Returns the time that a perfect kernel saves in a run, without a unit: it orders products for tuning.
double headroom_of(const GemmShape& shape);

}  // namespace rung::stacks
