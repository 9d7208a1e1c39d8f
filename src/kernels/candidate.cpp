// Checks the parameters of a kernel row.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/candidate.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace rung {
namespace {

// Lists the first values of a tunable, and how many more there are.
std::string listed(const Tunable& tunable) {
  constexpr size_t kMost = 16;
  std::vector<std::string> shown;
  for (const Tunable::Values& values : std::span(tunable.values).first(std::min(kMost, tunable.values.size())))
    shown.push_back(fmt::format("{}", fmt::join(values, "/")));
  const size_t more = tunable.values.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

// Accepts if the tunable offers the given values of its parameters, or if none of them is given.
Verdict offers(const Kernel& kernel, const Tunable& tunable, const Params& params) {
  std::vector<std::string> got;
  for (std::string_view name : tunable.names)
    if (const auto it = params.find(name); it != params.end()) got.push_back(fmt::format("{}={}", name, it->second));
  const auto is_given = [&](const Tunable::Values& values) {
    for (const auto& [name, value] : tunable.params(values))
      if (const auto it = params.find(name); it == params.end() || it->second != value) return false;
    return true;
  };
  if (got.empty() || std::any_of(tunable.values.begin(), tunable.values.end(), is_given)) return accept();
  const std::string wanted = tunable.names.size() > 1 ? fmt::format("{}: ", fmt::join(tunable.names, "/")) : "";
  return reject(
      fmt::format("{}: got {}, wanted {}one of {}", kernel.name, fmt::join(got, ", "), wanted, listed(tunable)));
}

}  // namespace

Verdict takes_params(const Target& target, const Kernel& kernel, const Problem& problem, const Params& params) {
  if (params.empty()) return accept();
  const auto tunables = kernel.tunables_for(problem, target.machine);
  for (const auto& param : params) {
    const auto& name = param.first;  // clang 14 lets no lambda take a structured binding
    if (std::ranges::none_of(tunables, [&](const Tunable& each) { return std::ranges::count(each.names, name) > 0; }))
      return reject(fmt::format("{} has no parameter '{}' here", kernel.name, name));
  }
  for (const Tunable& tunable : tunables)
    if (Verdict verdict = offers(kernel, tunable, params); !verdict) return verdict;
  return accept();
}

}  // namespace rung
