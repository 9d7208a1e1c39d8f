// Translates algorithms of GEMM libraries between our choices and the names that other stacks have for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "device/gpu/gemm_library.hpp"
#include "kernels/choice.hpp"
#include "kernels/target.hpp"
#include "stacks/files/tuning_file.hpp"

namespace rung::stacks {

// Returns the library that a row calls; null: none.
const gpu::GemmLibrary* library_of(const Target& target, std::string_view kernel);

// Returns the solution of a choice of the parameter "algorithm", with PyTorch's name for it. Errors: the row calls no
// library that is available here, the library does not tell.
Result<Solution> solution_of(const Target& target, const Problem& problem, const KernelChoice& choice);
// The inverse of solution_of(). Errors: no such library or algorithm here; the message names it.
Result<KernelChoice> choice_of(const Target& target, const Problem& problem, const Solution& solution);

}  // namespace rung::stacks
