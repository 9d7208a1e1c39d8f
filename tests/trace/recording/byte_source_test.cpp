// The bytes of a file, unpacked where it is gzip, read in pieces of any size and ahead of their reader.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/byte_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/gzip.hpp"
#include "support/temporary_directory.hpp"
#include "trace/recording/read_ahead.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;

std::string pattern(size_t bytes) {
  std::string text(bytes, '\0');
  uint32_t state = 1;
  for (char& c : text) c = static_cast<char>('a' + ((state = state * 1664525 + 1013904223) >> 28));
  return text;
}

Result<std::string> read_all(const std::string& path, size_t piece) {
  RUNG_TRY(ByteSource source, ByteSource::open(path));
  std::string all, part(piece, '\0');
  for (;;) {
    RUNG_TRY(const size_t got, source.read(part.data(), piece));
    all.append(part, 0, got);
    if (got < piece) return all;
  }
}

TEST(ByteSource, PiecesOfAnySizeMakeTheWhole) {
  const TemporaryDirectory folder;
  const std::string text = pattern(1'000'003);
  const std::string plain = folder.write("plain", text), packed = folder.write("packed", gzip(text));
  for (const size_t piece : {size_t{1000}, size_t{1} << 20, size_t{2'000'000}}) {
    EXPECT_EQ(read_all(plain, piece), text);
    EXPECT_EQ(read_all(packed, piece), text);
  }
}

TEST(ByteSource, TellsWhatIsPacked) {
  const TemporaryDirectory folder;
  const auto plain = ByteSource::open(folder.write("plain", "\x1f")),
             packed = ByteSource::open(folder.write("packed", gzip("text")));
  ASSERT_TRUE(plain && packed);
  EXPECT_FALSE(plain->packed());
  EXPECT_EQ(plain->file_bytes(), 1u);
  EXPECT_TRUE(packed->packed());
}

TEST(ByteSource, SmallAndEmptyFilesAreRead) {
  const TemporaryDirectory folder;
  for (const std::string text : {"", "a", "\x1f"}) EXPECT_EQ(read_all(folder.write("file", text), 16), text);
}

std::string unpacked(const std::string& bytes) {
  const TemporaryDirectory folder;
  auto source = ByteSource::open(folder.write("file", bytes));
  EXPECT_TRUE(source);
  std::string text(1 << 20, '\0');
  const auto got = source->read(text.data(), text.size());
  return got ? text.substr(0, *got) : got.error().message;
}

// Tapes and object stores fill the last block up.
TEST(ByteSource, ZerosAfterAndBetweenMembersArePadding) {
  const std::string one = gzip("one "), two = gzip("two");
  EXPECT_EQ(unpacked(one + two), "one two");
  EXPECT_EQ(unpacked(one + std::string(512, '\0')), "one ");
  EXPECT_EQ(unpacked(one + std::string(700'000, '\0') + two + std::string(3, '\0')), "one two");
  EXPECT_THAT(unpacked(one + "x"), HasSubstr("gzip data"));
  EXPECT_THAT(unpacked(one + std::string(9, '\0') + two.substr(0, 12)), HasSubstr("ends early"));
}

TEST(ByteSource, WhatIsNoFileIsRefused) {
  const TemporaryDirectory folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const char* name : {"none", ".", "pipe"}) EXPECT_FALSE(ByteSource::open(folder / name)) << name;
  EXPECT_FALSE(ByteSource::open("/dev/null"));
}

TEST(ReadAhead, ChunksMakeTheWholeAndTheEndStays) {
  const TemporaryDirectory folder;
  const std::string text = pattern(3 * ReadAhead::kChunk + 17);
  auto source = ByteSource::open(folder.write("file", gzip(text)));
  ASSERT_TRUE(source);
  ReadAhead ahead(std::move(*source));
  std::string all, chunk;
  do {
    ASSERT_TRUE(ahead.next(chunk));
    all += chunk;
  } while (!chunk.empty());
  EXPECT_EQ(all, text);
  ASSERT_TRUE(ahead.next(chunk));
  EXPECT_EQ(chunk, "");
}

TEST(ReadAhead, ErrorsComeAfterWhatWasReadBefore) {
  const TemporaryDirectory folder;
  const std::string packed = gzip(pattern(4 * ReadAhead::kChunk));
  auto source = ByteSource::open(folder.write("file", packed.substr(0, packed.size() - 100'000)));
  ASSERT_TRUE(source);
  ReadAhead ahead(std::move(*source));
  std::string chunk;
  Status status;
  size_t chunks = 0;
  while ((status = ahead.next(chunk)) && chunks < 10) ++chunks;
  EXPECT_EQ(chunks, 3u);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("gzip data ends early"));
}

TEST(ReadAhead, MayBeLeftBeforeTheEnd) {
  const TemporaryDirectory folder;
  const std::string path = folder.write("file", pattern(5 * ReadAhead::kChunk));
  for (int reads = 0; reads < 4; ++reads) {
    auto source = ByteSource::open(path);
    ASSERT_TRUE(source);
    ReadAhead ahead(std::move(*source));
    std::string chunk;
    for (int i = 0; i < reads; ++i) EXPECT_TRUE(ahead.next(chunk));
  }
}

}  // namespace
}  // namespace rung::trace
