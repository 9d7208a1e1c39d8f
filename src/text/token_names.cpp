// Sorts tokens by id.
// SPDX-License-Identifier: Apache-2.0
#include "text/token_names.hpp"

#include <algorithm>

namespace rung::text {
namespace {

bool has_lower_id(const TokenNames::Name& a, const TokenNames::Name& b) { return a.id < b.id; }

}  // namespace

TokenNames::TokenNames(const Vocabulary& vocabulary, const AddedTokens& added) {
  names_.reserve(added.tokens().size() + vocabulary.size());
  for (const auto& [_, token] : added.tokens()) names_.push_back({token.id, token.spelling, token.special});
  for (const auto& [token, id] : vocabulary.tokens()) names_.push_back({id, token, false});
  for (const auto& [token, id] : vocabulary.shadowed()) names_.push_back({id, token, false});
  std::stable_sort(names_.begin(), names_.end(), has_lower_id);
  const auto same = [](const Name& a, const Name& b) { return a.id == b.id; };
  names_.erase(std::unique(names_.begin(), names_.end(), same), names_.end());
}

const TokenNames::Name* TokenNames::find(int64_t id) const {
  const auto found = std::lower_bound(names_.begin(), names_.end(), Name{.id = id}, has_lower_id);
  return found != names_.end() && found->id == id ? &*found : nullptr;
}

std::optional<int64_t> TokenNames::first_difference(const TokenNames& other) const {
  const auto same = [](const Name& a, const Name& b) { return a.id == b.id && a.token == b.token; };
  const auto [here, there] = std::ranges::mismatch(names_, other.names_, same);
  if (here == names_.end() && there == other.names_.end()) return std::nullopt;
  if (here == names_.end()) return there->id;
  return there == other.names_.end() ? here->id : std::min(here->id, there->id);
}

}  // namespace rung::text
