// JSON documents in which one value is of another type: what readers of files must refuse in words, or may take.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rung {

// The places of all values of a document; of lists those of the first two, of objects those of the first 60.
inline std::vector<nlohmann::json::json_pointer> places_in(
    const nlohmann::json& document, const nlohmann::json::json_pointer& at = nlohmann::json::json_pointer()) {
  std::vector<nlohmann::json::json_pointer> all{at};
  const auto add = [&](const nlohmann::json& value, const nlohmann::json::json_pointer& place) {
    for (auto& below : places_in(value, place)) all.push_back(std::move(below));
  };
  size_t keys = 0;
  if (document.is_object())
    for (const auto& [key, value] : document.items())
      if (keys++ < 60) add(value, at / key);
  if (document.is_array())
    for (size_t i = 0; i < std::min<size_t>(document.size(), 2); ++i) add(document[i], at / i);
  return all;
}

// `read` returns the error that a reader gives; empty: it takes the document. Returns how many variants it refuses.
template <class Read>
size_t expect_words_for_wrong_types(const nlohmann::json& document, const Read& read) {
  using nlohmann::json;
  size_t refused = 0;
  for (const auto& place : places_in(document))
    for (const json& other : {json(nullptr), json(true), json(-1), json(1.5), json("x"), json::array(),
                              json::array({1}), json::object(), json{{"a", 1}}, json(UINT64_MAX)}) {
      json variant = document;
      variant[place] = other;
      const std::string said = read(variant);
      refused += !said.empty();
      EXPECT_THAT(said, ::testing::Not(::testing::AnyOf(
                            ::testing::HasSubstr("json.exception"), ::testing::HasSubstr("type must be"),
                            ::testing::HasSubstr("cannot use"), ::testing::HasSubstr("a mistake in rung"))))
          << place << " is " << other;
    }
  return refused;
}

}  // namespace rung
