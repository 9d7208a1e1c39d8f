// Opens a file before looking at it: between a look at the path and the opening it could become another file.
// SPDX-License-Identifier: Apache-2.0
#include "base/open_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rung {
namespace {

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<OpenedFile> open_regular_file(const std::string& path) {
  if (path.find('\0') != std::string::npos)  // the system would end the name there, and open another file
    return bad_file("'{}': got a file name with a NUL in it", path.substr(0, path.find('\0')));
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file && errno == ENOENT) return bad_file("'{}': no such file", path);
  if (!file) return bad_file("'{}': cannot open: {}", path, std::strerror(errno));
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return bad_file("'{}': cannot open: {}", path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return bad_file("'{}': got {}, wanted a regular file", path, kind_of(info.st_mode));
  return OpenedFile{std::move(file), static_cast<uint64_t>(info.st_size)};
}

}  // namespace rung
