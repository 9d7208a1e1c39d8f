// Code objects: what is read of them, and one clear error for each way in which a file can be wrong.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/code/code_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "amdgpu/run/image.hpp"
#include "support/made_code_object.hpp"

namespace rung::amdgpu {
namespace {

using ::testing::HasSubstr;
using testing::MadeCodeObject;
using testing::MadeKernel;

MadeKernel add_kernel() {
  return {.name = "add",
          .code = {0xbf800000, 0xbf810000},
          .arguments = {{"global_buffer", 0, 8}, {"by_value", 8, 4}},
          .argument_bytes = 12,
          .lds_bytes = 512,
          .most_threads = 128,
          .vgprs = 24};
}

std::string error_of(std::string file) {
  auto read = read_code_object(std::as_bytes(std::span(file)));
  EXPECT_TRUE(read || read.error().kind == ErrorKind::file) << read.error().message;
  return read ? "read" : read.error().message;
}

// The file with `value` written over what stands at `offset`.
template <class T>
std::string damaged(std::string file, size_t offset, T value) {
  std::memcpy(file.data() + offset, &value, sizeof value);
  return file;
}

// The file with other notes behind its end in place of its own.
std::string with_notes(std::string file, const std::string& notes) {
  constexpr size_t kNoteHeader = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  Elf64_Phdr header;
  std::memcpy(&header, file.data() + kNoteHeader, sizeof header);
  header.p_offset = file.size(), header.p_filesz = header.p_memsz = notes.size();
  return damaged(std::move(file), kNoteHeader, header) + notes;
}
std::string note_of(uint32_t type, const std::string& name, const std::string& words) {
  const Elf64_Nhdr header{static_cast<uint32_t>(name.size()), static_cast<uint32_t>(words.size()), type};
  std::string note(reinterpret_cast<const char*>(&header), sizeof header);
  for (const std::string& part : {name, words}) note += part + std::string((4 - part.size() % 4) % 4, '\0');
  return note;
}
nlohmann::json metadata_of(const std::string& file) {
  const size_t note = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
  Elf64_Nhdr header;
  std::memcpy(&header, file.data() + note, sizeof header);
  return nlohmann::json::from_msgpack(file.substr(note + sizeof header + 8, header.n_descsz));
}
std::string packed(const nlohmann::json& metadata) {
  const auto bytes = nlohmann::json::to_msgpack(metadata);
  return {bytes.begin(), bytes.end()};
}
// The error of the file whose metadata `change` changes.
std::string error_with(const std::function<void(nlohmann::json& metadata, nlohmann::json& kernel)>& change) {
  const std::string file = MadeCodeObject({add_kernel()}).file();
  nlohmann::json metadata = metadata_of(file);
  change(metadata, metadata["amdhsa.kernels"][0]);
  return error_of(with_notes(file, note_of(32, "AMDGPU", packed(metadata))));
}

size_t position_of(const std::string& file, const std::string& text) {
  const size_t at = file.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  return at;
}

TEST(CodeObjects, KernelsSegmentsAndTheArchitectureAreRead) {
  for (Isa isa : {Isa::gfx90a, Isa::gfx942, Isa::gfx950}) {
    const MadeCodeObject made({add_kernel(), {.name = "other"}}, isa);
    auto read = read_code_object(made.bytes());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->isa, isa);
    ASSERT_EQ(read->kernels.size(), 2u);
    const KernelInfo* add = read->find("add");
    ASSERT_TRUE(add);
    EXPECT_EQ(add->entry, MadeCodeObject::kCodeAddress);
    EXPECT_EQ(add->code_bytes, 8u);
    EXPECT_EQ(add->lds_bytes, 512u);
    EXPECT_EQ(add->most_threads, 128u);
    EXPECT_EQ(add->vgprs, 24u);
    EXPECT_EQ(add->accum_offset(), 8u);
    ASSERT_EQ(add->arguments.size(), 2u);
    EXPECT_EQ(add->arguments[1].kind, "by_value");
    EXPECT_EQ(add->arguments[1].offset, 8u);
    EXPECT_EQ(read->find("other")->entry, MadeCodeObject::kCodeAddress + 256);
    EXPECT_FALSE(read->find("add2"));
    ASSERT_EQ(read->at(add->entry, 8).size(), 8u);
    EXPECT_TRUE(read->at(add->entry, 1 << 20).empty());
  }
}

TEST(CodeObjects, NoBeginOfAFileIsRead) {
  const std::string file = MadeCodeObject({add_kernel()}).file();
  for (size_t bytes = 0; bytes < file.size(); bytes += bytes < 4096 ? 1 : 997)
    EXPECT_NE(error_of(file.substr(0, bytes)), "read") << bytes;
  EXPECT_THAT(error_of(file.substr(0, file.size() - 1)), HasSubstr("ELF: section headers: got 256 bytes at"));
}

TEST(CodeObjects, OfOtherFormatsOrMachinesAreRefused) {
  const std::string file = MadeCodeObject({add_kernel()}).file();
  EXPECT_EQ(error_of("hello"), "not an ELF file: it does not begin with 7f 'ELF'");
  EXPECT_THAT(error_of(damaged<uint8_t>(file, EI_CLASS, 1)), HasSubstr("got class 1"));
  EXPECT_THAT(error_of(damaged<uint16_t>(file, offsetof(Elf64_Ehdr, e_machine), 62)), HasSubstr("got ELF machine 62"));
  EXPECT_THAT(error_of(damaged<uint8_t>(file, EI_ABIVERSION, 1)), HasSubstr("got ABI version 1, wanted 2, 3 or 4"));
  EXPECT_THAT(error_of(damaged<uint32_t>(file, offsetof(Elf64_Ehdr, e_flags), 0x41)),
              HasSubstr("got the architecture of number 0x41, wanted one of gfx90a, gfx942, gfx950"));
}

TEST(CodeObjects, OffsetsBeyondTheFileAreRefused) {
  const std::string file = MadeCodeObject({add_kernel()}).file();
  const size_t first = sizeof(Elf64_Ehdr);
  for (size_t field : {offsetof(Elf64_Phdr, p_offset), offsetof(Elf64_Phdr, p_filesz)})
    for (uint64_t wild : {uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{0} - 100})
      EXPECT_THAT(error_of(damaged(file, first + field, wild)), HasSubstr("ELF: a segment: got"));
  EXPECT_THAT(error_of(damaged(file, first + offsetof(Elf64_Phdr, p_memsz), ~uint64_t{0})), HasSubstr("are loaded"));
  EXPECT_THAT(error_of(damaged(file, first + offsetof(Elf64_Phdr, p_vaddr), ~uint64_t{0} - 7)),
              HasSubstr("are loaded"));
  EXPECT_THAT(error_of(damaged(file, offsetof(Elf64_Ehdr, e_phoff), ~uint64_t{0})), HasSubstr("program headers"));
  EXPECT_THAT(error_of(damaged(file, offsetof(Elf64_Ehdr, e_shoff), ~uint64_t{0})), HasSubstr("section headers"));
  EXPECT_THAT(error_of(damaged<uint16_t>(file, offsetof(Elf64_Ehdr, e_phnum), 0)), HasSubstr("nothing to load"));
  EXPECT_THAT(error_of(damaged<uint64_t>(file, first + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_vaddr), 0)),
              HasSubstr("begins within the one before"));
}

