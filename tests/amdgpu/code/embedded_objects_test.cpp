// Code objects found within files of other kinds, and what is said where there are none.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/code/embedded_objects.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "amdgpu/analysis/machine_code.hpp"
#include "amdgpu/code/code_object.hpp"
#include "support/made_bundle.hpp"
#include "support/made_code_object.hpp"

namespace rung::amdgpu {
namespace {

using ::rung::testing::bundle_of;
using ::rung::testing::MadeCodeObject;
using ::rung::testing::MadeKernel;
using ::testing::HasSubstr;

const char kElf[] =
    "\x7f"
    "ELF";

std::span<const std::byte> bytes_of(const std::string& file) { return std::as_bytes(std::span(file)); }

std::string error_of(const std::string& file) {
  const auto read = read_machine_code(bytes_of(file), {}, std::nullopt);
  return read ? "read" : read.error().message;
}

TEST(EmbeddedObjects, AreFoundWithinAProgram) {
  const MadeCodeObject first({MadeKernel{.name = "one"}}, Isa::gfx950), second({MadeKernel{.name = "two"}});
  const std::string file =
      std::string(kElf) + "a program" + first.file() + std::string(13, '\0') + second.file() + kElf;
  std::vector<CodeObject> found;
  const Status searched = for_each_code_object(bytes_of(file), [&](std::span<const std::byte> bytes) -> Status {
    RUNG_TRY(found.emplace_back(), read_code_object(bytes));
    return {};
  });
  ASSERT_TRUE(searched) << searched.error().message;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].isa, Isa::gfx950);
  EXPECT_EQ(found[1].kernels.front().name, "two");
}

TEST(EmbeddedObjects, OfABundleAreRead) {
  const std::string file =
      bundle_of({MadeCodeObject({MadeKernel{.name = "one"}}).file(),
                 MadeCodeObject({MadeKernel{.name = "two"}, MadeKernel{.name = "three"}}, Isa::gfx90a).file()});
  const auto read = read_machine_code(bytes_of(file), {}, std::nullopt);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)[0].kernel.name, "one");
  EXPECT_EQ((*read)[2].isa, Isa::gfx90a);
}

TEST(EmbeddedObjects, AFileWithoutAnyIsAnError) {
  EXPECT_EQ(error_of(std::string(kElf) + std::string(100, '\0')), "the file has no AMD code object");
  EXPECT_EQ(error_of(""), "the file has no AMD code object");
}

TEST(EmbeddedObjects, OneThatIsCutShortIsAnError) {
  const std::string object = MadeCodeObject({MadeKernel{.name = "one"}}).file();
  for (const size_t bytes : {sizeof(Elf64_Ehdr), object.size() / 2, object.size() - 1})
    EXPECT_THAT(error_of(object.substr(0, bytes)), HasSubstr("the code object at byte 0 is cut short"));
  const std::string bundle = bundle_of({object, object});
  EXPECT_THAT(error_of(bundle.substr(0, bundle.size() - 1)),
              HasSubstr(fmt::format("the code object at byte {} is cut short", 4096 + object.size())));
}

TEST(EmbeddedObjects, OneThatIsDamagedIsAnError) {
  std::string file = bundle_of({MadeCodeObject({MadeKernel{.name = "one"}}).file()});
  const size_t note = file.find(".sgpr_count");
  ASSERT_NE(note, file.npos);
  file[note] = 'x';
  EXPECT_EQ(error_of(file), "code object: kernel 'one': no '.sgpr_count'");
}

}  // namespace
}  // namespace rung::amdgpu
