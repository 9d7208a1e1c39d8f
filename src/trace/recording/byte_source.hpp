// Reads the bytes of a file in order, and unpacks gzip files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/open_file.hpp"
#include "base/status.hpp"

namespace rung::trace {

class ByteSource {
 public:
  // Errors: those of open_regular_file().
  static Result<ByteSource> open(const std::string& path);
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  // Fills `to`; returns fewer bytes only at the end. Errors: the disk's, and gzip data that is damaged or truncated.
  Result<size_t> read(char* to, size_t bytes);
  uint64_t file_bytes() const { return file_.bytes; }  // on the disk
  bool packed() const { return inflater_ != nullptr; }
  const std::string& path() const { return path_; }

 private:
  struct Inflater;
  ByteSource(std::string path, OpenedFile file);
  Result<size_t> read_file(char* to, size_t bytes);
  Result<size_t> inflate_into(char* to, size_t bytes);

  std::string path_;
  OpenedFile file_;
  uint64_t at_ = 0;  // in the file
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace rung::trace
