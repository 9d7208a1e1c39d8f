// Files that rung keeps for later runs in the user's cache folder: {"version": 1, SECTION: {...}}.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace rung {

struct KeptForm {
  std::string_view what;  // for errors: "tuning database"
  int version = 1;
  std::string section;  // the field that holds what is kept: an object
};

// Returns the file's JSON; if there is no such file, that of one which keeps nothing. Errors: it cannot be read; it has
// another form, which ends with what to do.
Result<nlohmann::json> read_kept_file(const std::string& path, const KeptForm& form);
// Makes the folder for the file, if it can: what is written next tells if it cannot.
void make_folder_of(const std::string& path);
// Writes the file atomically, in its folder, which it makes.
Status write_kept_file(const std::string& path, const nlohmann::json& json);

}  // namespace rung
