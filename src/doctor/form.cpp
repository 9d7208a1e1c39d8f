// Checks values for forms that a component would refuse or misread.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

#include "doctor/knob.hpp"

namespace rung::doctor {
namespace {

bool all_of(std::string_view text, int (*is)(int)) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) { return is(static_cast<unsigned char>(c)) != 0; });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::optional<bool> truth(std::string_view value) {
  const std::string word = lower(value);
  for (const std::string_view yes : {"1", "true", "yes", "on", "t", "y"})
    if (word == yes) return true;
  for (const std::string_view no : {"0", "false", "no", "off", "f", "n"})
    if (word == no) return false;
  return {};
}

std::optional<int64_t> number(std::string_view value) {
  const bool negative = value.starts_with('-');
  std::string_view digits = value.substr(negative ? 1 : 0);
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  int64_t n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.starts_with('-')) return {};
  return negative ? -n : n;
}

bool is_hex_mask(std::string_view value) {
  if (value.starts_with("0x") || value.starts_with("0X")) value.remove_prefix(2);
  return all_of(value, [](int c) { return std::isxdigit(c); });
}

// Returns whether a list such as "0,2-4" has no index twice and no range backwards.
bool is_id_list(std::string_view list) {
  std::set<int64_t> seen;
  for (const std::string_view range : parts(list, ',')) {
    const auto ends = parts(range, '-');
    if (ends.size() > 2 || !std::ranges::all_of(ends, [](auto e) { return all_of(e, std::isdigit) && e.size() < 6; }))
      return false;
    const int64_t first = *number(ends.front()), last = *number(ends.back());
    if (last < first) return false;
    for (int64_t id = first; id <= last; ++id)
      if (!seen.insert(id).second) return false;
  }
  return true;
}

bool is_cu_set(std::string_view set) {
  const auto sides = parts(set, ':');
  if (sides.size() != 2 || !is_id_list(sides[0])) return false;
  const bool mask = sides[1].starts_with("0x") || sides[1].starts_with("0X");
  return mask ? is_hex_mask(sides[1]) && sides[1].find_first_not_of("0xX") != sides[1].npos : is_id_list(sides[1]);
}

bool is_cu_ranges(std::string value) {
  std::erase_if(value, [](unsigned char c) { return std::isspace(c); });
  return std::ranges::all_of(parts(value, ';'), is_cu_set);
}

bool is_version(std::string_view value) {
  const auto numbers = parts(value, '.');
  return numbers.size() == 3 && std::ranges::all_of(numbers, [](auto n) { return all_of(n, std::isalnum); });
}

bool is_devices(std::string_view value) {
  return std::ranges::all_of(parts(value, ','), [](std::string_view device) {
    return device == "-1" || all_of(device, std::isdigit) || device.starts_with("GPU-") || device.starts_with("MIG-");
  });
}

bool is_settings(std::string_view value) {
  return std::ranges::all_of(parts(value, ','), [](std::string_view setting) {
    const size_t colon = setting.find(':');
    return colon != setting.npos && colon > 0 && colon + 1 < setting.size() && setting.find('=') == setting.npos;
  });
}

bool is_word(const Form& form, std::string_view value) {
  const auto words = parts(form.words, '|');
  return std::ranges::any_of(words, [&](std::string_view word) { return lower(word) == lower(value); });
}

std::string wanted(const Form& form) {
  switch (form.kind) {
    case FormKind::zero_one:
      return "0 or 1; other words may count as unset";
    case FormKind::boolean:
      return "0 or 1";
    case FormKind::integer:
      return "a whole number";
    case FormKind::hex_mask:
      return "one hexadecimal mask such as 0xff; lists of ranges are the form of HSA_CU_MASK";
    case FormKind::cu_ranges:
      return "GPUS:UNITS such as 0:0-19;1:0xff; a mask alone is the form of ROC_GLOBAL_CU_MASK";
    case FormKind::version:
      return "three numbers such as 9.4.2";
    case FormKind::devices:
      return "indices or UUIDs separated by commas";
    case FormKind::settings:
      return "NAME:VALUE,NAME:VALUE";
    case FormKind::words:
      return fmt::format("one of {}", fmt::join(parts(form.words, '|'), ", "));
    case FormKind::any:
    case FormKind::path:
    case FormKind::text:
      break;
  }
  return "";
}

bool fits(const Form& form, std::string_view value) {
  switch (form.kind) {
    case FormKind::zero_one:
      return value == "0" || value == "1";
    case FormKind::boolean:
      return truth(value).has_value() || number(value).has_value();
    case FormKind::integer:
      return number(value).has_value();
    case FormKind::hex_mask:
      return is_hex_mask(value);
    case FormKind::cu_ranges:
      return is_cu_ranges(std::string(value));
    case FormKind::version:
      return is_version(value);
    case FormKind::devices:
      return is_devices(value);
    case FormKind::settings:
      return is_settings(value);
    case FormKind::words:
      return is_word(form, value);
    case FormKind::any:
    case FormKind::path:
    case FormKind::text:
      break;
  }
  return true;
}

bool means_the_same(const Form& form, std::string_view value, std::string_view other) {
  if (form.kind == FormKind::boolean) return truth(value) && truth(value) == truth(other);
  if (form.kind == FormKind::integer) return number(value) && number(value) == number(other);
  return lower(value) == lower(other);
}

bool is_among(const Knob& knob, std::string_view value, std::string_view others) {
  return std::ranges::any_of(parts(others, '|'),
                             [&](std::string_view other) { return means_the_same(knob.form, value, other); });
}

}  // namespace

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> result;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    result.push_back(text.substr(begin, end == text.npos ? end : end - begin));
    if (end == text.npos) return result;
    begin = end + 1;
  }
}

std::string wrong_form(const Knob& knob, std::string_view value) {
  if (value.empty() || fits(knob.form, value)) return "";  // components take empty for unset
  const bool captured = (knob.form.kind == FormKind::devices && value.starts_with("<devices, ")) ||
                        (knob.form.kind == FormKind::settings && value.starts_with("<settings, "));
  if (captured) return "";  // --capture keeps only their kind and length
  return fmt::format("{} wants {}", knob.source->reader, wanted(knob.form));
}

bool is_default(const Knob& knob, std::string_view value) { return is_among(knob, value, knob.default_value); }

Rating rating_on(const Knob& knob, std::string_view value) {
  const Ratings& ratings = knob.ratings;
  return !ratings.values.empty() && is_among(knob, value, ratings.values) ? ratings.on_values : ratings.others;
}

bool is_off(std::string_view value) {
  const std::string word = lower(value);
  return word.empty() || word == "none" || (truth(word) && !*truth(word)) || number(word) == 0;
}

bool is_on(const Switch& master, std::string_view value) {
  if (master.on.empty()) return !is_off(value);
  return std::ranges::any_of(parts(master.on, '|'), [&](std::string_view on) { return lower(on) == lower(value); });
}

}  // namespace rung::doctor
