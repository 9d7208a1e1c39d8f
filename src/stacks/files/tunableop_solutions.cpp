// Reads and makes names of solutions.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/files/tunableop_solutions.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "stacks/files/fields.hpp"
#include "stacks/files/gemm_shape.hpp"

namespace rung::stacks {
namespace {

constexpr std::string_view kRocblas = "Gemm_Rocblas_", kHipblaslt = "Gemm_Hipblaslt_", kCublaslt = "Gemm_Cublaslt_";
constexpr std::array<std::string_view, 9> kAlgorithmWords{"id",      "tile",   "stages", "splitk", "red",
                                                          "swizzle", "custom", "inner",  "cluster"};

// Takes digits with an optional sign, and no blanks.
template <class Number>
std::optional<Number> whole_part(std::string_view text) {
  const auto number = text == trimmed(text) ? whole_number(text) : std::nullopt;
  if (!number || *number < static_cast<int64_t>(std::numeric_limits<Number>::min()) ||
      (*number > 0 && static_cast<uint64_t>(*number) > static_cast<uint64_t>(std::numeric_limits<Number>::max())))
    return {};
  return static_cast<Number>(*number);
}

template <class Number>
bool take(std::string_view text, Number& to) {
  const auto number = whole_part<Number>(text);
  if (number) to = *number;
  return number.has_value();
}

SolutionName numbered(std::string_view library, std::string_view rest) {
  SolutionName solution{library, {}, false};
  if (library == "hipblaslt" && rest.size() > 3 && rest[2] == '_' && layout_named(rest.substr(0, 2))) {
    solution.has_layout = true;
    rest.remove_prefix(3);
  }
  solution.index = whole_part<int64_t>(rest);
  return solution.index ? solution : SolutionName{};
}

}  // namespace

SolutionName parse_solution(std::string_view name) {
  if (name == "Default") return {"default", {}, false};
  if (name.starts_with(kRocblas)) return numbered("rocblas", name.substr(kRocblas.size()));
  if (name.starts_with(kHipblaslt)) return numbered("hipblaslt", name.substr(kHipblaslt.size()));
  if (const auto algorithm = cublaslt_algorithm_of(name)) return {"cublaslt", algorithm->id, false};
  return {};
}

std::string solution_name(const CublasLtAlgorithm& a) {
  return fmt::format("{}id_{}_tile_{}_stages_{}_splitk_{}_red_{}_swizzle_{}_custom_{}_inner_{}_cluster_{}", kCublaslt,
                     a.id, a.tile, a.stages, a.split_k, a.reduction, a.swizzle, a.custom, a.inner_shape,
                     a.cluster_shape);
}

std::optional<CublasLtAlgorithm> cublaslt_algorithm_of(std::string_view name) {
  if (!name.starts_with(kCublaslt)) return {};
  const auto parts = cells_of(name.substr(kCublaslt.size()), '_');
  if (parts.size() != 2 * kAlgorithmWords.size()) return {};
  for (size_t i = 0; i < kAlgorithmWords.size(); ++i)
    if (parts[2 * i] != kAlgorithmWords[i]) return {};
  CublasLtAlgorithm a;
  const bool known = take(parts[1], a.id) && take(parts[3], a.tile) && take(parts[5], a.stages) &&
                     take(parts[7], a.split_k) && take(parts[9], a.reduction) && take(parts[11], a.swizzle) &&
                     take(parts[13], a.custom) && take(parts[15], a.inner_shape) && take(parts[17], a.cluster_shape);
  return known ? std::optional(a) : std::nullopt;
}

}  // namespace rung::stacks
