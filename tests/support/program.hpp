// Small programs that tests put in another's place.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "support/temporary_directory.hpp"

namespace rung {

// A shell script that can be run; its path.
inline std::string write_program(const TemporaryDirectory& folder, const std::string& name, const std::string& script) {
  const std::string path = folder.write(name, "#!/bin/sh\n" + script + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

}  // namespace rung
