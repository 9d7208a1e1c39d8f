// Code objects: what is read of them, and one clear error for each way in which a file can be wrong.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/code_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "amdgpu/image.hpp"
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

size_t position_of(const std::string& file, const std::string& text) {
  const size_t at = file.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  return at;
}

TEST(CodeObjects, KernelsSegmentsAndTheArchitectureAreRead) {
  for (Target target : {Target::gfx90a, Target::gfx942, Target::gfx950}) {
    const MadeCodeObject made({add_kernel(), {.name = "other"}}, target);
    auto read = read_code_object(made.bytes());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->target, target);
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

TEST(CodeObjects, WhatIsNoCodeObjectOfAmdsIsRefused) {
  const std::string file = MadeCodeObject({add_kernel()}).file();
  EXPECT_EQ(error_of("hello"), "no ELF file: it does not begin with 7f 'ELF'");
  EXPECT_THAT(error_of(damaged<uint8_t>(file, EI_CLASS, 1)), HasSubstr("got class 1"));
  EXPECT_THAT(error_of(damaged<uint16_t>(file, offsetof(Elf64_Ehdr, e_machine), 62)), HasSubstr("got ELF machine 62"));
  EXPECT_THAT(error_of(damaged<uint8_t>(file, EI_ABIVERSION, 1)), HasSubstr("got ABI version 1, wanted 2, 3 or 4"));
  EXPECT_THAT(error_of(damaged<uint32_t>(file, offsetof(Elf64_Ehdr, e_flags), 0x41)),
              HasSubstr("got the architecture of number 0x41, known are gfx90a, gfx942, gfx950"));
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

TEST(CodeObjects, AKernelWithoutItsDescriptorOrCodeIsRefused) {
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
    return MadeCodeObject({add_kernel()}, Target::gfx942, {{at, kRelative64, 0}}).file();
  };
  const std::string whole = file_with(MadeCodeObject::kCodeAddress);
  auto last = read_code_object(std::as_bytes(std::span(whole)));
  ASSERT_TRUE(last) << last.error().message;
  ASSERT_EQ(last->relocations.size(), 1u);
  EXPECT_EQ(last->relocations[0].address, MadeCodeObject::kCodeAddress);
  for (const uint64_t beyond : {1, 7, 8, 4096})
    EXPECT_THAT(error_of(file_with(MadeCodeObject::kCodeAddress + beyond)), HasSubstr("which is in no segment"));
}

TEST(CodeObjects, AnImageHasTheSegmentsAndItsPlaceInRelocations) {
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
