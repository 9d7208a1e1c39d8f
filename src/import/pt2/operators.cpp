// Finds the function of an operator by its name.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

#include <algorithm>
#include <map>

#include "import/exported/unknown.hpp"
#include "import/pt2/aliases.hpp"

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
  if (const Lower lower = named(target); lower || !is_in_place(target)) return lower;
  const size_t end = target.rfind("_.");  // aten.add_.Tensor computes what aten.add.Tensor does
  return named(std::string(target.substr(0, end)).append(target.substr(end + 1)));
}

std::string why_unknown(std::string_view target) {
  constexpr std::string_view kRandom[] = {"bernoulli", "exponential", "multinomial", "normal",     "rand",
                                          "rand_like", "randint",     "randn",       "randn_like", "randint_like",
                                          "randperm",  "uniform",     "cauchy",      "geometric",  "log_normal"};
  std::string_view name = base_name(target);
  if (name.ends_with('_')) name.remove_suffix(1);
  if (std::ranges::find(kRandom, name) != std::end(kRandom)) return exported::kDrawsRandomNumbers;
  if (target.starts_with("torch._functorch."))
    return "it is a part of torch.func.vmap: save program.run_decompositions(), which has the operators inside instead";
  return exported::kNoImport;
}

}  // namespace rung::pt2
