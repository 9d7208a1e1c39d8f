// Algorithms of GEMM libraries between our choices and the names that other stacks have for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "advise/tuned/tuning_file.hpp"
#include "device/gpu/gemm_library.hpp"
#include "kernels/choice.hpp"
#include "kernels/target.hpp"

namespace rung::tasks {

// The library that a row calls; null: none.
const gpu::GemmLibrary* library_of(const Target& target, std::string_view kernel);

// The solution of a choice of the parameter "algorithm", with PyTorch's name for it. Errors: the row calls no library
// that is here, the library does not tell.
Result<advise::tuned::Solution> solution_of(const Target& target, const Problem& problem, const KernelChoice& choice);
// The inverse. Errors: no such library or algorithm here, naming it.
Result<KernelChoice> choice_of(const Target& target, const Problem& problem, const advise::tuned::Solution& solution);

}  // namespace rung::tasks
