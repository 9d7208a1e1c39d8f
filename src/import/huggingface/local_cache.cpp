// Finds a snapshot by its name and revision.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/local_cache.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace rung::huggingface {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Returns whether it is one part of a name. A part never leaves its folder.
bool is_part(const std::string& text) {
  const auto belongs = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text[0] != '.' && std::ranges::all_of(text, belongs);
}

// A revision may have slashes, as branches do: "refs/pr/1".
bool is_revision(const std::string& text) {
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('/', begin), text.size());
    if (!is_part(text.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

// Returns the folder's name in the cache; empty: it is no name of a model.
std::string folder_of(const std::string& name) {
  const size_t slash = name.find('/');
  if (slash == std::string::npos) return is_part(name) ? "models--" + name : "";
  const std::string organisation = name.substr(0, slash), model = name.substr(slash + 1);
  return is_part(organisation) && is_part(model) ? "models--" + organisation + "--" + model : "";
}

// Returns the commit that a branch or a tag stands for; a commit stands for itself.
std::string commit_of(const fs::path& folder, const std::string& revision) {
  std::ifstream file(folder / "refs" / revision);
  std::string commit;
  file >> commit;
  return is_part(commit) ? commit : revision;
}

}  // namespace

std::string cache_folder() {
  if (std::string hub = variable("HF_HUB_CACHE"); !hub.empty()) return hub;
  if (const std::string home = variable("HF_HOME"); !home.empty()) return home + "/hub";
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/huggingface/hub";
  const std::string home = variable("HOME");
  return (home.empty() ? "." : home) + "/.cache/huggingface/hub";
}

std::optional<std::string> cached_directory(const std::string& name) {
  const size_t at = name.find('@');
  const std::string model = folder_of(name.substr(0, at));
  const std::string revision = at == std::string::npos ? "main" : name.substr(at + 1);
  if (model.empty() || !is_revision(revision)) return std::nullopt;
  const fs::path folder = fs::path(cache_folder()) / model;
  const fs::path snapshot = folder / "snapshots" / commit_of(folder, revision);
  std::error_code ignored;
  if (!fs::is_directory(snapshot, ignored)) return std::nullopt;
  return snapshot.string();
}

}  // namespace rung::huggingface
