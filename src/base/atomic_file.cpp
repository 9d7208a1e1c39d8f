// All-or-nothing file writes, and bounded reads.
// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/open_file.hpp"

namespace rung {
namespace {

constexpr size_t kPiece = 1 << 16;

template <class Content>
Status write_one(const std::string& path, const Content& content) {
  PendingFiles files;
  RUNG_CHECK(files.add(path, content));
  return files.commit();
}

}  // namespace

Status write_file_atomically(const std::string& path, const WriteContent& write) { return write_one(path, write); }
Status write_file_atomically(const std::string& path, std::string_view content) { return write_one(path, content); }

Result<std::string> read_text_file(const std::string& path, size_t limit) {
  RUNG_TRY(OpenedFile file, open_regular_file(path));
  if (file.bytes > limit) return bad_file("'{}': got {} bytes, wanted at most {}", path, file.bytes, limit);
  std::string text;
  text.reserve(file.bytes);
  while (true) {  // a file may grow meanwhile, and files of the kernel's own report 0 bytes
    const size_t size = text.size();
    text.resize(size + kPiece);
    ssize_t got = ::read(file.descriptor.get(), text.data() + size, kPiece);
    if (got < 0 && errno != EINTR) return bad_file("'{}': cannot read: {}", path, std::strerror(errno));
    text.resize(size + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (text.size() > limit) return bad_file("'{}': got more than {} bytes, wanted at most that", path, limit);
    if (got == 0) return text;
  }
}

}  // namespace rung
