// Finds the function of an operator by its name.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

#include <map>

namespace rung::pt2 {

Lower operator_named(std::string_view target) {
  static const std::map<std::string_view, Lower> kOperators{
#define RUNG_PT2(name, function) {name, operators::function},
#include "import/pt2/operators.inc"
#undef RUNG_PT2
  };
  const auto found = kOperators.find(target);
  return found == kOperators.end() ? nullptr : found->second;
}

}  // namespace rung::pt2