TEST(CodeObjects, MetadataThatIsMissingOrDamagedIsRefused) {
  const std::string file = MadeCodeObject({add_kernel()}).file();
  const size_t note = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
  EXPECT_EQ(error_of(damaged<uint32_t>(file, note + 8, 31)), "code object: no metadata (note 32)");
  EXPECT_THAT(error_of(damaged<uint32_t>(file, note + 4, 1 << 30)), HasSubstr("code object: a note of"));
  EXPECT_THAT(error_of(damaged<uint8_t>(file, note + 20, 0xc1)), HasSubstr("metadata: a value of kind 0xc1 at byte 0"));
  const size_t count = position_of(file, ".sgpr_count");
  EXPECT_THAT(error_of(damaged(file, count, 'x')), HasSubstr("code object: kernel 'add': no '.sgpr_count'"));
  EXPECT_THAT(error_of(damaged<uint8_t>(file, count + 11, 0xff)), HasSubstr("'.sgpr_count': got -1, wanted a number"));
  EXPECT_THAT(error_of(damaged(file, position_of(file, ".vgpr_count") + 1, 's')), HasSubstr("metadata: a key twice"));
}

TEST(CodeObjects, RefuseAKernelWithoutItsDescriptorOrCode) {
  const std::string file = MadeCodeObject({add_kernel()}).file();
  EXPECT_THAT(error_of(damaged(file, file.rfind("add.kd"), 'x')), HasSubstr("kernel 'add': no descriptor 'add.kd'"));
  auto wild = add_kernel();
  wild.scratch_bytes = 1 << 30;
  EXPECT_THAT(error_of(MadeCodeObject({wild}).file()), HasSubstr("scratch of a lane: got 1073741824 bytes"));
  auto argument = add_kernel();
  argument.arguments[1].offset = 9;
  EXPECT_THAT(error_of(MadeCodeObject({argument}).file()), HasSubstr("an argument of 4 bytes at 9: all"));
  auto object = read_code_object(std::as_bytes(std::span(file)));
  ASSERT_TRUE(object);
  const size_t entry_field =
      (file.find(std::string("\0\2\0\0\0\0\0\0\14\0\0\0", 12))) + 16;  // 512 B of LDS, 12 of arguments
  EXPECT_THAT(error_of(damaged<int64_t>(file, entry_field, 1 << 20)), HasSubstr("are not in an executable segment"));
  EXPECT_THAT(error_of(damaged<int64_t>(file, entry_field, 0)), HasSubstr("are not in an executable segment"));
}

