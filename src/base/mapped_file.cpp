// Read-only memory mapping by mmap(2).
// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rung {

Result<std::shared_ptr<MappedFile>> MappedFile::open(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail("'{}': cannot open: {}", path, std::strerror(errno));
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return fail("'{}': not a regular file", path);
  }
  auto size = static_cast<size_t>(info.st_size);
  void* data = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
  if (data == MAP_FAILED) {
    int mapping_error = errno;
    ::close(fd);
    return fail("'{}': cannot map {} bytes: {}", path, size, std::strerror(mapping_error));
  }
  return std::shared_ptr<MappedFile>(new MappedFile(path, fd, static_cast<const std::byte*>(data), size));
}

Status MappedFile::read(size_t at, void* to, size_t bytes) const {
  auto* next = static_cast<std::byte*>(to);
  for (size_t left = bytes; left > 0;) {
    const ssize_t got = pread(descriptor_, next, left, static_cast<off_t>(at + bytes - left));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail("'{}': cannot read: {}", path_, std::strerror(errno));
    if (got == 0) return fail("'{}' was cut short: wanted {} bytes from {} on", path_, bytes, at);
    next += got;
    left -= static_cast<size_t>(got);
  }
  return {};
}

void MappedFile::release(std::span<const std::byte> part) const {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));  // the mapping itself begins at a page
  auto offset = static_cast<size_t>(part.data() - data_);
  size_t begin = (offset + page - 1) / page * page, end = (offset + part.size()) / page * page;
  if (begin < end) madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<std::byte*>(data_), size_);
  ::close(descriptor_);
}

}  // namespace rung
