// Searches for the beginnings of code objects and of compressed bundles.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/code/embedded_objects.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "amdgpu/code/compressed_bundle.hpp"
#include "base/limits.hpp"

namespace rung::amdgpu {
namespace {

constexpr uint16_t kMachineAmdgpu = 224;  // EM_AMDGPU

// Returns the bytes from the header to the end of the section headers, which stand last; 0: no code object begins at
// byte `at`. Errors: the object there is cut short.
Result<size_t> object_bytes(std::span<const std::byte> file, size_t at) {
  const auto rest = file.subspan(at);
  Elf64_Ehdr header;
  if (rest.size() < sizeof header) return 0;
  std::memcpy(&header, rest.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return 0;
  if (header.e_machine != kMachineAmdgpu) return 0;
  const uint64_t sections = uint64_t{header.e_shnum} * header.e_shentsize;
  if (header.e_shoff > rest.size() || sections > rest.size() - header.e_shoff)
    return bad_file("the code object at byte {} is cut short: got {} bytes, its {} section headers begin at {}", at,
                    rest.size(), header.e_shnum, header.e_shoff);
  return std::max<size_t>(sizeof header, static_cast<size_t>(header.e_shoff + sections));
}

using Visit = std::function<Status(std::span<const std::byte>)>;

constexpr std::string_view kElf(ELFMAG, SELFMAG), kCompressed = "CCOB";

// The state of the search: how many objects were found, and where it goes on.
struct Found {
  size_t objects = 0, end = 0;
};

Result<Found> visit_object(std::span<const std::byte> file, size_t at, const Visit& visit) {
  RUNG_TRY(const size_t bytes, object_bytes(file, at));
  if (bytes == 0) return Found{0, at + kElf.size()};
  RUNG_CHECK(visit(file.subspan(at, bytes)));
  return Found{1, at + bytes};
}

// Returns the place of a word from `at` on; the file's end if there is none.
size_t find_from(std::span<const std::byte> file, size_t at, std::string_view word) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  return std::min(text.find(word, at), file.size());
}

Result<size_t> visit_unpacked(std::span<const std::byte> file, const Visit& visit) {
  size_t objects = 0;
  for (size_t at = 0; (at = find_from(file, at, kElf)) < file.size();) {
    RUNG_TRY(const Found found, visit_object(file, at, visit));
    objects += found.objects, at = found.end;
  }
  return objects;
}

// `left` is the same as for unpack().
Result<Found> visit_bundle(std::span<const std::byte> file, size_t at, const Visit& visit, uint64_t& left) {
  const auto bundle = bundle_at(file.subspan(at));
  if (!bundle) return fail_in(bundle.error(), "the compressed bundle at byte {}", at);
  if (!*bundle) return Found{0, at + kCompressed.size()};
  const auto unpacked = unpack(**bundle, left);
  if (!unpacked) return fail_in(unpacked.error(), "the compressed bundle at byte {}", at);
  Found found{0, static_cast<size_t>((*bundle)->packed.data() - file.data()) + unpacked->packed_bytes};
  RUNG_TRY(found.objects, visit_unpacked(unpacked->bytes, visit));
  return found;
}

}  // namespace

Status for_each_code_object(std::span<const std::byte> file, const Visit& visit) {
  size_t objects = 0, object = find_from(file, 0, kElf), bundle = find_from(file, 0, kCompressed);
  uint64_t left = kFreeBundleBytes + kMaxBundleRatio * file.size();
  while (std::min(object, bundle) < file.size()) {
    RUNG_TRY(const Found found,
             object < bundle ? visit_object(file, object, visit) : visit_bundle(file, bundle, visit, left));
    objects += found.objects;
    if (object < found.end) object = find_from(file, found.end, kElf);
    if (bundle < found.end) bundle = find_from(file, found.end, kCompressed);
  }
  if (objects == 0) return bad_file("the file has no AMD code object");
  return {};
}

}  // namespace rung::amdgpu
