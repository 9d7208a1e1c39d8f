// Writes settings as text for people and as JSON.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/settings/written.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "doctor/settings/assignment.hpp"

namespace rung::doctor {
namespace {

std::string line(std::string_view name, std::string_view text) {
  return text.empty() ? "" : fmt::format("    {:<8} {}\n", name, text);
}

std::string block(const Setting& setting) {
  return fmt::format("\n  {}\n", assignment(setting)) + line("when", setting.when) + line("why", setting.reason) +
         line("measure", setting.measure) + line("traps", setting.traps) + line("read by", read_by(setting)) +
         line("source", setting.source->document);
}

}  // namespace

std::string settings_text(const SettingList& list) {
  std::string text = fmt::format(
      "{} on {}, for latency: {}. Measure each alone, keep what helps, then measure "
      "what was kept together.\n",
      name_of(list.framework), list.gpu_name, words::counted(list.settings.size(), "setting"));
  std::string_view heading;
  for (const Setting* setting : list.settings) {
    const std::string_view wanted = setting->rating == Rating::set ? "set" : "try, and keep where it is faster";
    if (wanted != heading) text += fmt::format("\n{}\n", heading = wanted);
    text += block(*setting);
  }
  return text;
}

nlohmann::json to_json(const SettingList& list) {
  nlohmann::json settings = nlohmann::json::array();
  for (const Setting* s : list.settings)
    settings.push_back({{"kind", name_of(s->kind)},
                        {"name", s->name},
                        {"value", s->value},
                        {"verdict", name_of(s->rating)},
                        {"when", s->when},
                        {"reason", s->reason},
                        {"measure", s->measure},
                        {"traps", s->traps},
                        {"read_by", read_by(*s)},
                        {"source", s->source->document}});
  return {
      {"stack", name_of(list.framework)}, {"gpu", list.gpu}, {"goal", "latency"}, {"settings", std::move(settings)}};
}

}  // namespace rung::doctor
