// Reads a zip archive's central directory. All numbers in the format are little-endian.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/limits.hpp"
#include "import/zip.hpp"

namespace rung {
namespace {

constexpr uint32_t kEnd = 0x06054b50, kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr uint32_t kCentral = 0x02014b50, kLocal = 0x04034b50;
constexpr size_t kEndBytes = 22, kEnd64Bytes = 56, kEnd64LocatorBytes = 20, kCentralBytes = 46, kLocalBytes = 30;
constexpr size_t kMaxComment = 65535;
constexpr uint32_t kIn64 = 0xffffffff;  // a 32-bit field whose value stands in the zip64 record
constexpr uint16_t kZip64Extra = 1;
constexpr uint64_t kMaxDeflateRatio = 1032;

using Bytes = std::span<const std::byte>;

uint64_t number(Bytes bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(bytes[at + i]);
  return value;
}
uint16_t u16(Bytes bytes, size_t at) { return static_cast<uint16_t>(number(bytes, at, 2)); }
uint32_t u32(Bytes bytes, size_t at) { return static_cast<uint32_t>(number(bytes, at, 4)); }
uint64_t u64(Bytes bytes, size_t at) { return number(bytes, at, 8); }

bool holds(Bytes bytes, uint64_t at, uint64_t size) { return at <= bytes.size() && size <= bytes.size() - at; }
bool has_signature(Bytes bytes, uint64_t at, uint64_t size, uint32_t signature) {
  return holds(bytes, at, size) && u32(bytes, at) == signature;
}

struct Directory {
  uint64_t members = 0, offset = 0, size = 0;
};

// Finds the end record, which only a comment follows, whose length the record gives.
std::optional<size_t> find_end(Bytes archive) {
  if (archive.size() < kEndBytes) return std::nullopt;
  size_t last = archive.size() - kEndBytes, first = last > kMaxComment ? last - kMaxComment : 0;
  for (size_t at = last + 1; at-- > first;)
    if (u32(archive, at) == kEnd && u16(archive, at + 20) == archive.size() - at - kEndBytes) return at;
  return std::nullopt;
}

Result<Directory> find_directory(Bytes archive, const std::string& path) {
  auto end = find_end(archive);
  if (!end) return fail("'{}': not a zip archive, or cut short: it has no end record", path);
  if (u16(archive, *end + 4) != 0 || u16(archive, *end + 6) != 0)
    return fail("'{}': got one part of a split archive, wanted a whole one", path);
  Directory found{u16(archive, *end + 10), u32(archive, *end + 16), u32(archive, *end + 12)};
  if (*end >= kEnd64LocatorBytes && u32(archive, *end - kEnd64LocatorBytes) == kEnd64Locator) {
    uint64_t at = u64(archive, *end - kEnd64LocatorBytes + 8);
    if (!has_signature(archive, at, kEnd64Bytes, kEnd64)) return fail("'{}': no zip64 end record where named", path);
    found = {u64(archive, at + 32), u64(archive, at + 48), u64(archive, at + 40)};
  }
  if (!holds(archive, found.offset, found.size) || found.members > kMaxArchiveMembers)
    return fail("'{}': got a directory of {} members at {}, wanted at most {} within the archive's {} bytes", path,
                found.members, found.offset, kMaxArchiveMembers, archive.size());
  return found;
}

// The fixed part of a directory entry; 64-bit values replace it from the extra field.
struct Central {
  uint64_t packed = 0, size = 0, local = 0;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
};

// Reads zip64 values from the extra field, in this order, each only if its 32-bit field says so.
bool read_zip64(Bytes extra, Central& entry) {
  if (entry.size != kIn64 && entry.packed != kIn64 && entry.local != kIn64) return true;
  for (size_t at = 0; at + 4 <= extra.size(); at += 4 + u16(extra, at + 2)) {
    if (u16(extra, at) != kZip64Extra) continue;
    if (!holds(extra, at + 4, u16(extra, at + 2))) return false;
    Bytes values = extra.subspan(at + 4, u16(extra, at + 2));
    for (uint64_t* field : {&entry.size, &entry.packed, &entry.local}) {
      if (*field != kIn64) continue;
      if (values.size() < 8) return false;
      *field = u64(values, 0);
      values = values.subspan(8);
    }
    return true;
  }
  return true;  // really 2^32 - 1
}

// Returns a member's data. Only the local header knows its own length.
Result<Bytes> packed_data(Bytes archive, const Central& entry, const std::string& path) {
  if (!has_signature(archive, entry.local, kLocalBytes, kLocal))
    return fail("'{}': no member header at byte {}", path, entry.local);
  uint64_t start = entry.local + kLocalBytes + u16(archive, entry.local + 26) + u16(archive, entry.local + 28);
  if (!holds(archive, start, entry.packed))
    return fail("'{}': got a member of {} bytes at {}, wanted it within the archive's {} bytes", path, entry.packed,
                start, archive.size());
  return archive.subspan(start, entry.packed);
}

Status check_member(const Central& entry, const std::string& path, const std::string& name) {
  if (entry.flags & 1) return fail("'{}': member '{}' is encrypted", path, name);
  if (entry.method != 0 && entry.method != 8)
    return fail("'{}': member '{}': got compression method {}, wanted 0 (stored) or 8 (deflated)", path, name,
                entry.method);
  bool possible = entry.method == 0 ? entry.size == entry.packed : entry.size / kMaxDeflateRatio <= entry.packed;
  if (possible) return {};
  return fail("'{}': member '{}': got {} bytes packed, which cannot hold {}", path, name, entry.packed, entry.size);
}

// Reads the entry at `at` and moves `at` past it.
Result<ZipMember> read_member(Bytes archive, size_t& at, const std::string& path) {
  if (!has_signature(archive, at, kCentralBytes, kCentral))
    return fail("'{}': no directory entry at byte {}", path, at);
  size_t name_bytes = u16(archive, at + 28), extra_bytes = u16(archive, at + 30), comment = u16(archive, at + 32);
  if (!holds(archive, at + kCentralBytes, name_bytes + extra_bytes + comment))
    return fail("'{}': the directory is cut short", path);
  Central entry{u32(archive, at + 20), u32(archive, at + 24), u32(archive, at + 42),
                u16(archive, at + 8),  u16(archive, at + 10), u32(archive, at + 16)};
  std::string name(reinterpret_cast<const char*>(archive.data()) + at + kCentralBytes, name_bytes);
  if (!read_zip64(archive.subspan(at + kCentralBytes + name_bytes, extra_bytes), entry))
    return fail("'{}': member '{}': its zip64 sizes are missing", path, name);
  RUNG_CHECK(check_member(entry, path, name));
  RUNG_TRY(Bytes packed, packed_data(archive, entry, path));
  at += kCentralBytes + name_bytes + extra_bytes + comment;
  return ZipMember{std::move(name), packed, entry.size, entry.crc, entry.method == 8};
}

}  // namespace

Result<std::vector<ZipMember>> read_zip_directory(Bytes archive, const std::string& path) {
  RUNG_TRY(auto directory, find_directory(archive, path));
  std::vector<ZipMember> members;
  size_t at = directory.offset;
  uint64_t packed = 0;
  for (uint64_t i = 0; i < directory.members; ++i) {
    RUNG_TRY(auto member, read_member(archive, at, path));
    packed += member.packed.size();
    // Members that share bytes could unpack to far more than the archive's size allows.
    if (packed > archive.size()) return fail("'{}': members overlap", path);
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace rung
