// Reads whole numbers of JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/json.hpp"

namespace rung {

// Throws std::out_of_range for anything but an integer that T holds: the JSON library would convert a fraction, or a
// number that is too large, without a word.
template <class T>
T whole(const nlohmann::json& json) {
  if (json.is_number_unsigned() && std::in_range<T>(json.get<uint64_t>())) return static_cast<T>(json.get<uint64_t>());
  if (json.is_number_integer() && !json.is_number_unsigned() && std::in_range<T>(json.get<int64_t>()))
    return static_cast<T>(json.get<int64_t>());
  throw std::out_of_range(fmt::format("got {}, wanted a whole number in range", describe(json)));
}

// The same of a list.
template <class T>
std::vector<T> list_of_whole(const nlohmann::json& json) {
  if (!json.is_array()) throw std::out_of_range(fmt::format("got {}, wanted a list of whole numbers", describe(json)));
  std::vector<T> values;
  for (const auto& value : json) values.push_back(whole<T>(value));
  return values;
}

}  // namespace rung
