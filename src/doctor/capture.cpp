// Copies what the checks read into a folder, without data that would identify the machine.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/atomic_file.hpp"
#include "doctor/knob.hpp"
#include "doctor/snapshot.hpp"

namespace rung::doctor {
namespace {

constexpr size_t kMostDigits = 12, kMostHexDigits = 80;  // sizes in bytes; a mask of every compute unit

bool all_of(std::string_view text, int (*is)(int)) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) { return is(static_cast<unsigned char>(c)) != 0; });
}

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with("0x")) return text.size() < kMostDigits && all_of(text.substr(2), std::isxdigit);
  return text.size() <= kMostDigits && all_of(text, std::isdigit);
}

// A mask differs from a key by its 0x.
bool is_mask(std::string_view text) {
  return text.starts_with("0x") && text.size() <= kMostHexDigits && all_of(text.substr(2), std::isxdigit);
}

bool is_one_of(std::string_view words, std::string_view text) {
  return std::ranges::any_of(parts(words, '|'), [&](std::string_view word) {
    return std::ranges::equal(word, text, [](char a, char b) { return std::tolower(a) == std::tolower(b); });
  });
}

// Returns whether a text is a list, as "0:0-19;1:0xff" or "9.4.2": numbers of few digits between the form's separators.
bool is_list(std::string_view text, std::string_view separators, size_t digits) {
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (!is_mask(part) && (part.size() > digits || !all_of(part, std::isdigit))) return false;
    begin = end + 1;
  }
  return true;
}

constexpr std::string_view kTruths = "0|1|true|false|yes|no|on|off|t|f|y|n";

// Returns whether a value has the form that its row declares, which is so narrow that no name, address or key has it.
bool is_kept(const Form& form, std::string_view value) {
  switch (form.kind) {
    case FormKind::any:
    case FormKind::zero_one:
    case FormKind::boolean:
      return is_one_of(kTruths, value);
    case FormKind::integer:
      return is_number(value);
    case FormKind::hex_mask:
      return is_mask(value);
    case FormKind::cu_ranges:
      return is_list(value, ",-:;", 4);
    case FormKind::version:
      return parts(value, '.').size() == 3 && is_list(value, ".", 2);
    case FormKind::devices:
      return value == "-1" || is_list(value, ",", 3);
    case FormKind::words:
      return is_one_of(form.words, value);
    case FormKind::settings:
    case FormKind::path:
    case FormKind::text:
      break;
  }
  return false;
}

std::string_view kind_of(const Knob* knob, std::string_view value) {
  if (knob && knob->form.kind == FormKind::path) return "path";
  if (knob && knob->form.kind == FormKind::devices) return "devices";
  if (knob && knob->form.kind == FormKind::settings) return "settings";
  return all_of(value, std::isdigit) ? "number" : "text";
}

// Returns the written part of a value: the value, or its kind and length. A value without a row has no form, so that
// its value is not kept.
std::string written_value(const Knob* knob, std::string_view value) {
  const bool fits = knob && wrong_form(*knob, value).empty();  // a list of six numbers is an address
  if (value.empty() || (fits && is_kept(knob->form, value))) return std::string(value);
  return fmt::format("<{}, {} {}>", kind_of(knob, value), value.size(), value.size() == 1 ? "character" : "characters");
}

Status write(const std::string& path, std::string_view content) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return bad_file("'{}': {}", path, error.message());
  return write_file_atomically(path, content);
}

}  // namespace

Result<Captured> capture(const Snapshot& machine, const std::string& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_empty(folder, error))
    return bad_file("'{}': wanted a new or empty folder", folder);
  Captured captured;
  std::string environment;
  for (const auto& [name, value] : machine.environment()) {
    if (!find_knob(name) && !has_known_prefix(name)) continue;
    const std::string written = written_value(find_knob(name), value);
    environment += fmt::format("{}={}\n", name, written);
    ++captured.variables;
    captured.values_left_out += written == value ? 0 : 1;
  }
  RUNG_CHECK(write(folder + "/environment", environment));
  for (const CapturedFile& file : captured_files())
    for (const std::string& path : machine.matches(file.pattern)) {
      RUNG_CHECK(write(folder + "/" + path, *machine.read(path) + "\n"));
      ++captured.files;
    }
  return captured;
}

}  // namespace rung::doctor
