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
  if (data == MAP_FAILED) return fail("'{}': cannot map {} bytes: {}", path, size, std::strerror(errno));
  return std::shared_ptr<MappedFile>(new MappedFile(path, static_cast<const std::byte*>(data), size));
}

void MappedFile::release(std::span<const std::byte> part) const {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));  // the mapping itself begins at a page
  auto offset = static_cast<size_t>(part.data() - data_);
  size_t begin = (offset + page - 1) / page * page, end = (offset + part.size()) / page * page;
  if (begin < end) madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace rung
