// Reads the entries of a compiled GPU module, so that a test can look a kernel up where no driver is.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rung::testing {

namespace cubin {

template <class T>
T read(std::string_view bytes, size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct Section {
  uint32_t type, link;
  uint64_t offset, size;
};

// Of a 64-bit little-endian ELF file.
inline Section section(std::string_view elf, size_t index) {
  const auto at = read<uint64_t>(elf, 40) + 64 * index;
  return {read<uint32_t>(elf, at + 4), read<uint32_t>(elf, at + 40), read<uint64_t>(elf, at + 24),
          read<uint64_t>(elf, at + 32)};
}

// Names of the functions that a host can launch.
inline std::set<std::string> entries(std::string_view elf) {
  constexpr uint32_t kSymbols = 2;
  constexpr int kFunction = 2, kEntry = 0x10;
  std::set<std::string> names;
  for (size_t i = 0; i < read<uint16_t>(elf, 60); ++i) {
    const Section symbols = section(elf, i);
    if (symbols.type != kSymbols) continue;
    const uint64_t strings = section(elf, symbols.link).offset;
    for (uint64_t at = symbols.offset; at < symbols.offset + symbols.size; at += 24)
      if ((read<uint8_t>(elf, at + 4) & 15) == kFunction && (read<uint8_t>(elf, at + 5) & kEntry))
        names.insert(elf.data() + strings + read<uint32_t>(elf, at));
  }
  return names;
}

}  // namespace cubin

// Of each architecture in `image`, which nvcc made (-fatbin) and did not compress.
inline std::vector<std::set<std::string>> entries_of(const void* image) {
  constexpr std::string_view elf_magic(
      "\x7f"
      "ELF\x02\x01",
      6);
  const std::string_view header(static_cast<const char*>(image), 16);
  const std::string_view all(header.data(), cubin::read<uint16_t>(header, 6) + cubin::read<uint64_t>(header, 8));
  std::vector<std::set<std::string>> found;
  for (size_t at = all.find(elf_magic); at != all.npos; at = all.find(elf_magic, at + 1))
    found.push_back(cubin::entries(all.substr(at)));
  return found;
}

}  // namespace rung::testing
