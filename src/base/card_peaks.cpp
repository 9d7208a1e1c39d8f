// Finds a device's row by the name that drivers give it, or by its size.
// SPDX-License-Identifier: Apache-2.0
#include "base/card_peaks.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace rung {
namespace {

// Words that name a part of a card, or a product of the same chip with less power.
constexpr std::string_view kOtherProducts[] = {"mig", "grid", "laptop", "max"};
constexpr double kMostOff = 0.08;  // drivers show up to this share less memory than a card is sold with

bool is_word_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool is_same(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, [](char x, char y) { return std::tolower(static_cast<unsigned char>(x)) == y; });
}

// Calls take(word) for each word until it returns true, and returns whether it did.
template <class F>
bool any_word(std::string_view text, const F& take) {
  while (!text.empty()) {
    const auto* begin = std::ranges::find_if(text, is_word_byte);
    const auto* end = std::find_if_not(begin, text.end(), is_word_byte);
    if (begin != end && take(std::string_view(begin, end))) return true;
    text = std::string_view(end, text.end());
  }
  return false;
}

bool has_word(std::string_view text, std::string_view lower) {
  return any_word(text, [&](std::string_view word) { return is_same(word, lower); });
}

bool has_words(std::string_view text, std::string_view words) {
  return !any_word(words, [&](std::string_view word) { return !has_word(text, word); });
}

}  // namespace

std::span<const CardPeaks> all_card_peaks() { return card_table::kRows; }

const CardPeaks* peaks_of_device(std::string_view name) {
  const auto rows = all_card_peaks();
  if (std::ranges::any_of(kOtherProducts, [&](std::string_view word) { return has_word(name, word); })) return nullptr;
  const auto found = std::ranges::find_if(rows, [&](const CardPeaks& row) { return has_words(name, row.words); });
  return found == rows.end() ? nullptr : &*found;
}

const CardPeaks* peaks_of_size(int64_t units, int64_t memory_bytes) {
  const CardPeaks* best = nullptr;
  double least = kMostOff;
  bool several = false;
  for (const CardPeaks& row : all_card_peaks()) {
    const double sold = std::ldexp(row.memory_gib, 30);
    const double off = std::abs(static_cast<double>(memory_bytes) - sold) / sold;
    if (row.units != units || off > least) continue;
    several = best && off == least;
    best = &row, least = off;
  }
  return several ? nullptr : best;
}

std::string names_of_cards() {
  std::string names;
  for (const CardPeaks& row : all_card_peaks()) names.append(names.empty() ? "" : ", ").append(row.words);
  return names;
}

}  // namespace rung
