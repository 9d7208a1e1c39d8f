// Reads the needed parts of a 64-bit little-endian ELF file, each checked against the file's size.
// SPDX-License-Identifier: Apache-2.0
// Source: the System V ABI's "gABI" (ELF-64 object file format), whose structures the system's <elf.h> declares.
#pragma once
#include <elf.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace rung::amdgpu {

struct ElfSymbol {
  std::string name;
  uint64_t address = 0, bytes = 0;
  bool defined = false;
};

struct ElfFile {
  std::span<const std::byte> bytes;  // the whole file
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  std::vector<ElfSymbol> symbols;       // the dynamic ones, in their order
  std::vector<Elf64_Rela> relocations;  // the relocations for loading

  // Errors: the bytes are not all within the file; `what` names the part.
  Result<std::span<const std::byte>> part(uint64_t offset, uint64_t count, std::string_view what) const;
};

// Views `file`. Errors (ErrorKind::file): no ELF file, another word size or byte order, tables beyond the file's end,
// segments whose bytes are not in the file.
Result<ElfFile> read_elf(std::span<const std::byte> file);

}  // namespace rung::amdgpu
