// The part of the zip format that .npz files use: stored and deflated members, found through the central directory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace rung {

struct ZipMember {
  std::string name;
  std::span<const std::byte> packed;  // within the archive
  uint64_t size = 0;                  // unpacked; at most what deflate can make of `packed`
  uint32_t crc = 0;
  bool deflated = false;
};

// Reads the members: zip64 is accepted; encrypted, split and overlapping ones are not. `path` is for errors.
Result<std::vector<ZipMember>> read_zip_directory(std::span<const std::byte> archive, const std::string& path);

// Unpacks a member in pieces, so that its first bytes can be judged before memory is taken for the rest. The caller
// names the member in errors.
class ZipReader {
 public:
  explicit ZipReader(const ZipMember& member);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  // Fills `out` entirely or fails. `out` must not reach beyond the member's size.
  Status read(std::span<std::byte> out);
  // Ends a reading at the last byte: the member must end here, with the right checksum.
  Status finish();
  uint64_t remaining() const { return member_.size - done_; }

 private:
  struct Inflater;
  Status inflate_into(std::span<std::byte> out);

  const ZipMember& member_;
  uint64_t done_ = 0;
  uint32_t crc_ = 0;
  std::unique_ptr<Inflater> inflater_;
};

// Writes stored members only. Members and archive stay below 4 GiB.
class ZipWriter {
 public:
  explicit ZipWriter(std::ostream& out) : out_(out) {}
  // Adds a member whose content is `head` followed by `body`.
  Status add(const std::string& name, std::string_view head, std::span<const std::byte> body);
  // Writes the directory. The stream's owner checks that all of it was written.
  void finish();

 private:
  std::ostream& out_;
  std::string directory_;
  uint64_t offset_ = 0;
  uint16_t count_ = 0;
};

}  // namespace rung
