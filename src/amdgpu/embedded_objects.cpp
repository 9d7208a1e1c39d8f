// Searches for the beginnings of code objects and of compressed bundles.
// SPDX-License-Identifier: Apache-2.0
// Source: "Clang Offload Bundler" in clang's documentation (compressed bundles).
#include "amdgpu/embedded_objects.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace rung::amdgpu {
namespace {

constexpr uint16_t kMachineAmdgpu = 224;  // EM_AMDGPU

// From the header to the end of the section headers, which stand last; 0: no code object begins at byte `at`.
// Errors: one does, and is cut short.
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

// "CCOB", then 16 bits each of the header's version and of the method.
struct CompressedBundle {
  uint16_t version, method;
};
std::optional<CompressedBundle> compressed_bundle(std::string_view file) {
  constexpr std::string_view magic = "CCOB";
  constexpr uint16_t kVersions = 3, kMethods = 2;  // known ones
  for (size_t at = file.find(magic); at != file.npos; at = file.find(magic, at + 1)) {
    CompressedBundle bundle;
    if (file.size() - at < magic.size() + sizeof bundle) break;
    std::memcpy(&bundle, file.data() + at + magic.size(), sizeof bundle);
    if (bundle.version >= 1 && bundle.version <= kVersions && bundle.method < kMethods) return bundle;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::span<const std::byte>>> find_code_objects(std::span<const std::byte> file) {
  std::vector<std::span<const std::byte>> found;
  const char magic[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3};
  const auto* begin = reinterpret_cast<const char*>(file.data());
  const char* const end = begin + file.size();
  for (const char* at = begin; (at = std::search(at, end, magic, magic + sizeof magic)) != end;) {
    const auto from = static_cast<size_t>(at - begin);
    RUNG_TRY(const size_t bytes, object_bytes(file, from));
    if (bytes) found.push_back(file.subspan(from, bytes));
    at += std::max<size_t>(bytes, sizeof magic);
  }
  if (!found.empty()) return found;
  if (const auto bundle = compressed_bundle({begin, file.size()}))
    return bad_file("its code objects are in a bundle compressed by {}; clang-offload-bundler --unbundle unpacks it",
                    bundle->method == 0 ? "zlib" : "zstd");
  return bad_file("no code object of AMD's is in the file");
}

}  // namespace rung::amdgpu