// A segment's last 8 bytes are the last place that a relocation may write.
TEST(CodeObjects, ARelocationBeyondItsSegmentIsRefused) {
  constexpr uint64_t kRelative64 = 13;
  auto file_with = [&](uint64_t at) {
    return MadeCodeObject({add_kernel()}, Isa::gfx942, {{at, kRelative64, 0}}).file();
  };
  const std::string whole = file_with(MadeCodeObject::kCodeAddress);
  auto last = read_code_object(std::as_bytes(std::span(whole)));
  ASSERT_TRUE(last) << last.error().message;
  ASSERT_EQ(last->relocations.size(), 1u);
  EXPECT_EQ(last->relocations[0].address, MadeCodeObject::kCodeAddress);
  for (const uint64_t beyond : {1, 7, 8, 4096})
    EXPECT_THAT(error_of(file_with(MadeCodeObject::kCodeAddress + beyond)), HasSubstr("which is in no segment"));
}

TEST(CodeObjects, OfAnotherFormAreRefused) {
  const std::string file = MadeCodeObject({add_kernel()}).file();
  EXPECT_THAT(error_of(damaged<uint8_t>(file, EI_DATA, 2)), HasSubstr("byte order 2"));
  for (const int system : {0, 63, 65})
    EXPECT_THAT(error_of(damaged(file, EI_OSABI, static_cast<uint8_t>(system))),
                HasSubstr(fmt::format("OS ABI {}", system)));
  for (uint8_t version = 0; version < 6; ++version)
    EXPECT_EQ(error_of(damaged(file, EI_ABIVERSION, version)) == "read", version >= 2 && version <= 4) << +version;
  for (const uint16_t bytes : std::vector<uint16_t>{0, 55, 57, 63, 65, 128}) {
    EXPECT_THAT(error_of(damaged(file, offsetof(Elf64_Ehdr, e_phentsize), bytes)), HasSubstr("program headers: got"));
    EXPECT_THAT(error_of(damaged(file, offsetof(Elf64_Ehdr, e_shentsize), bytes)), HasSubstr("section headers: got"));
  }
  EXPECT_THAT(error_of(damaged<uint16_t>(file, offsetof(Elf64_Ehdr, e_shnum), 0)), HasSubstr("no section headers"));
}

