// The table of formats.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/files/format.hpp"

#include <algorithm>
#include <iterator>

namespace rung::stacks {
namespace {

constexpr const Format* kFormats[] = {
#define RUNG_TUNING_FORMAT(name) &name,
#include "stacks/files/formats.inc"
#undef RUNG_TUNING_FORMAT
};

}  // namespace

std::span<const Format* const> formats() { return kFormats; }

Result<const Format*> format_named(std::string_view name) {
  const auto* found = std::ranges::find(kFormats, name, &Format::name);
  if (found != std::end(kFormats)) return *found;
  std::string names;
  for (const Format* format : kFormats) names.append(names.empty() ? "" : ", ").append(format->name);
  return wrong_usage("format: got '{}', wanted one of {}", name, names);
}

}  // namespace rung::stacks
