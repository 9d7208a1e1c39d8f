// Unpacks the bundles of code objects that clang has compressed: a header, then one stream of zlib or zstd.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.hpp"

namespace rung::amdgpu {

// Views the file.
struct CompressedBundle {
  enum class Method : uint16_t { zlib, zstd } method;
  uint64_t unpacked_bytes = 0;        // according to the header
  std::span<const std::byte> packed;  // begins with the stream; may go on behind its end
};

// Returns nullopt if no bundle begins where `rest` does. Errors (ErrorKind::file): the bundle is cut short.
Result<std::optional<CompressedBundle>> bundle_at(std::span<const std::byte> rest);

struct UnpackedBundle {
  std::vector<std::byte> bytes;
  size_t packed_bytes = 0;  // the stream's length
};
// Unpacks a bundle, and subtracts its bytes from `left`, the bytes that a file's bundles may still become. Errors
// (ErrorKind::file): damaged data, a size other than the header's; more than is left, before memory is taken.
Result<UnpackedBundle> unpack(const CompressedBundle& bundle, uint64_t& left);

}  // namespace rung::amdgpu