TEST(CodeObjects, SectionsThatAreNotWholeAreRefused) {
  const std::string file = MadeCodeObject({add_kernel()}, Isa::gfx942, {{64, 13, 0}}).file();
  const size_t sections = file.size() - 4 * sizeof(Elf64_Shdr);
  const auto field = [&](size_t index, size_t at) { return sections + index * sizeof(Elf64_Shdr) + at; };
  constexpr size_t kSize = offsetof(Elf64_Shdr, sh_size), kOffset = offsetof(Elf64_Shdr, sh_offset);
  ASSERT_EQ(error_of(file), "read");
  EXPECT_THAT(error_of(damaged<uint64_t>(file, field(1, kSize), 3 * sizeof(Elf64_Sym) - 1)),
              HasSubstr("symbols: got 71 bytes, wanted a multiple of 24"));
  EXPECT_THAT(error_of(damaged<uint64_t>(file, field(3, kSize), sizeof(Elf64_Rela) + 1)),
              HasSubstr("relocations: got 25 bytes, wanted a multiple of 24"));
  for (const size_t section : {1, 2, 3})
    for (const size_t at : {kSize, kOffset})
      EXPECT_THAT(error_of(damaged(file, field(section, at), ~uint64_t{0} - 23)), HasSubstr("the file has")) << section;
  constexpr size_t kLink = offsetof(Elf64_Shdr, sh_link);
  EXPECT_THAT(error_of(damaged<uint32_t>(file, field(1, kLink), 4)), HasSubstr("got strings in section 4 of 4"));
  // The last name ends with the table's last byte; a name begins within it.
  Elf64_Shdr names, symbols;
  std::memcpy(&names, file.data() + field(2, 0), sizeof names);
  std::memcpy(&symbols, file.data() + field(1, 0), sizeof symbols);
  EXPECT_THAT(error_of(damaged(file, field(2, kSize), names.sh_size - 1)), HasSubstr("does not end within its table"));
  for (const uint64_t beyond : {names.sh_size, names.sh_size + 1})
    EXPECT_THAT(error_of(damaged(file, symbols.sh_offset + sizeof(Elf64_Sym), static_cast<uint32_t>(beyond))),
                HasSubstr("a symbol's name: got offset"));
  // Relocations that are not loaded are a debugger's.
  const auto kept = damaged<uint64_t>(damaged<uint64_t>(file, field(3, kSize), sizeof(Elf64_Rela) + 1),
                                      field(3, offsetof(Elf64_Shdr, sh_flags)), 0);
  EXPECT_EQ(error_of(kept), "read");
}

TEST(CodeObjects, SegmentsMayTouchAndHaveBounds) {
  const std::string file = MadeCodeObject({add_kernel()}).file();
  const auto first = [&](size_t field, uint64_t value) {
    return error_of(damaged(file, sizeof(Elf64_Ehdr) + field, value));
  };
  constexpr uint64_t kMost = uint64_t{1} << 30;
  constexpr size_t kBytes = offsetof(Elf64_Phdr, p_memsz), kAddress = offsetof(Elf64_Phdr, p_vaddr);
  EXPECT_EQ(first(kBytes, MadeCodeObject::kCodeAddress), "read") << "up to the next one";
  EXPECT_THAT(first(kBytes, MadeCodeObject::kCodeAddress + 1), HasSubstr("begins within the one before"));
  EXPECT_THAT(first(kBytes, 1), HasSubstr("are loaded")) << "more in the file than in memory";
  EXPECT_THAT(first(kBytes, kMost + 1), HasSubstr("are loaded"));
  EXPECT_THAT(first(kAddress, kMost), HasSubstr("are loaded"));
}

