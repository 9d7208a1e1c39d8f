// What is not a regular file is named for what it is, at once; nothing larger than wanted is read.
// SPDX-License-Identifier: Apache-2.0
#include "base/open_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/atomic_file.hpp"
#include "base/mapped_file.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

class OpenFile : public testing::Test {
 protected:
  TemporaryDirectory folder;

  // By each way in which files are read.
  void expect_refused(const std::string& path, const std::string& message) {
    auto opened = open_regular_file(path);
    auto text = read_text_file(path);
    auto mapped = MappedFile::open(path);
    ASSERT_FALSE(opened || text || mapped) << path;
    EXPECT_THAT(opened.error().message, HasSubstr("'" + path + "': " + message));
    EXPECT_THAT(text.error().message, HasSubstr("'" + path + "': " + message));
    EXPECT_THAT(mapped.error().message, HasSubstr("'" + path + "': " + message));
  }
};

TEST_F(OpenFile, RefusesWhatIsNotARegularFile) {
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  expect_refused(folder / "fifo", "got a FIFO, wanted a regular file");
  expect_refused(folder.path(), "got a directory, wanted a regular file");
  expect_refused("/dev/null", "got a device, wanted a regular file");
  expect_refused(folder / "none", "no such file");
  expect_refused(folder.write("file", "x") + "/below", "cannot open: Not a directory");
}

TEST_F(OpenFile, SaysHowManyBytesThereAre) {
  auto opened = open_regular_file(folder.write("file", "12345"));
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->bytes, 5u);
}

TEST_F(OpenFile, IsRefusedWhereItExceedsTheLimit) {
  const std::string text(200'000, 'x'), path = folder.write("file", text);
  EXPECT_EQ(*read_text_file(path, text.size()), text);
  auto longer = read_text_file(path, text.size() - 1);
  ASSERT_FALSE(longer);
  EXPECT_THAT(longer.error().message, HasSubstr("got 200000 bytes, wanted at most 199999"));
  EXPECT_EQ(*read_text_file(folder.write("empty", "")), "");
}

TEST_F(OpenFile, IsRefusedWhereItsNameHasANul) {
  const std::string path = folder.write("file", "text");
  auto text = read_text_file(path + std::string("\0x", 2));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "'" + path + "': got a file name with a NUL in it");
}

TEST_F(OpenFile, ThatIsHugeIsRefusedUnread) {
  const std::string path = folder.write("sparse", "");
  std::filesystem::resize_file(path, uint64_t{1} << 40);
  auto text = read_text_file(path);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("wanted at most 67108864"));
}

// The kernel says of its own files that they have no bytes.
TEST_F(OpenFile, OfTheKernelIsReadToItsEnd) {
  auto text = read_text_file("/proc/self/status");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("Pid:"));
  EXPECT_FALSE(read_text_file("/proc/self/status", 10));
}

}  // namespace
}  // namespace rung
