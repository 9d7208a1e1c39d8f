// All-or-nothing file writes, and bounded reads.
// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace rung {
namespace {

// The bytes must be on disk before the rename makes them visible.
void sync_to_disk(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  ::close(fd);
}

}  // namespace

Status write_file_atomically(const std::string& path, const std::function<void(std::ostream&)>& write) {
  std::string temporary = fmt::format("{}.tmp.{}", path, getpid());
  std::error_code ignored;
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    if (!out) return fail("'{}': cannot write: {}", path, std::strerror(errno));
    write(out);
    out.flush();
    if (!out) {
      std::string why = std::strerror(errno);
      out.close();
      std::filesystem::remove(temporary, ignored);
      return fail("'{}': writing failed: {}", path, why);
    }
  }
  sync_to_disk(temporary);
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  std::string why = std::strerror(errno);
  std::filesystem::remove(temporary, ignored);
  return fail("'{}': cannot replace: {}", path, why);
}

Status write_file_atomically(const std::string& path, std::string_view content) {
  return write_file_atomically(
      path, [&](std::ostream& out) { out.write(content.data(), static_cast<std::streamsize>(content.size())); });
}

Result<std::string> read_text_file(const std::string& path, size_t limit) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return fail("'{}': no such file", path);
  auto size = std::filesystem::file_size(path, error);
  if (error) return fail("'{}': {}", path, error.message());
  if (size > limit) return fail("'{}': got {} bytes, wanted at most {}", path, size, limit);
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail("'{}': cannot open: {}", path, std::strerror(errno));
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

}  // namespace rung
