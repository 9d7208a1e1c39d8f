// Identifies algorithms by number in libraries that have numbers, by parameters in the others.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/library_choice.hpp"

#include <algorithm>

#include "device/gpu/current_context.hpp"
#include "kernels/gpu/linear/linear_library.hpp"
#include "kernels/gpu/linear/matmul_library.hpp"

namespace rung::stacks {
namespace {

constexpr std::string_view kCublasltPrefix = "Gemm_Cublaslt_";

// Returns "id_66_tile_20_...", in PyTorch's spelling.
Result<std::string> parameters_of(const Target& target, Problem problem, const KernelChoice& choice) {
  problem.params = choice.params;
  const gpu::LibraryGemm gemm =
      as<Linear>(problem.op) ? gpu::library_linear::gemm_of(problem) : gpu::library_matmul::gemm_of(problem);
  const gpu::CurrentContext current(*target.gpu);
  return library_of(target, choice.kernel)->parameters(gemm);
}

const Kernel* row_of(const Target& target, const Problem& problem, std::string_view library) {
  for (const Kernel* row : target.kernels_for(op_family(problem.op)))
    if (!library.empty() && row->library == library) return row;
  return nullptr;
}

std::vector<int64_t> algorithms_of(const Target& target, const Kernel& row, const Problem& problem) {
  std::vector<int64_t> algorithms;
  for (const Tunable& tunable : row.tunables_for(problem, target.machine))
    if (tunable.names.front() == "algorithm")
      for (const Tunable::Values& values : tunable.values) algorithms.push_back(values.front());
  return algorithms;
}

}  // namespace

const gpu::GemmLibrary* library_of(const Target& target, std::string_view kernel) {
  const Kernel* row = target.kernel_named(kernel);
  for (const gpu::GemmLibrary* library : target.machine.gpu.gemm_libraries)
    if (row && row->library == library->name) return library;
  return nullptr;
}

Result<Solution> solution_of(const Target& target, const Problem& problem, const KernelChoice& choice) {
  const gpu::GemmLibrary* library = library_of(target, choice.kernel);
  const auto algorithm = choice.params.find("algorithm");
  if (!library || algorithm == choice.params.end()) return fail("{} is not an algorithm of a library", choice.kernel);
  const std::string_view name = library->name;
  Solution solution{.library = library->name, .name = "", .index = algorithm->second, .split_k = {}};
  if (library->parameters) {
    RUNG_TRY(const std::string parameters, parameters_of(target, problem, choice));
    solution.name = std::string(kCublasltPrefix) + parameters, solution.index = {};
  } else {
    solution.name = fmt::format("Gemm_{}_{}", name == "rocblas" ? "Rocblas" : "Hipblaslt", algorithm->second);
  }
  return solution;
}

Result<KernelChoice> choice_of(const Target& target, const Problem& problem, const Solution& solution) {
  const Kernel* row = row_of(target, problem, solution.library);
  if (!row) return fail("{} is not timed here", solution.library.empty() ? solution.name : solution.library);
  if (Verdict verdict = target.supports(*row, problem); !verdict) return fail("{}: {}", row->name, verdict.reason);
  const bool by_name = library_of(target, row->name)->parameters != nullptr;
  for (const int64_t algorithm : algorithms_of(target, *row, problem)) {
    KernelChoice choice{std::string(row->name), {{"algorithm", algorithm}}};
    if (!by_name && algorithm == solution.index) return choice;
    if (!by_name) continue;
    const auto parameters = parameters_of(target, problem, choice);
    if (parameters && solution.name == std::string(kCublasltPrefix) + *parameters) return choice;
  }
  return fail("{} does not offer this solution for the product", solution.library);
}

}  // namespace rung::stacks
