// Code objects made without a compiler: an ELF file around words of machine code, for whichever architecture.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <elf.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "amdgpu/isa/isa.hpp"

namespace rung::testing {

struct MadeArgument {
  std::string kind;
  uint32_t offset = 0, size = 0;
};
struct MadeKernel {
  std::string name;
  std::vector<uint32_t> code{0xbf810000};  // s_endpgm
  std::vector<MadeArgument> arguments;
  uint32_t argument_bytes = 0;
  uint32_t lds_bytes = 0, scratch_bytes = 0, most_threads = 256;
  uint32_t sgprs = 16, vgprs = 8;
  uint32_t rsrc1 = 0, rsrc2 = 2 << 1 | 1 << 7, rsrc3 = 1;  // two user SGPRs, group id x; AGPRs from v8 on
  uint16_t properties = 1 << 3;                            // the user SGPRs point to the arguments
};

class MadeCodeObject {
 public:
  explicit MadeCodeObject(std::vector<MadeKernel> kernels, amdgpu::Isa isa = amdgpu::Isa::gfx942,
                          std::vector<Elf64_Rela> relocations = {})
      : kernels_(std::move(kernels)), isa_(isa), relocations_(std::move(relocations)) {
    make();
  }
  const std::string& file() const { return file_; }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(file_)); }
  static constexpr uint64_t kCodeAddress = 0x10000;  // of the first kernel; others begin at multiples of 256 behind it

 private:
  template <class T>
  void put(const T& value) {
    file_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void put_at(size_t at, const T& value) {
    std::memcpy(file_.data() + at, &value, sizeof value);
  }
  void align(size_t to) { file_.resize((file_.size() + to - 1) / to * to); }

  std::string metadata() const {
    nlohmann::json kernels = nlohmann::json::array();
    for (const MadeKernel& kernel : kernels_) {
      nlohmann::json arguments = nlohmann::json::array();
      for (const MadeArgument& argument : kernel.arguments)
        arguments.push_back({{".value_kind", argument.kind}, {".offset", argument.offset}, {".size", argument.size}});
      kernels.push_back({{".name", kernel.name},
                         {".symbol", kernel.name + ".kd"},
                         {".kernarg_segment_size", kernel.argument_bytes},
                         {".group_segment_fixed_size", kernel.lds_bytes},
                         {".private_segment_fixed_size", kernel.scratch_bytes},
                         {".max_flat_workgroup_size", kernel.most_threads},
                         {".sgpr_count", kernel.sgprs},
                         {".vgpr_count", kernel.vgprs},
                         {".args", arguments}});
    }
    const auto packed = nlohmann::json::to_msgpack({{"amdhsa.kernels", kernels}, {"amdhsa.version", {1, 2}}});
    return {packed.begin(), packed.end()};
  }

  uint64_t code_address(size_t index) const {
    uint64_t at = kCodeAddress;
    for (size_t i = 0; i < index; ++i) at += (kernels_[i].code.size() * 4 + 255) / 256 * 256;
    return at;
  }

  void make() {
    constexpr size_t kSegments = 3, kSections = 4;
    file_.resize(sizeof(Elf64_Ehdr) + kSegments * sizeof(Elf64_Phdr));
    const size_t note = file_.size();
    const std::string words = metadata();
    put(Elf64_Nhdr{7, static_cast<uint32_t>(words.size()), 32});
    file_ += std::string("AMDGPU\0\0", 8) + words;
    align(8);
    const size_t note_end = file_.size();
    std::vector<size_t> descriptors;
    align(64);
    for (size_t i = 0; i < kernels_.size(); ++i) descriptors.push_back(file_.size()), put_descriptor(i);
    const size_t symbols = file_.size();
    std::string names(1, '\0');
    put(Elf64_Sym{});
    auto symbol = [&](const std::string& name, uint8_t type, uint64_t at, uint64_t bytes) {
      put(Elf64_Sym{static_cast<uint32_t>(names.size()), static_cast<uint8_t>(STB_GLOBAL << 4 | type), STV_PROTECTED, 1,
                    at, bytes});
      names += name + '\0';
    };
    for (size_t i = 0; i < kernels_.size(); ++i) {
      symbol(kernels_[i].name, STT_FUNC, code_address(i), kernels_[i].code.size() * 4);
      symbol(kernels_[i].name + ".kd", STT_OBJECT, descriptors[i], 64);
    }
    const size_t strings = file_.size();
    file_ += names;
    align(8);
    const size_t relocations = file_.size();
    for (const Elf64_Rela& each : relocations_) put(each);
    const size_t data_end = file_.size();
    file_.resize(kCodeAddress);
    for (size_t i = 0; i < kernels_.size(); ++i) {
      file_.resize(code_address(i));
      for (uint32_t word : kernels_[i].code) put(word);
    }
    const size_t code_end = file_.size();
    align(8);
    const size_t sections = file_.size();
    put(Elf64_Shdr{});
    put(Elf64_Shdr{0, SHT_DYNSYM, SHF_ALLOC, symbols, symbols, strings - symbols, 2, 1, 8, sizeof(Elf64_Sym)});
    put(Elf64_Shdr{0, SHT_STRTAB, SHF_ALLOC, strings, strings, names.size(), 0, 0, 1, 0});
    put(Elf64_Shdr{0, SHT_RELA, SHF_ALLOC, relocations, relocations, data_end - relocations, 1, 0, 8,
                   sizeof(Elf64_Rela)});
    auto segment = [&](size_t index, uint32_t type, uint32_t flags, uint64_t from, uint64_t to) {
      put_at(sizeof(Elf64_Ehdr) + index * sizeof(Elf64_Phdr),
             Elf64_Phdr{type, flags, from, from, from, to - from, to - from, 4096});
    };
    segment(0, PT_LOAD, PF_R, 0, data_end);
    segment(1, PT_LOAD, PF_R | PF_X, kCodeAddress, code_end);
    segment(2, PT_NOTE, PF_R, note, note_end);
    put_header(kSegments, kSections, sections);
  }

  void put_header(uint16_t segments, uint16_t sections, uint64_t section_headers) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64, header.e_ident[EI_DATA] = ELFDATA2LSB, header.e_ident[EI_VERSION] = 1;
    header.e_ident[EI_OSABI] = 64, header.e_ident[EI_ABIVERSION] = 3;
    header.e_type = ET_DYN, header.e_machine = 224, header.e_version = 1;
    header.e_flags = info_of(isa_).elf_machine | 0x500;
    header.e_phoff = sizeof header, header.e_shoff = section_headers, header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr), header.e_phnum = segments;
    header.e_shentsize = sizeof(Elf64_Shdr), header.e_shnum = sections;
    put_at(0, header);
  }

  void put_descriptor(size_t index) {
    const MadeKernel& kernel = kernels_[index];
    const uint64_t at = file_.size();
    put(kernel.lds_bytes), put(kernel.scratch_bytes), put(kernel.argument_bytes), put(uint32_t{0});
    put(static_cast<int64_t>(code_address(index) - at));
    file_.append(20, '\0');
    put(kernel.rsrc3), put(kernel.rsrc1), put(kernel.rsrc2), put(kernel.properties), put(uint16_t{0}), put(uint32_t{0});
  }

  std::vector<MadeKernel> kernels_;
  amdgpu::Isa isa_;
  std::vector<Elf64_Rela> relocations_;
  std::string file_;
};

}  // namespace rung::testing