TEST(CodeObjects, HaveDescriptorAndNoteReadFieldByField) {
  auto kernel = add_kernel();
  kernel.scratch_bytes = 1 << 20, kernel.sgprs = 33;
  kernel.rsrc1 = 0x11111111, kernel.rsrc2 = 0x22222222, kernel.rsrc3 = 0x333333d7, kernel.properties = 0x4444;
  const std::string made = MadeCodeObject({kernel}).file();
  nlohmann::json metadata = metadata_of(made);
  nlohmann::json& words = metadata["amdhsa.kernels"][0];
  words[".agpr_count"] = 5, words[".sgpr_spill_count"] = 6, words[".vgpr_spill_count"] = 7;
  for (const bool counted : {false, true}) {
    const std::string file = counted ? with_notes(made, note_of(32, "AMDGPU", packed(metadata))) : made;
    const auto read = read_code_object(std::as_bytes(std::span(file)));
    ASSERT_TRUE(read) << read.error().message;
    const KernelInfo& info = read->kernels.at(0);
    EXPECT_EQ(info.scratch_bytes, 1u << 20);
    EXPECT_EQ(info.argument_bytes, 12u);
    EXPECT_EQ(info.rsrc1, kernel.rsrc1);
    EXPECT_EQ(info.rsrc2, kernel.rsrc2);
    EXPECT_EQ(info.rsrc3, kernel.rsrc3);
    EXPECT_EQ(info.accum_offset(), 96u);
    EXPECT_EQ(info.properties, kernel.properties);
    EXPECT_EQ(info.sgprs, 33u);
    EXPECT_EQ(info.agprs, counted ? 5u : 0u);
    EXPECT_EQ(info.sgpr_spills, counted ? 6u : 0u);
    EXPECT_EQ(info.vgpr_spills, counted ? 7u : 0u);
    EXPECT_EQ(info.arguments.at(0).kind, "global_buffer");
    EXPECT_EQ(info.arguments.at(0).size, 8u);
    EXPECT_EQ(info.arguments.at(1).size, 4u);
  }
  kernel.scratch_bytes += 1;
  EXPECT_THAT(error_of(MadeCodeObject({kernel}).file()), HasSubstr("scratch of a lane: got 1048577 bytes"));
}

TEST(CodeObjects, MetadataOfAnotherFormIsRefused) {
  using nlohmann::json;
  const json wrong[] = {json(), "text", -1, json::array(), json::object(), uint64_t{1} << 32};
  for (const char* key : {".kernarg_segment_size", ".max_flat_workgroup_size", ".sgpr_count", ".vgpr_count",
                          ".agpr_count", ".sgpr_spill_count", ".vgpr_spill_count"}) {
    for (const json& value : wrong)
      EXPECT_THAT(error_with([&](json&, json& kernel) { kernel[key] = value; }),
                  HasSubstr(fmt::format("kernel 'add': '{}': got", key)));
    const std::string absent = error_with([&](json&, json& kernel) { kernel.erase(key); });
    const bool may_be_absent = std::string_view(key).find("spill") != std::string_view::npos || key[1] == 'a';
    EXPECT_THAT(absent, HasSubstr(may_be_absent ? "read" : fmt::format("no '{}'", key)));
  }
  EXPECT_EQ(error_with([](json&, json& kernel) { kernel[".sgpr_count"] = UINT32_MAX; }), "read");
  EXPECT_THAT(error_with([](json&, json& kernel) { kernel[".kernarg_segment_size"] = 16; }),
              HasSubstr("arguments: got 12 bytes in its descriptor and 16 in the note"));
  for (const char* key : {".name", ".symbol"}) {
    EXPECT_THAT(error_with([&](json&, json& kernel) { kernel.erase(key); }), HasSubstr("got nothing, wanted a string"));
    EXPECT_THAT(error_with([&](json&, json& kernel) { kernel[key] = 1; }), HasSubstr("got 1, wanted a string"));
  }
  EXPECT_THAT(error_with([](json&, json& kernel) { kernel[".args"] = 1; }), HasSubstr("'.args': got 1"));
  EXPECT_THAT(error_with([](json&, json& kernel) { kernel[".args"][1] = 1; }), HasSubstr("an argument: got 1"));
  for (const char* key : {".value_kind", ".offset", ".size"})
    EXPECT_NE(error_with([&](json&, json& kernel) { kernel[".args"][1].erase(key); }), "read") << key;
  EXPECT_THAT(error_with([](json&, json& kernel) { kernel[".args"][0][".offset"] = UINT32_MAX; }),
              HasSubstr("an argument of 8 bytes at 4294967295"));
  EXPECT_EQ(error_with([](json&, json& kernel) { kernel.erase(".args"); }), "read");
  EXPECT_THAT(error_with([](json& all, json&) { all = 7; }), HasSubstr("metadata: got 7, wanted a map"));
  EXPECT_THAT(error_with([](json& all, json&) { all["amdhsa.kernels"] = 7; }), HasSubstr("kernels: got 7"));
  EXPECT_THAT(error_with([](json& all, json&) { all["amdhsa.kernels"].push_back(7); }), HasSubstr("a kernel: got 7"));
  EXPECT_EQ(error_with([](json& all, json&) { all.erase("amdhsa.kernels"); }), "read") << "functions alone";
}

