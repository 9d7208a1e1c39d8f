// Kineto writes the number of elements and their type in c10's words.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/chrome_collective.hpp"

#include <algorithm>
#include <utility>

#include "trace/recording/json_numbers.hpp"

namespace rung::trace {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 48;
constexpr int64_t kMostRanks = 1 << 24;

constexpr std::pair<std::string_view, int64_t> kBytes[] = {
    {"\"BFloat16\"", 2}, {"\"Half\"", 2}, {"\"Float\"", 4}, {"\"Double\"", 8}, {"\"Long\"", 8},
    {"\"Int\"", 4},      {"\"Byte\"", 1}, {"\"Char\"", 1},  {"\"Bool\"", 1},   {"\"Short\"", 2},
};

int64_t bytes_of(std::string_view type) {
  constexpr std::string_view kFloat8 = "\"Float8_";
  if (type.starts_with(kFloat8)) return 1;
  for (const auto& [name, bytes] : kBytes)
    if (name == type) return bytes;
  return 0;
}

}  // namespace

void note_collective(const ChromeEvent& event, OperandTexts& texts) {
  const int64_t ranks = integer_of(event[Argument::ranks]).value_or(0);
  if (ranks > 0 && ranks <= kMostRanks) texts.ranks = static_cast<uint32_t>(ranks);
  const int64_t elements = std::max(integer_of(event[Argument::elements_in]).value_or(-1),
                                    integer_of(event[Argument::elements_out]).value_or(-1));
  const int64_t bytes = bytes_of(event[Argument::element_type]);
  if (elements >= 0 && elements <= kMostElements && bytes > 0) texts.message_bytes = elements * bytes;
}

}  // namespace rung::trace
