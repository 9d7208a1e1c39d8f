// Finds the function of an operator by its name.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

#include "import/pt2/aliases.hpp"

#include <map>

namespace rung::pt2 {

Lower operator_named(std::string_view target) {
  static const std::map<std::string_view, Lower> kOperators{
#define RUNG_PT2(name, function) {name, operators::function},
#include "import/pt2/operators.inc"
#undef RUNG_PT2
  };
  const auto named = [](std::string_view name) {
    const auto found = kOperators.find(name);
    return found == kOperators.end() ? nullptr : found->second;
  };
  if (const Lower lower = named(target); lower || !writes(target)) return lower;
  const size_t end = target.rfind("_.");  // aten.add_.Tensor computes what aten.add.Tensor does
  return named(std::string(target.substr(0, end)).append(target.substr(end + 1)));
}

}  // namespace rung::pt2
