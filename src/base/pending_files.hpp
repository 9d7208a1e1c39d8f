// Files that appear together, each whole or not at all: a file has no name until all its content is on storage.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace rung {

using WriteContent = std::function<Status(std::ostream&)>;

// Destroyed without commit(), or ended by any signal before, it leaves no file. (Where the file system has no unnamed
// files, a signal that ends the process leaves a ".rung.*" beside the target.)
//
// A target keeps its mode, and its owner where this process may give files away; a symbolic link's target is the file
// that it points to. Anything but a regular file (a device, a FIFO) cannot be replaced and is written at once.
class PendingFiles {
 public:
  PendingFiles();
  ~PendingFiles();
  PendingFiles(const PendingFiles&) = delete;
  PendingFiles& operator=(const PendingFiles&) = delete;

  // Writes one file onto storage. Errors: an unwritable file or folder, a full disk, an error of `write`.
  Status add(const std::string& path, const WriteContent& write);
  Status add(const std::string& path, std::string_view content);
  // Puts the files in place, in the order in which they were added.
  Status commit();

 private:
  class File;
  std::vector<std::unique_ptr<File>> files_;
};

// Finds an unwritable folder before the work whose results go there, not after it; leaves nothing. "": the current one.
Status check_writable_folder(const std::string& folder);

}  // namespace rung
