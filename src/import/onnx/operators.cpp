// Finds the function of an operator by its domain and name.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/operators.hpp"

#include <map>

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

}  // namespace rung::onnx
