// Makes a folder with an unused name, and removes it with its content.
// SPDX-License-Identifier: Apache-2.0
#include "base/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace rung {

namespace fs = std::filesystem;

Result<ScratchFolder> ScratchFolder::create() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return bad_file("no folder for temporary files: {}", error.message());
  std::string path = (parent / "rung-XXXXXX").string();
  if (!mkdtemp(path.data())) return bad_file("cannot make a folder in '{}': {}", parent.string(), std::strerror(errno));
  return ScratchFolder(std::move(path));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace rung
