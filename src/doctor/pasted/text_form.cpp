// Keeps told settings by the paths that the checks read.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/pasted/text_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/trimmed.hpp"

namespace rung::doctor::pasted {

void Telling::set(const std::string& path, std::string content) {
  machine_.files.insert_or_assign(path, ToldFile{std::move(content), fmt::format("{}, line {}", form_, line_)});
}

void Telling::set_if_new(const std::string& path, std::string content) {
  if (!machine_.files.contains(path)) set(path, std::move(content));
}

void Telling::variable(std::string_view name, std::string_view value) {
  if (!machine_.environment) machine_.environment.emplace();
  machine_.environment->insert_or_assign(std::string(name), value);
}

std::optional<std::string> Telling::told(const std::string& path) const {
  const auto found = machine_.files.find(path);
  return found == machine_.files.end() ? std::nullopt : std::optional(found->second.content);
}

std::string Telling::gpu(std::string_view name, std::string_view vendor) {
  std::string folder = fmt::format("sys/bus/pci/devices/{}/", name);
  set_if_new(folder + "class", "0x030200");
  set_if_new(folder + "vendor", std::string(vendor));
  return folder;
}

std::string Telling::gpu_of_node(int64_t node) const {
  const auto found = std::ranges::find(nodes_, node, &std::pair<int64_t, std::string>::first);
  return found == nodes_.end() ? "" : found->second;
}

std::optional<Variable> variable_of(std::string_view line) {
  bool is_quoted = false;
  for (const std::string_view word : {"export ", "declare -x "})
    if (line.starts_with(word)) line.remove_prefix(word.size()), is_quoted = true;
  const size_t equals = line.find('=');
  if (equals == line.npos || equals == 0 || std::isdigit(static_cast<unsigned char>(line[0])) != 0) return std::nullopt;
  const std::string_view name = line.substr(0, equals);
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  std::string_view value = line.substr(equals + 1);
  if (!std::ranges::all_of(name, is_of_name) || value.starts_with('=')) return std::nullopt;
  const bool has_quotes =
      value.size() >= 2 && value.front() == value.back() && (value.front() == '"' || value.front() == '\'');
  if (is_quoted && has_quotes) value = value.substr(1, value.size() - 2);
  return Variable{name, value};
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> words;
  for (size_t begin = text.find_first_not_of(kBlanks); begin != text.npos;) {
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::optional<int64_t> number_of(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.size() > 9 || number < 0) return std::nullopt;
  return number;
}

std::optional<std::string_view> value_behind(std::string_view line, std::string_view name) {
  line = trimmed(line);
  if (!line.starts_with(name)) return std::nullopt;
  line = trimmed(line.substr(name.size()));
  if (!line.starts_with(':')) return std::nullopt;
  return trimmed(line.substr(1));
}

}  // namespace rung::doctor::pasted
