// Reads a file's segments and relocations, then for each kernel in its note the note's words and the descriptor.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/code/code_object.hpp"

#include <algorithm>
#include <cstring>

#include "amdgpu/code/elf_file.hpp"
#include "amdgpu/code/msgpack.hpp"
#include "base/json.hpp"

namespace rung::amdgpu {
namespace {

using nlohmann::json;

constexpr uint16_t kMachineAmdgpu = 224;       // EM_AMDGPU
constexpr uint8_t kOsAbiHsa = 64;              // ELFOSABI_AMDGPU_HSA
constexpr uint8_t kAbiVersions[] = {2, 3, 4};  // for code object versions 4, 5 and 6
constexpr uint32_t kMachMask = 0xff;           // EF_AMDGPU_MACH
constexpr uint32_t kMetadataNote = 32;         // NT_AMDGPU_METADATA
constexpr uint64_t kMostImageBytes = uint64_t{1} << 30;
constexpr uint32_t kMostLaneScratch = 1 << 20;         // bytes; hardware gives a wave 8 MB at most
constexpr uint32_t kAbsolute64 = 3, kRelative64 = 13;  // R_AMDGPU_ABS64, R_AMDGPU_RELATIVE64

// The descriptor NAME.kd as stored in memory.
struct Descriptor {
  uint32_t lds_bytes, scratch_bytes, argument_bytes, reserved0;
  int64_t entry_offset;  // from the descriptor's own address
  uint8_t reserved1[20];
  uint32_t rsrc3, rsrc1, rsrc2;
  uint16_t properties, preload;
  uint32_t reserved2;
};
static_assert(sizeof(Descriptor) == 64);

Result<Isa> isa_of(const ElfFile& elf) {
  const Elf64_Ehdr& header = elf.header;
  if (header.e_machine != kMachineAmdgpu || header.e_ident[EI_OSABI] != kOsAbiHsa)
    return bad_file("not an AMD code object: got ELF machine {} and OS ABI {}, wanted {} and {}", header.e_machine,
                    header.e_ident[EI_OSABI], kMachineAmdgpu, kOsAbiHsa);
  const uint8_t version = header.e_ident[EI_ABIVERSION];
  if (std::find(std::begin(kAbiVersions), std::end(kAbiVersions), version) == std::end(kAbiVersions))
    return bad_file("code object: got ABI version {}, wanted 2, 3 or 4 (code object versions 4, 5 and 6)", version);
  if (auto isa = isa_of_elf_machine(header.e_flags & kMachMask)) return *isa;
  std::string known;
  for (const IsaInfo& info : kIsas) known += fmt::format("{}{}", known.empty() ? "" : ", ", info.name);
  return bad_file("code object: got the architecture of number 0x{:x}, wanted one of {}", header.e_flags & kMachMask,
                  known);
}

Status load_segments(CodeObject& object, const ElfFile& elf) {
  for (const Elf64_Phdr& header : elf.segments) {
    if (header.p_type != PT_LOAD || header.p_memsz == 0) continue;
    if (header.p_filesz > header.p_memsz || header.p_memsz > kMostImageBytes ||
        header.p_vaddr > kMostImageBytes - header.p_memsz)
      return bad_file("code object: a segment of {} bytes ({} in the file) at address 0x{:x}: at most {} are loaded",
                      header.p_memsz, header.p_filesz, header.p_vaddr, kMostImageBytes);
    if (!object.segments.empty() && header.p_vaddr < object.segments.back().address + object.segments.back().bytes)
      return bad_file("code object: the segment at address 0x{:x} begins within the one before", header.p_vaddr);
    RUNG_TRY(auto data, elf.part(header.p_offset, header.p_filesz, "a segment"));
    object.segments.push_back(
        {header.p_vaddr, header.p_memsz, data, (header.p_flags & PF_X) != 0, (header.p_flags & PF_W) != 0});
  }
  if (object.segments.empty()) return bad_file("code object: no segment to load");
  return {};
}

// A note is a name and a description, each padded to four bytes.
Result<std::span<const std::byte>> metadata_note(const ElfFile& elf) {
  for (const Elf64_Phdr& header : elf.segments) {
    if (header.p_type != PT_NOTE) continue;
    RUNG_TRY(auto notes, elf.part(header.p_offset, header.p_filesz, "notes"));
    auto padded = [](uint64_t bytes) { return (bytes + 3) / 4 * 4; };
    while (notes.size() >= sizeof(Elf64_Nhdr)) {
      Elf64_Nhdr note;
      std::memcpy(&note, notes.data(), sizeof note);
      const uint64_t at = sizeof note + padded(note.n_namesz);
      if (at > notes.size() || note.n_descsz > notes.size() - at)
        return bad_file("code object: a note of {} bytes, {} are left", at + note.n_descsz, notes.size());
      if (note.n_type == kMetadataNote) return notes.subspan(at, note.n_descsz);
      notes = notes.subspan(std::min<uint64_t>(notes.size(), at + padded(note.n_descsz)));
    }
  }
  return bad_file("code object: no metadata (note {})", kMetadataNote);
}

const ElfSymbol* find_symbol(const ElfFile& elf, std::string_view name) {
  for (const ElfSymbol& symbol : elf.symbols)
    if (symbol.defined && symbol.name == name) return &symbol;
  return nullptr;
}

Result<uint32_t> number(const json& map, const char* key, std::optional<uint32_t> absent = {}) {
  auto it = map.find(key);
  if (it == map.end() && absent) return *absent;
  if (it == map.end()) return bad_file("no '{}'", key);
  if (!it->is_number_unsigned() || it->get<uint64_t>() > UINT32_MAX)
    return bad_file("'{}': got {}, wanted a number of 32 bits", key, describe(*it));
  return it->get<uint32_t>();
}

Result<std::string> word(const json& map, const char* key) {
  auto it = map.find(key);
  if (it == map.end() || !it->is_string())
    return bad_file("'{}': got {}, wanted a string", key, it == map.end() ? "nothing" : describe(*it));
  return it->get<std::string>();
}

Status read_arguments(KernelInfo& kernel, const json& map) {
  auto it = map.find(".args");
  if (it == map.end()) return {};
  if (!it->is_array()) return bad_file("'.args': got {}, wanted an array", describe(*it));
  for (const json& each : *it) {
    KernelArgument argument;
    if (!each.is_object()) return bad_file("an argument: got {}, wanted a map", describe(each));
    RUNG_TRY(argument.kind, word(each, ".value_kind"));
    RUNG_TRY(argument.offset, number(each, ".offset"));
    RUNG_TRY(argument.size, number(each, ".size"));
    if (uint64_t{argument.offset} + argument.size > kernel.argument_bytes)
      return bad_file("an argument of {} bytes at {}: all arguments have {}", argument.size, argument.offset,
                      kernel.argument_bytes);
    kernel.arguments.push_back(std::move(argument));
  }
  return {};
}

Status read_metadata(KernelInfo& kernel, const json& map) {
  RUNG_TRY(kernel.argument_bytes, number(map, ".kernarg_segment_size"));
  RUNG_TRY(kernel.most_threads, number(map, ".max_flat_workgroup_size"));
  RUNG_TRY(kernel.sgprs, number(map, ".sgpr_count"));
  RUNG_TRY(kernel.vgprs, number(map, ".vgpr_count"));
  RUNG_TRY(kernel.agprs, number(map, ".agpr_count", 0));
  RUNG_TRY(kernel.sgpr_spills, number(map, ".sgpr_spill_count", 0));
  RUNG_TRY(kernel.vgpr_spills, number(map, ".vgpr_spill_count", 0));
  return read_arguments(kernel, map);
}

Status read_descriptor(KernelInfo& kernel, const CodeObject& object, const ElfFile& elf, const std::string& symbol) {
  const ElfSymbol* at = find_symbol(elf, symbol);
  if (!at) return bad_file("no descriptor '{}'", valid_utf8(symbol));
  const auto bytes = object.at(at->address, sizeof(Descriptor));
  if (bytes.empty()) return bad_file("its descriptor at 0x{:x} is not in the file", at->address);
  Descriptor descriptor;
  std::memcpy(&descriptor, bytes.data(), sizeof descriptor);
  kernel.lds_bytes = descriptor.lds_bytes;
  kernel.scratch_bytes = descriptor.scratch_bytes;
  kernel.rsrc1 = descriptor.rsrc1, kernel.rsrc2 = descriptor.rsrc2, kernel.rsrc3 = descriptor.rsrc3;
  kernel.properties = descriptor.properties;
  kernel.entry = at->address + static_cast<uint64_t>(descriptor.entry_offset);
  if (kernel.scratch_bytes > kMostLaneScratch)
    return bad_file("scratch of a lane: got {} bytes, wanted at most {}", kernel.scratch_bytes, kMostLaneScratch);
  if (descriptor.argument_bytes != kernel.argument_bytes)
    return bad_file("arguments: got {} bytes in its descriptor and {} in the note", descriptor.argument_bytes,
                    kernel.argument_bytes);
  const ElfSymbol* code = find_symbol(elf, kernel.name);
  kernel.code_bytes = code && code->address == kernel.entry ? code->bytes : 4;
  const bool executable = std::any_of(object.segments.begin(), object.segments.end(), [&](const Segment& segment) {
    return segment.executable && kernel.entry >= segment.address &&
           kernel.entry - segment.address < segment.data.size();
  });
  if (!executable || kernel.entry % 4 != 0 || object.at(kernel.entry, kernel.code_bytes).empty())
    return bad_file("its {} bytes of code at 0x{:x} are not in an executable segment", kernel.code_bytes, kernel.entry);
  return {};
}

Status read_kernels(CodeObject& object, const ElfFile& elf) {
  RUNG_TRY(auto note, metadata_note(elf));
  auto metadata = parse_msgpack(note);
  if (!metadata) return bad_file("code object: metadata: {}", metadata.error().message);
  if (!metadata->is_object()) return bad_file("code object: metadata: got {}, wanted a map", describe(*metadata));
  auto kernels = metadata->find("amdhsa.kernels");
  if (kernels == metadata->end()) return {};  // the object has functions alone
  if (!kernels->is_array()) return bad_file("code object: kernels: got {}, wanted an array", describe(*kernels));
  for (const json& map : *kernels) {
    if (!map.is_object()) return bad_file("code object: a kernel: got {}, wanted a map", describe(map));
    KernelInfo kernel;
    RUNG_TRY(kernel.name, word(map, ".name"));
    RUNG_TRY(const std::string symbol, word(map, ".symbol"));
    Status read = read_metadata(kernel, map);
    if (read) read = read_descriptor(kernel, object, elf, symbol);
    if (!read) return fail_in(read.error(), "code object: kernel '{}'", valid_utf8(kernel.name));
    object.kernels.push_back(std::move(kernel));
  }
  return {};
}

Status read_relocations(CodeObject& object, const ElfFile& elf) {
  for (const Elf64_Rela& each : elf.relocations) {
    const uint64_t type = ELF64_R_TYPE(each.r_info), index = ELF64_R_SYM(each.r_info);
    Relocation made{each.r_offset, static_cast<uint64_t>(each.r_addend)};
    if (type == kAbsolute64) {
      if (index >= elf.symbols.size() || !elf.symbols[index].defined)
        return bad_file("code object: a relocation for symbol {}, which is not defined here", index);
      made.value += elf.symbols[index].address;
    } else if (type != kRelative64) {
      return bad_file("code object: a relocation of type {}, known are {} and {}", type, kAbsolute64, kRelative64);
    }
    const bool inside = std::any_of(object.segments.begin(), object.segments.end(), [&](const Segment& segment) {
      return made.address >= segment.address && made.address - segment.address < segment.bytes &&
             segment.bytes - (made.address - segment.address) >= sizeof(uint64_t);
    });
    if (!inside) return bad_file("code object: a relocation at 0x{:x}, which is in no segment", made.address);
    object.relocations.push_back(made);
  }
  return {};
}

}  // namespace

uint32_t unified_registers(uint32_t vgprs, uint32_t agprs) { return agprs ? (vgprs + 3) / 4 * 4 + agprs : vgprs; }

const KernelInfo* CodeObject::find(std::string_view name) const {
  auto it = std::find_if(kernels.begin(), kernels.end(), [&](const KernelInfo& kernel) { return kernel.name == name; });
  return it == kernels.end() ? nullptr : &*it;
}

std::span<const std::byte> CodeObject::at(uint64_t address, uint64_t bytes) const {
  for (const Segment& segment : segments) {
    const uint64_t offset = address - segment.address;
    if (offset < segment.data.size() && bytes <= segment.data.size() - offset)
      return segment.data.subspan(offset, bytes);
  }
  return {};
}

Result<CodeObject> read_code_object(std::span<const std::byte> file) {
  RUNG_TRY(const ElfFile elf, read_elf(file));
  CodeObject object;
  RUNG_TRY(object.isa, isa_of(elf));
  RUNG_CHECK(load_segments(object, elf));
  RUNG_CHECK(read_relocations(object, elf));
  RUNG_CHECK(read_kernels(object, elf));
  return object;
}

}  // namespace rung::amdgpu
