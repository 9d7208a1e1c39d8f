// Read-only memory mapping by mmap(2).
// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/open_file.hpp"

namespace rung {

Result<std::shared_ptr<MappedFile>> MappedFile::open(const std::string& path) {
  RUNG_TRY(OpenedFile file, open_regular_file(path));
  auto size = static_cast<size_t>(file.bytes);
  void* data = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor.get(), 0) : nullptr;
  if (data == MAP_FAILED && errno == ENOMEM) return no_memory("'{}': no memory to map {} bytes", path, size);
  if (data == MAP_FAILED) return bad_file("'{}': cannot map {} bytes: {}", path, size, std::strerror(errno));
  return std::shared_ptr<MappedFile>(
      new MappedFile(path, std::move(file.descriptor), {static_cast<const std::byte*>(data), size}));
}

Status MappedFile::read(size_t at, void* to, size_t bytes) const {
  auto* next = static_cast<std::byte*>(to);
  for (size_t left = bytes; left > 0;) {
    const ssize_t got = pread(descriptor_.get(), next, left, static_cast<off_t>(at + bytes - left));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return bad_file("'{}': cannot read: {}", path_, std::strerror(errno));
    if (got == 0) return bad_file("'{}' was cut short: wanted {} bytes from {} on", path_, bytes, at);
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

std::shared_ptr<std::byte> MappedFile::lend(std::shared_ptr<const MappedFile> file, std::span<const std::byte> part) {
  auto* data = const_cast<std::byte*>(part.data());
  return {data, [file = std::move(file), part](std::byte*) { file->release(part); }};
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace rung
