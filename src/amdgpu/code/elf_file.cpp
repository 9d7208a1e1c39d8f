// Reads the header, then segments, then sections, and keeps the dynamic symbols and relocations.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/code/elf_file.hpp"

#include <algorithm>
#include <cstring>

namespace rung::amdgpu {
namespace {

constexpr size_t kMostSymbols = 1'000'000;

template <class T>
T as(std::span<const std::byte> bytes) {
  T made;
  std::memcpy(&made, bytes.data(), sizeof made);
  return made;
}

// Reads a table of `bytes` bytes as entries of T.
template <class T>
Result<std::vector<T>> table(const ElfFile& file, uint64_t offset, uint64_t bytes, std::string_view what) {
  RUNG_TRY(auto all, file.part(offset, bytes, what));
  if (all.size() % sizeof(T) != 0)
    return bad_file("ELF: {}: got {} bytes, wanted a multiple of {}", what, all.size(), sizeof(T));
  if (all.size() / sizeof(T) > kMostSymbols)
    return bad_file("ELF: {}: got {} entries, at most {} are read", what, all.size() / sizeof(T), kMostSymbols);
  std::vector<T> made;
  for (size_t at = 0; at < all.size(); at += sizeof(T)) made.push_back(as<T>(all.subspan(at)));
  return made;
}

Result<std::string> name_at(std::span<const std::byte> strings, uint64_t offset) {
  if (offset >= strings.size()) return bad_file("ELF: a symbol's name: got offset {} of {}", offset, strings.size());
  const auto from = strings.subspan(offset);
  const auto end = std::find(from.begin(), from.end(), std::byte{0});
  if (end == from.end()) return bad_file("ELF: a symbol's name does not end within its table");
  return std::string(reinterpret_cast<const char*>(from.data()), static_cast<size_t>(end - from.begin()));
}

Status read_symbols(ElfFile& file, const Elf64_Shdr& section, std::span<const Elf64_Shdr> sections) {
  if (section.sh_link >= sections.size())
    return bad_file("ELF: symbols: got strings in section {} of {}", section.sh_link, sections.size());
  const Elf64_Shdr& names = sections[section.sh_link];
  RUNG_TRY(auto strings, file.part(names.sh_offset, names.sh_size, "symbol names"));
  RUNG_TRY(auto symbols, table<Elf64_Sym>(file, section.sh_offset, section.sh_size, "symbols"));
  for (const Elf64_Sym& symbol : symbols) {
    RUNG_TRY(std::string name, name_at(strings, symbol.st_name));
    file.symbols.push_back({std::move(name), symbol.st_value, symbol.st_size, symbol.st_shndx != SHN_UNDEF});
  }
  return {};
}

Status read_sections(ElfFile& file) {
  const Elf64_Ehdr& header = file.header;
  if (header.e_shnum == 0) return bad_file("ELF: no section headers, wanted those of symbols");
  if (header.e_shentsize != sizeof(Elf64_Shdr))
    return bad_file("ELF: section headers: got {} bytes each, wanted {}", header.e_shentsize, sizeof(Elf64_Shdr));
  RUNG_TRY(auto sections,
           table<Elf64_Shdr>(file, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), "section headers"));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type == SHT_DYNSYM && file.symbols.empty()) RUNG_CHECK(read_symbols(file, section, sections));
    if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC)) continue;
    RUNG_TRY(auto more, table<Elf64_Rela>(file, section.sh_offset, section.sh_size, "relocations"));
    file.relocations.insert(file.relocations.end(), more.begin(), more.end());
  }
  return {};
}

Status read_segments(ElfFile& file) {
  const Elf64_Ehdr& header = file.header;
  if (header.e_phnum == 0) return bad_file("ELF: no program headers: nothing to load");
  if (header.e_phentsize != sizeof(Elf64_Phdr))
    return bad_file("ELF: program headers: got {} bytes each, wanted {}", header.e_phentsize, sizeof(Elf64_Phdr));
  RUNG_TRY(file.segments,
           table<Elf64_Phdr>(file, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr), "program headers"));
  for (const Elf64_Phdr& segment : file.segments)
    RUNG_CHECK(file.part(segment.p_offset, segment.p_filesz, "a segment"));
  return {};
}

}  // namespace

Result<std::span<const std::byte>> ElfFile::part(uint64_t offset, uint64_t count, std::string_view what) const {
  if (offset > bytes.size() || count > bytes.size() - offset)
    return bad_file("ELF: {}: got {} bytes at {}, the file has {}", what, count, offset, bytes.size());
  return bytes.subspan(offset, count);
}

Result<ElfFile> read_elf(std::span<const std::byte> file) {
  ElfFile made;
  made.bytes = file;
  if (file.size() < SELFMAG || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
    return bad_file("not an ELF file: it does not begin with 7f 'ELF'");
  RUNG_TRY(auto front, made.part(0, sizeof made.header, "the header"));
  made.header = as<Elf64_Ehdr>(front);
  if (made.header.e_ident[EI_CLASS] != ELFCLASS64 || made.header.e_ident[EI_DATA] != ELFDATA2LSB)
    return bad_file("ELF: got class {} and byte order {}, wanted 64 bits (2) and little-endian (1)",
                    made.header.e_ident[EI_CLASS], made.header.e_ident[EI_DATA]);
  RUNG_CHECK(read_segments(made));
  RUNG_CHECK(read_sections(made));
  return made;
}

}  // namespace rung::amdgpu
