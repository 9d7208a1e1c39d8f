// A file mapped read-only into memory; pages are read when first touched.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/open_file.hpp"

namespace rung {

class MappedFile {
 public:
  // Maps a file. Errors: it is missing, no regular file, or cannot be mapped; each names the path and the reason.
  static Result<std::shared_ptr<MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Copies bytes from the file itself. Another process may cut a file short at any time: touching the mapping is then a
  // fault of this process, whereas this call returns an error.
  Status read(size_t at, void* to, size_t bytes) const;
  // Lets the system drop the whole pages within `part` from memory; reading them again brings them back.
  void release(std::span<const std::byte> part) const;
  const std::string& path() const { return path_; }
  // Returns `part` as a holder of its file that releases the part at the end, so that a model that is loaded weight by
  // weight is never in memory as a whole.
  static std::shared_ptr<std::byte> lend(std::shared_ptr<const MappedFile> file, std::span<const std::byte> part);

 private:
  MappedFile(std::string path, Descriptor descriptor, std::span<const std::byte> bytes)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), data_(bytes.data()), size_(bytes.size()) {}
  std::string path_;
  Descriptor descriptor_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace rung
