// Writes settings as lines of a shell script and of a Dockerfile.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "doctor/settings/assignment.hpp"
#include "doctor/settings/written.hpp"

namespace rung::doctor {
namespace {

bool holds_always(const Setting& setting) { return setting.rating == Rating::set && setting.when.empty(); }

std::string comment(const Setting& setting) {
  const std::string when = setting.when.empty() ? "" : fmt::format(" (where: {})", setting.when);
  return fmt::format("# {}{}\n", setting.reason, when);
}

std::string head(const SettingList& list) {
  return fmt::format("# {} on {}, for latency. Lines that are commented out are trials: measure each alone.\n",
                     name_of(list.framework), list.gpu_name);
}

std::string variables(const SettingList& list, std::string_view word) {
  std::string text;
  for (const Setting* s : list.settings)
    if (s->kind == SettingKind::variable)
      text += fmt::format("{}{}{} {}\n", comment(*s), holds_always(*s) ? "" : "# ", word, assignment(*s));
  return text;
}

// Writes settings that no assignment can make, as comments.
std::string by_hand(const SettingList& list) {
  std::string text;
  for (const Setting* s : list.settings)
    if (s->kind == SettingKind::code || s->kind == SettingKind::command)
      text += fmt::format("{}# {}\n", comment(*s), assignment(*s));
  return text;
}

std::string_view serve_command(Framework framework) {
  return framework == Framework::sglang ? "python -m sglang.launch_server --model-path MODEL" : "vllm serve MODEL";
}

// Writes flags after the command that serves, one per line, so that each can be taken out.
std::string flags(const SettingList& list) {
  std::string text;
  for (const Setting* s : list.settings)
    if (s->kind == SettingKind::flag)
      text += fmt::format("{}{}SERVE_FLAGS+=({})\n", comment(*s), holds_always(*s) ? "" : "# ", assignment(*s));
  return text.empty()
             ? text
             : fmt::format("SERVE_FLAGS=()\n{}# {} \"${{SERVE_FLAGS[@]}}\"\n", text, serve_command(list.framework));
}

// Writes flags as comments for the command that the Dockerfile's owner writes: a Dockerfile has no list to add to.
std::string flags_of_command(const SettingList& list) {
  std::string text;
  for (const Setting* s : list.settings)
    if (s->kind == SettingKind::flag)
      text += fmt::format("{}# {} {}\n", comment(*s), serve_command(list.framework), assignment(*s));
  return text;
}

}  // namespace

std::string settings_shell(const SettingList& list) {
  return head(list) + by_hand(list) + variables(list, "export") + flags(list);
}

std::string settings_dockerfile(const SettingList& list) {
  return head(list) + by_hand(list) + variables(list, "ENV") + flags_of_command(list);
}

}  // namespace rung::doctor
