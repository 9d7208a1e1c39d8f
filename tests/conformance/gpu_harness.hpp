// Runs one GPU kernel row on one problem as a session would, and keeps watch over the memory around what it may write.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "harness.hpp"
#include "kernels/target.hpp"

namespace rung::test {

// Compiles what a row that is made for each problem needs for these, several at a time; other rows need nothing.
void compile_for(const Target& target, const Kernel& row, const std::vector<Case>& cases);
// Errors: the row refuses these parameters, or the device failed.
Result<Outcome> run_gpu_row(const Target& target, const Kernel& kernel, const Case& test);

// Returns whether the problem has floats of 8 bits in a format that this machine does not convert.
bool has_another_machines_f8(const Problem& problem, const gpu::GpuInfo& gpu);

}  // namespace rung::test
