// Writes a setting for a shell: NAME=value, --flag value, or the command or line of code itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "doctor/settings/setting.hpp"

namespace rung::doctor {

inline std::string assignment(const Setting& setting) {
  const std::string name(setting.name), value(setting.value);
  switch (setting.kind) {
    case SettingKind::variable:
      return name + "=" + value;
    case SettingKind::flag:
      return value.empty() ? name : name + " " + value;
    default:
      return name + ": " + value;
  }
}

}  // namespace rung::doctor
