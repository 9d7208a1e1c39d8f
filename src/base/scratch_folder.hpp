// A new folder for temporary files: it goes, with all its content, when its owner does.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>

#include "base/status.hpp"

namespace rung {

class ScratchFolder {
 public:
  // Makes a folder in the system's folder for temporary files (TMPDIR). Errors: it cannot be written.
  static Result<ScratchFolder> create();
  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }

  std::string operator/(std::string_view name) const { return path_ + '/' + std::string(name); }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace rung
