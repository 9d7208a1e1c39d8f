// Finds a device's row by the name that drivers give it.
// SPDX-License-Identifier: Apache-2.0
#include "base/card_peaks.hpp"

#include <algorithm>

namespace rung {
namespace {

constexpr std::string_view kLettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find_first_of(kLettersAndDigits); at != text.npos;) {
    const size_t end = std::min(text.find_first_not_of(kLettersAndDigits, at), text.size());
    if (text.substr(at, end - at) == word) return true;
    at = text.find_first_of(kLettersAndDigits, end);
  }
  return false;
}

// "H200" of "NVIDIA H200 SXM": the word with a digit in it.
std::string_view chip_of(std::string_view name) {
  const size_t digit = name.find_first_of("0123456789");
  const size_t begin = name.rfind(' ', digit) + 1;
  return name.substr(begin, name.find(' ', digit) - begin);
}

}  // namespace

const CardPeaks* peaks_of_device(std::string_view name) {
  for (const std::string_view other : {"PCIe", "NVL"})
    if (has_word(name, other)) return nullptr;
  const auto* found =
      std::ranges::find_if(kCardPeaks, [&](const CardPeaks& row) { return has_word(name, chip_of(row.name)); });
  return found == std::end(kCardPeaks) ? nullptr : found;
}

}  // namespace rung
