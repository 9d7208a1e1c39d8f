// Code of generated kernels in plan files: what is written, and what of a file may run. No checker can prove machine
// code, so a file's image runs only if its user trusts who made the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/code_json.hpp"
#include "plan/plan_set.hpp"

namespace rung {

// The use that a reader makes of the code in a plan's file.
enum class CodeUse : uint8_t {
  checked,  // nothing of it runs: what runs was compiled on this machine
  trusted,  // its images run, as the user says that whoever made the file can be trusted
  shown,    // nothing of the plan runs, so no compiler is needed
};

// Returns the code of all generated kernels of a set, compiled where it was not before. Errors: those of a compiler,
// naming the step.
Result<CodeSection> code_of(const PlanSet& set);

// Gives a plan of a file the code that it may run, which has in each case exactly the source that this build writes for
// the launch: what was compiled on this machine before, or the file's image if `use` trusts it. `named` has the names
// of the plan's launches. The log tells what is not used and why. The plan must have passed check_plan(). Errors: a
// launch names code and runs none; a kernel without code, where no compiler is (device).
Status take_code(const CodeSection& section, const std::vector<std::string>& named, CodeUse use, Plan& plan);

// Compiles the code that the plan's launches still lack, on several threads; launches report errors themselves.
void compile_code(const Plan& plan);

}  // namespace rung
