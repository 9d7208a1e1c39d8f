// Reads the kernels of an embedded code object of AMD's, so that a test can look one up, and hold a launch against its
// limits, where no device is.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "support/cubin.hpp"

namespace rung::testing {

struct CompiledKernel {
  uint32_t shared_bytes = 0;  // static ones; a launch adds to them
  uint32_t most_threads = 0;  // of a block
};

namespace code_object {

using cubin::read;

// The bytes of the file from an address on.
inline std::string_view at_address(std::string_view elf, uint64_t address) {
  for (size_t i = 0; i < read<uint16_t>(elf, 60); ++i) {
    const auto row = read<uint64_t>(elf, 40) + 64 * i;
    const auto begin = read<uint64_t>(elf, row + 16), bytes = read<uint64_t>(elf, row + 32);
    if (begin != 0 && begin <= address && address < begin + bytes)
      return elf.substr(read<uint64_t>(elf, row + 24) + address - begin);
  }
  return {};
}

// The number behind a key of the metadata, which is MessagePack: of 7, 8, 16 or 32 bits, the highest byte first.
inline uint32_t number(std::string_view bytes) {
  const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(bytes[i])}; };
  switch (byte(0)) {
    case 0xcc:
      return byte(1);
    case 0xcd:
      return byte(1) << 8 | byte(2);
    case 0xce:
      return byte(1) << 24 | byte(2) << 16 | byte(3) << 8 | byte(4);
    default:
      return byte(0);
  }
}

// The most threads that the metadata promise of a kernel. Of each kernel the keys are in alphabetical order: this one
// is just before its name.
inline uint32_t most_threads(std::string_view elf, const std::string& kernel) {
  constexpr std::string_view key = ".max_flat_workgroup_size", name_key = "\xa5.name";
  for (size_t at = elf.find(key); at != elf.npos; at = elf.find(key, at + 1)) {
    const size_t name = elf.find(name_key, at) + name_key.size();
    if (elf.substr(elf.find(kernel, name), kernel.size() + 1) == kernel + "\xbb" && elf.find(kernel, name) <= name + 2)
      return number(elf.substr(at + key.size()));
  }
  return 0;
}

}  // namespace code_object

inline bool is_code_object(const void* image) {
  return std::string_view(static_cast<const char*>(image), 4) ==
         "\x7f"
         "ELF";
}

// By name: those that have code and a descriptor, whose first word is the shared memory.
inline std::map<std::string, CompiledKernel> kernels_of(const void* image) {
  const std::string_view header(static_cast<const char*>(image), 64);
  const std::string_view elf(header.data(),
                             cubin::read<uint64_t>(header, 40) + uint64_t{64} * cubin::read<uint16_t>(header, 60));
  std::map<std::string, CompiledKernel> found;
  for (size_t i = 0; i < cubin::read<uint16_t>(elf, 60); ++i) {
    constexpr uint32_t kDynamicSymbols = 11;
    const auto symbols = cubin::section(elf, i);
    if (symbols.type != kDynamicSymbols) continue;
    const uint64_t strings = cubin::section(elf, symbols.link).offset;
    for (uint64_t at = symbols.offset; at < symbols.offset + symbols.size; at += 24) {
      std::string name = elf.data() + strings + cubin::read<uint32_t>(elf, at);
      if (!name.ends_with(".kd")) continue;
      const auto descriptor = code_object::at_address(elf, cubin::read<uint64_t>(elf, at + 8));
      name.resize(name.size() - 3);
      found[name] = {cubin::read<uint32_t>(descriptor, 0), code_object::most_threads(elf, name)};
    }
  }
  return found;
}

}  // namespace rung::testing