// Names and words are padded to four bytes each, the last ones need not be.
TEST(CodeObjects, MetadataAreFoundBehindOtherNotes) {
  const std::string file = MadeCodeObject({add_kernel()}).file(), words = packed(metadata_of(file));
  for (size_t name = 0; name <= 5; ++name)
    for (size_t bytes = 0; bytes <= 5; ++bytes) {
      const std::string other = note_of(3, std::string(name, 'n'), std::string(bytes, 'w'));
      std::string notes = other + other + note_of(32, std::string(name, 'n'), words);
      notes.resize(notes.size() - (4 - words.size() % 4) % 4);
      EXPECT_EQ(error_of(with_notes(file, notes)), "read") << name << " letters, " << bytes << " bytes";
      EXPECT_THAT(error_of(with_notes(file, other + other)), HasSubstr("no metadata"));
      notes.pop_back();
      EXPECT_THAT(error_of(with_notes(file, notes)), HasSubstr("code object: a note of"));
    }
}

TEST(CodeObjects, HaveCodeAlignedToWordsWithinItsSegment) {
  const std::string file = MadeCodeObject({add_kernel()}).file();
  const size_t entry = file.find(std::string("\0\2\0\0\0\0\0\0\14\0\0\0", 12)) + 16;
  int64_t to_code = 0;
  std::memcpy(&to_code, file.data() + entry, sizeof to_code);
  for (const int64_t beside : {1, 2, 3, 8})
    EXPECT_THAT(error_of(damaged(file, entry, to_code + beside)), HasSubstr("are not in an executable segment"));
  // An entry that no symbol has is a word of code.
  const std::string second = damaged(file, entry, to_code + 4);
  const auto read = read_code_object(std::as_bytes(std::span(second)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kernels.at(0).entry, MadeCodeObject::kCodeAddress + 4);
  EXPECT_EQ(read->kernels.at(0).code_bytes, 4u);
}

TEST(CodeObjects, RelocationsAreOfTwoKinds) {
  constexpr uint64_t kAbsolute64 = 3, kRelative64 = 13, kAt = MadeCodeObject::kCodeAddress;
  const auto file_with = [](std::vector<Elf64_Rela> all) {
    return MadeCodeObject({add_kernel(), {.name = "other"}}, Isa::gfx942, std::move(all)).file();
  };
  // Symbols: none, "add", "add.kd", "other", "other.kd".
  const std::string file = file_with({{kAt, kRelative64, 0x1234},
                                      {kAt, ELF64_R_INFO(uint64_t{3}, kAbsolute64), 5},
                                      {64, ELF64_R_INFO(uint64_t{1}, 3), -4}});
  const auto read = read_code_object(std::as_bytes(std::span(file)));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->relocations.size(), 3u);
  EXPECT_EQ(read->relocations[0].value, 0x1234u);
  EXPECT_EQ(read->relocations[1].value, kAt + 256 + 5);
  EXPECT_EQ(read->relocations[2].address, 64u);
  EXPECT_EQ(read->relocations[2].value, kAt - 4);
  for (const uint64_t symbol : {0, 5, 6, 1 << 30})
    EXPECT_THAT(error_of(file_with({{kAt, ELF64_R_INFO(symbol, kAbsolute64), 0}})), HasSubstr("is not defined here"));
  for (uint64_t type = 0; type < 32; ++type)
    if (type != kAbsolute64 && type != kRelative64) {
      EXPECT_THAT(error_of(file_with({{kAt, type, 0}})), HasSubstr(fmt::format("a relocation of type {}", type)));
    }
}

