// A new folder for files that nobody keeps: gone, with all in it, when its owner is.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>

#include "base/status.hpp"

namespace rung {

class ScratchFolder {
 public:
  // In the system's folder for such files (TMPDIR). Errors: it cannot be written.
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
