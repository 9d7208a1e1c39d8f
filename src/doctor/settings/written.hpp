// Settings as text for people, as lines of a shell script, as lines of a Dockerfile, and as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/settings/setting.hpp"

namespace rung::doctor {

struct SettingList {
  Framework framework = Framework::pytorch;
  std::string_view gpu, gpu_name;  // "mi300x", "AMD Instinct MI300X"
  std::vector<const Setting*> settings;
};

std::string settings_text(const SettingList& list);
// A setting to be measured, or for some programs only, is commented out: each is a trial of its own.
std::string settings_shell(const SettingList& list);
std::string settings_dockerfile(const SettingList& list);
nlohmann::json to_json(const SettingList& list);

}  // namespace rung::doctor