// The rest of a segment is zeros, all relocations are there, and all of it is gone afterwards.
TEST(CodeObjects, AnImageIsLentWholeAndForgottenWhole) {
  const std::string made = MadeCodeObject({add_kernel()}).file();
  const size_t first = sizeof(Elf64_Ehdr);
  const std::string larger = damaged<uint64_t>(made, first + offsetof(Elf64_Phdr, p_memsz), 0x9000);
  const std::string file = damaged<uint32_t>(larger, first + offsetof(Elf64_Phdr, p_flags), PF_R | PF_W);
  auto object = read_code_object(std::as_bytes(std::span(file)));
  ASSERT_TRUE(object) << object.error().message;
  const uint64_t places[] = {MadeCodeObject::kCodeAddress, 0x8000, 0x9000 - 8};
  for (const uint64_t at : places) object->relocations.push_back({at, at + 1});
  Memory memory;
  uint64_t base = 0;
  {
    auto image = Image::load(*object, memory);
    ASSERT_TRUE(image);
    base = (*image)->base();
    const Region* data = memory.find(base, 0x9000);
    ASSERT_TRUE(data);
    EXPECT_TRUE(data->writable);
    EXPECT_FALSE(memory.find(base, 0x9001));
    EXPECT_FALSE(memory.find(base + MadeCodeObject::kCodeAddress, 9));
    EXPECT_FALSE(memory.find(base + MadeCodeObject::kCodeAddress, 8)->writable);
    for (const uint64_t at : places) {
      uint64_t value = 0;
      std::memcpy(&value, reinterpret_cast<const void*>(base + at), sizeof value);
      EXPECT_EQ(value, base + at + 1);
    }
    EXPECT_EQ(std::memcmp(data->data, file.data(), 0x200), 0);
    for (uint64_t at = object->segments[0].data.size(); at < 0x8000; ++at) ASSERT_EQ(data->data[at], std::byte{0});
    EXPECT_TRUE(memory.is_written(base, 0x9000));
  }
  for (const uint64_t at : places) EXPECT_FALSE(memory.find(base + at, 1));
}

TEST(CodeObjects, GiveImagesTheirSegmentsAndRelocatedAddresses) {
  const MadeCodeObject made({add_kernel()});
  auto object = read_code_object(made.bytes());
  ASSERT_TRUE(object) << object.error().message;
  object->relocations.push_back({MadeCodeObject::kCodeAddress, 0x123});
  Memory memory;
  uint64_t base = 0;
  {
    auto image = Image::load(*object, memory);
    ASSERT_TRUE(image);
    base = (*image)->base();
    const Region* code = memory.find(base + MadeCodeObject::kCodeAddress, 8);
    ASSERT_TRUE(code);
    EXPECT_FALSE(code->writable);
    uint64_t words = 0;
    std::memcpy(&words, code->data, sizeof words);
    EXPECT_EQ(words, base + 0x123);
    EXPECT_TRUE(memory.find(base, 64));
  }
  EXPECT_FALSE(memory.find(base + MadeCodeObject::kCodeAddress, 8));
}

}  // namespace
}  // namespace rung::amdgpu
