// Unpacks a bundle in one go into memory of the size that its header tells.
// SPDX-License-Identifier: Apache-2.0
// Source: "Clang Offload Bundler" in clang's documentation (compressed offload bundle layout). After "CCOB" come 16
// bits each of version and method. Version 2 adds the bundle's length in 32 bits, version 3 in 64. Then come the
// unpacked size, in as many bits, 32 in version 1; 64 bits of a hash; the stream.
#include "amdgpu/code/compressed_bundle.hpp"

#include <zlib.h>
#include <zstd.h>

#include <cstring>
#include <limits>
#include <string_view>

#include "base/limits.hpp"

namespace rung::amdgpu {
namespace {

constexpr std::string_view kMagic = "CCOB";
constexpr size_t kHashBytes = 8;

template <class T>
std::optional<T> read_at(std::span<const std::byte> from, size_t at) {
  T value;
  if (from.size() < at + sizeof value) return std::nullopt;
  std::memcpy(&value, from.data() + at, sizeof value);
  return value;
}
// Reads a size of 4 or 8 bytes.
std::optional<uint64_t> size_at(std::span<const std::byte> from, size_t at, size_t width) {
  if (width == 8) return read_at<uint64_t>(from, at);
  const auto value = read_at<uint32_t>(from, at);
  return value ? std::optional<uint64_t>(*value) : std::nullopt;
}

// Returns whether a stream of the method begins here: zlib's two bytes are a multiple of 31 and name its one method.
bool begins_stream(std::span<const std::byte> stream, CompressedBundle::Method method) {
  if (method == CompressedBundle::Method::zstd) return read_at<uint32_t>(stream, 0) == uint32_t{ZSTD_MAGICNUMBER};
  if (stream.size() < 2) return false;
  const auto first = static_cast<unsigned>(stream[0]), second = static_cast<unsigned>(stream[1]);
  return (first & 0xf) == Z_DEFLATED && (first * 256 + second) % 31 == 0;
}

Status inflate_all(UnpackedBundle& to, std::span<const std::byte> from) {
  constexpr size_t kMost = std::numeric_limits<uInt>::max();
  z_stream z{};
  if (inflateInit(&z) != Z_OK) return no_memory("out of memory for unpacking");
  z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
  z.avail_in = static_cast<uInt>(std::min(from.size(), kMost));
  Bytef none = 0;  // zlib wants a place even if nothing comes
  z.next_out = to.bytes.empty() ? &none : reinterpret_cast<Bytef*>(to.bytes.data());
  z.avail_out = static_cast<uInt>(to.bytes.size());
  const int code = inflate(&z, Z_FINISH);
  const uint64_t unpacked = z.total_out;
  to.packed_bytes = z.total_in;
  inflateEnd(&z);
  if (code == Z_BUF_ERROR && unpacked == to.bytes.size()) return bad_file("it unpacks to more than that");
  if (code != Z_STREAM_END) return bad_file("its data is damaged or cut short at byte {}", to.packed_bytes);
  if (unpacked != to.bytes.size()) return bad_file("it unpacks to {}", unpacked);
  return {};
}

Status unpack_frame(UnpackedBundle& to, std::span<const std::byte> from) {
  to.packed_bytes = ZSTD_findFrameCompressedSize(from.data(), from.size());
  if (ZSTD_isError(to.packed_bytes))
    return bad_file("its data is damaged or cut short: {}", ZSTD_getErrorName(to.packed_bytes));
  const size_t unpacked = ZSTD_decompress(to.bytes.data(), to.bytes.size(), from.data(), to.packed_bytes);
  if (ZSTD_isError(unpacked)) return bad_file("its data is damaged: {}", ZSTD_getErrorName(unpacked));
  if (unpacked != to.bytes.size()) return bad_file("it unpacks to {}", unpacked);
  return {};
}

}  // namespace

Result<std::optional<CompressedBundle>> bundle_at(std::span<const std::byte> rest) {
  if (rest.size() < kMagic.size() || std::memcmp(rest.data(), kMagic.data(), kMagic.size()) != 0) return std::nullopt;
  const auto version = read_at<uint16_t>(rest, 4), method = read_at<uint16_t>(rest, 6);
  if (!version || !method || *version < 1 || *version > 3 || *method > 1) return std::nullopt;
  const size_t width = *version == 3 ? 8 : 4, sizes_at = kMagic.size() + 4;
  const size_t unpacked_at = *version == 1 ? sizes_at : sizes_at + width;
  const size_t header_bytes = unpacked_at + width + kHashBytes;
  const auto bytes = *version == 1 ? rest.size() : size_at(rest, sizes_at, width);
  const auto unpacked = size_at(rest, unpacked_at, width);
  if (!bytes || !unpacked || rest.size() < header_bytes) return std::nullopt;
  CompressedBundle bundle{static_cast<CompressedBundle::Method>(*method), *unpacked, rest.subspan(header_bytes)};
  if (!begins_stream(bundle.packed, bundle.method)) return std::nullopt;
  if (*bytes > rest.size()) return bad_file("it is cut short: got {} bytes of {}", rest.size(), *bytes);
  if (*bytes < header_bytes) return bad_file("got {} bytes, fewer than its header", *bytes);
  bundle.packed = bundle.packed.first(*bytes - header_bytes);
  return bundle;
}

Result<UnpackedBundle> unpack(const CompressedBundle& bundle, uint64_t& left) {
  if (bundle.unpacked_bytes > kMaxUnpackedBundleBytes)
    return bad_file("it unpacks to {} bytes, wanted at most {}", bundle.unpacked_bytes, kMaxUnpackedBundleBytes);
  if (bundle.unpacked_bytes > left)
    return bad_file("it unpacks to {} bytes, out of proportion: {} are left of {} times the file",
                    bundle.unpacked_bytes, left, kMaxBundleRatio);
  left -= bundle.unpacked_bytes;
  UnpackedBundle made;
  made.bytes.resize(bundle.unpacked_bytes);
  const Status done = bundle.method == CompressedBundle::Method::zlib ? inflate_all(made, bundle.packed)
                                                                      : unpack_frame(made, bundle.packed);
  if (!done) return fail_in(done.error(), "of {} bytes unpacked", bundle.unpacked_bytes);
  return made;
}

}  // namespace rung::amdgpu
