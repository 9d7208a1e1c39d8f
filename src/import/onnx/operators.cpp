// Finds the function of an operator by its domain and name.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/operators.hpp"

#include <algorithm>
#include <map>

#include "import/exported/unknown.hpp"

namespace rung::onnx {

Lower operator_named(std::string_view domain, std::string_view name) {
  static const std::map<std::pair<std::string_view, std::string_view>, Lower> kOperators{
#define RUNG_ONNX(domain, name, function) {{domain, name}, operators::function},
#include "import/onnx/operators.inc"
#undef RUNG_ONNX
  };
  const auto found = kOperators.find({domain, name});
  return found == kOperators.end() ? nullptr : found->second;
}

const char* why_unknown(std::string_view domain, std::string_view name) {
  constexpr std::string_view kRandom[] = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                          "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
  if (domain.starts_with("com.microsoft.nchwc"))
    return "ONNX Runtime wrote this file for one processor; save it at an optimisation level up to 'extended'";
  const bool draws = domain.empty() && std::ranges::find(kRandom, name) != std::end(kRandom);
  return draws ? exported::kDrawsRandomNumbers : exported::kNoImport;
}

}  // namespace rung::onnx
