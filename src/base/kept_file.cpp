// Reads and writes kept files.
// SPDX-License-Identifier: Apache-2.0
#include "base/kept_file.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/json.hpp"

namespace rung {

Result<nlohmann::json> read_kept_file(const std::string& path, const KeptForm& form) {
  using Json = nlohmann::json;
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error)
    return Json{{"version", form.version}, {form.section, Json::object()}};
  RUNG_TRY(const std::string text, read_text_file(path));
  auto json = parse_json(text, path);
  if (!json) return bad_file("{}: repair or remove it", json.error().message);
  const auto refuse = [&](std::string_view reason) {
    return bad_file("'{}': no {}: {}: repair or remove it", path, form.what, reason);
  };
  if (const Status checked = check_version(*json, form.version); !checked) return refuse(checked.error().message);
  if (!json->contains(form.section)) return refuse(fmt::format("field '{}' is missing", form.section));
  const Json& section = (*json)[form.section];
  if (!section.is_object())
    return refuse(fmt::format("field '{}': got {}, wanted an object", form.section, describe(section)));
  return json;
}

void make_folder_of(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
}

Status write_kept_file(const std::string& path, const nlohmann::json& json) {
  make_folder_of(path);
  return write_file_atomically(path, dump_json(json, 1) + "\n");
}

}  // namespace rung
