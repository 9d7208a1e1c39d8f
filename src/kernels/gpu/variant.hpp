// The compiled variants of a kernel on the host, from the list of which device code makes the entries.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace rung::gpu {

template <class Config>
struct Variant {
  Config config;            // differs from those of the module's other variants
  std::string_view symbol;  // of its entry
};

// Returns the first variant of a table whose configuration fits; null: none does.
template <class Config, size_t count, class Fits>
constexpr const Variant<Config>* find(const Variant<Config> (&variants)[count], Fits fits) {
  for (const Variant<Config>& each : variants)
    if (fits(each.config)) return &each;
  return nullptr;
}

// Returns the symbol of the variant compiled for `config`; empty: there is none, and Call::launch() fails.
template <class Config, size_t count>
constexpr std::string_view symbol_of(const Variant<Config> (&variants)[count],
                                     const std::type_identity_t<Config>& config) {
  const auto* found = find(variants, [&](const Config& each) { return each == config; });
  return found ? found->symbol : std::string_view();
}

}  // namespace rung::gpu

// A row of a list, NAME.inc, has the entry's symbol, then the fields of its configuration. Here the row becomes an
// element of a table of variants; device code has its own definition, which makes the entry.
#define RUNG_VARIANT(entry, ...) {{__VA_ARGS__}, #entry},
