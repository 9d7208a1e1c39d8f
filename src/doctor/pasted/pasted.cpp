// Cuts a text into parts, each of one form: a part lasts until a line that begins another.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/pasted/pasted.hpp"

#include <algorithm>

#include "base/trimmed.hpp"
#include "doctor/knob.hpp"
#include "doctor/pasted/text_form.hpp"

namespace rung::doctor {
namespace {

using pasted::Line;
using pasted::Telling;
using pasted::TextForm;

// The forms in the order of reading: rocminfo before rocm-smi, because it says which GPU has which number. A table of
// nvidia-smi tells less than its list, and does not replace what the list told.
constexpr const TextForm* kForms[] = {&pasted::rocminfo_form, &pasted::rocm_smi_form, &pasted::nvidia_query_form,
                                      &pasted::nvidia_table_form, &pasted::collect_env_form};
constexpr std::string_view kEnvironment = "env";

// Returns a line without colours, byte order marks and carriage returns.
std::string plain(std::string_view line) {
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      i = std::min(line.find_first_of("ABCDEFGHJKSTfmnsulh", i + 2), line.size() - 1);
      continue;
    }
    if (line[i] != '\r' && line[i] != '\0') text += line[i];
  }
  return text;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (const std::string_view line : parts(text, '\n')) lines.push_back({plain(line), lines.size() + 1});
  return lines;
}

struct Part {
  const TextForm* form;
  size_t begin, end;
};

std::vector<Part> parts_of(const std::vector<Line>& lines) {
  std::vector<Part> found;
  for (size_t i = 0; i < lines.size(); ++i)
    for (const TextForm* form : kForms) {
      if (!form->begins(rung::trimmed(lines[i].text))) continue;
      if (!found.empty()) found.back().end = std::min(found.back().end, i);
      found.push_back({form, i, lines.size()});
      break;
    }
  return found;
}

bool read_environment(const std::vector<Line>& lines, Telling& telling) {
  bool any = false;
  for (const Line& line : lines)
    if (const auto variable = pasted::variable_of(line.text)) {
      telling.variable(variable->name, variable->value);
      any = true;
    }
  return any;
}

}  // namespace

Result<Pasted> read_pasted(std::string_view name, std::string_view text) {
  const std::vector<Line> lines = lines_of(text);
  const std::vector<Part> found = parts_of(lines);
  Telling telling;
  std::vector<std::string_view> forms;
  for (const Part& part : found)
    if (std::ranges::find(forms, part.form->name) == forms.end()) forms.push_back(part.form->name);
  for (const TextForm* form : kForms)
    for (const Part& part : found) {
      if (part.form != form) continue;
      telling.begin(form->name);
      form->read(std::span(lines).subspan(part.begin, part.end - part.begin), telling);
    }
  telling.begin(kEnvironment);
  if (read_environment(lines, telling)) forms.push_back(kEnvironment);
  if (forms.empty())
    return bad_file(
        "'{}': wanted the output of collect_env, rocm-smi, rocminfo, nvidia-smi, nvidia-smi -q or env; got {} lines "
        "that match none of them",
        name, lines.size());
  return Pasted{Snapshot(telling.take()), std::move(forms)};
}

}  // namespace rung::doctor
