// Keeps each string once and names it by number.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace rung::trace {

class StringPool {
 public:
  StringPool() { number_of(""); }
  // The map's views point into the strings; a move keeps these in place, a copy would not.
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  ~StringPool() = default;

  uint32_t number_of(std::string_view text) {
    if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
    const auto number = static_cast<uint32_t>(texts_.size());
    numbers_.emplace(*texts_.emplace_back(std::make_unique<std::string>(text)), number);
    return number;
  }
  std::optional<uint32_t> find(std::string_view text) const {
    const auto known = numbers_.find(text);
    return known == numbers_.end() ? std::nullopt : std::optional(known->second);
  }
  std::string_view operator[](uint32_t number) const { return *texts_[number]; }
  size_t size() const { return texts_.size(); }

 private:
  std::vector<std::unique_ptr<std::string>> texts_;  // so that they stay in place
  std::unordered_map<std::string_view, uint32_t> numbers_;
};
static_assert(std::is_nothrow_move_constructible_v<StringPool>, "a Result ends the process where a move throws");

}  // namespace rung::trace
