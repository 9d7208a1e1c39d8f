// Opens a file that somebody named. If it is no regular file, the error says what it is, without waiting for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "base/status.hpp"

namespace rung {

// Owns a file descriptor; negative: none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

struct OpenedFile {
  Descriptor descriptor;
  uint64_t bytes = 0;
};

// Opens a file for reading. Errors: a name with a NUL, missing, unreadable, a folder, a FIFO (which is not waited on),
// a device, a socket.
Result<OpenedFile> open_regular_file(const std::string& path);

}  // namespace rung
