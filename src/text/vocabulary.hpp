// Tokens and their ids.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json_config.hpp"

namespace rung::text {

using Ids = std::vector<int64_t>;

// The largest published vocabularies have about a million tokens.
inline constexpr IntRange kTokenIds{0, 1 << 24};

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

// Ids may have holes, and two tokens may have the same id.
class Vocabulary {
 public:
  // Reads an object of ids by token. Errors: an id out of range.
  static Result<Vocabulary> read(const Config& ids);

  // If tokens are equal, the last one counts.
  void add(const std::string& token, int64_t id) {
    const auto [entry, is_new] = ids_.try_emplace(token, id);
    if (!is_new) shadowed_.emplace_back(token, std::exchange(entry->second, id));
  }
  std::optional<int64_t> id_of(std::string_view token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  size_t size() const { return ids_.size(); }
  const auto& tokens() const { return ids_; }
  // Returns tokens with ids that no text becomes, because a later token is equal.
  const auto& shadowed() const { return shadowed_; }

 private:
  std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>> ids_;
  std::vector<std::pair<std::string, int64_t>> shadowed_;
};

}  // namespace rung::text
