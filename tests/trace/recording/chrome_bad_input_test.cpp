// Files that are no Chrome trace, or half of one: one error in one line, with the byte where one helps.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "support/gzip.hpp"
#include "trace/recording/read_bytes.hpp"
#include "trace/recording/recording_builder.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kSmall =
    R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"H\u0032"}],"traceEvents":[
 {"ph":"X","cat":"kernel","name":"a\\b\"c","pid":0,"tid":7,"ts":12.345,"dur":2,"args":{"grid":[1,2,3],"stream":7}},
 {"ph":"B","cat":"cpu_op","name":"\u00e9","pid":1,"tid":1,"ts":1},{"ph":"E","pid":1,"tid":1,"ts":2e0}
],"traceName":"x.json"})";

TEST(ChromeBadInput, EveryShorterFileIsCutShort) {
  ASSERT_EQ(error_of(kSmall), "");
  for (size_t bytes = 1; bytes < kSmall.size(); ++bytes)
    EXPECT_THAT(error_of(kSmall.substr(0, bytes)), StartsWith(fmt::format("ends at byte {} within ", bytes)));
}

TEST(ChromeBadInput, EveryShorterPackedFileIsCutShort) {
  const std::string packed = gzip(kSmall);
  ASSERT_EQ(error_of(packed), "");
  for (size_t bytes = 2; bytes < packed.size(); ++bytes)
    EXPECT_THAT(error_of(packed.substr(0, bytes)), HasSubstr("gzip data ends early")) << bytes;
}

// Whatever a byte becomes, the file is read or refused, and what is read is whole.
TEST(ChromeBadInput, AnyByteMayBeAnyOther) {
  for (size_t at = 0; at < kSmall.size(); ++at)
    for (const char byte : {'\0', '"', '\\', '{', ']', ',', '9', '\xff'}) {
      std::string text = kSmall;
      text[at] = byte;
      const auto recording = read_bytes(text);
      if (!recording) {
        EXPECT_THAT(recording.error().message, HasSubstr("trace': "));
        continue;
      }
      for (const Event& event : recording->events) {
        EXPECT_LT(event.name, recording->strings.size());
        EXPECT_LT(event.lane, recording->lanes.size());
      }
    }
}

TEST(ChromeBadInput, ErrorsTellByteGotAndWanted) {
  EXPECT_EQ(error_of("[{]"), "byte 2: got ']', wanted a key in quotes");
  EXPECT_EQ(error_of("[1]"), "byte 1: got '1', wanted '{'");
  EXPECT_EQ(error_of("[{} {}]"), "byte 4: got '{', wanted ',' or ']'");
  EXPECT_EQ(error_of("[{\"a\" 1}]"), "byte 6: got '1', wanted ':'");
  EXPECT_EQ(error_of("[{\"a\":}]"), "byte 6: got '}', wanted a value");
  EXPECT_EQ(error_of("[{\"a\":[1}]}]"), "byte 8: got '}', wanted ']'");
  EXPECT_EQ(error_of("[{\"a\":{1]}}]"), "byte 8: got ']', wanted '}'");
  EXPECT_EQ(error_of("[{\"a\":nul}]"), "byte 6: got 'n', wanted a value");
  EXPECT_EQ(error_of("[{\"a\":\x01}]"), "byte 6: got byte 01, wanted a value");
  EXPECT_EQ(error_of("[] []"), "byte 3: got '[', wanted the end of the file");
  EXPECT_EQ(error_of(std::string("[]\0", 3)), "byte 2: got byte 00, wanted the end of the file");
  EXPECT_EQ(error_of("{\"traceEvents\":5}"), "byte 15: got '5', wanted '['");
  EXPECT_EQ(error_of("{\"a\":1}"), "got a JSON object without \"traceEvents\"");
  EXPECT_EQ(error_of("{\"a\":]}"), "byte 5: got ']', wanted a value");
  EXPECT_EQ(error_of("{\"a\":,}"), "byte 5: got ',', wanted a value");
}

TEST(ChromeBadInput, FilesOfOtherKindsListWhatIsRead) {
  EXPECT_THAT(error_of(""), StartsWith("got an empty file, wanted one of: "));
  EXPECT_THAT(error_of("\x7f"
                       "ELF\n"),
              StartsWith("got a file that begins with the bytes 7f 45 4c 46 0a, wanted one of: "));
  EXPECT_THAT(error_of("   "), HasSubstr("wanted one of: "));
  EXPECT_THAT(error_of("\xef\xbb\xbf"), HasSubstr("wanted one of: "));
  const TemporaryDirectory folder;
  const auto missing = read_recording(folder / "none"), directory = read_recording(folder.path());
  ASSERT_FALSE(missing || directory);
  EXPECT_THAT(missing.error().message, HasSubstr("none"));
  EXPECT_THAT(directory.error().message, HasSubstr("got a folder without a profiler's files"));
}

TEST(ChromeBadInput, EventsOfNobodyThatIsKnownAreRefused) {
  EXPECT_EQ(
      error_of(R"([{"ph":"X","cat":"gc","ts":1,"dur":1},{"ph":"C"}])"),
      "got 2 events, none of PyTorch's profiler or of rung; counters: 1; events of categories that are not known: 1");
}

TEST(ChromeBadInput, NestingHasAnEnd) {
  const auto nested = [](size_t depth) {
    return R"([{"ph":"X","cat":"kernel","ts":1,"dur":1,"args":{"grid":)" + std::string(depth, '[') +
           std::string(depth, ']') + "}}]";
  };
  EXPECT_EQ(error_of(nested(64)), "");
  EXPECT_THAT(error_of(nested(65)), HasSubstr("got '[', wanted less nesting: 64 levels at most"));
  EXPECT_THAT(error_of(nested(1'000'000)), HasSubstr("wanted less nesting"));
  EXPECT_THAT(error_of("{\"x\":" + std::string(70'000'000, '[')), HasSubstr("wanted less nesting"));
}

TEST(ChromeBadInput, DamagedPackedFilesAreRefused) {
  const std::string packed = gzip(kSmall);
  EXPECT_THAT(error_of(packed + "garbage"), HasSubstr("gzip data is damaged"));
  EXPECT_THAT(error_of("\x1f\x8b"), HasSubstr("gzip data ends early"));
  EXPECT_THAT(error_of("\x1f\x8b"
                       "garbage, and more of it"),
              HasSubstr("gzip data is damaged"));
  std::string checksum = packed;
  checksum[packed.size() - 6] = static_cast<char>(checksum[packed.size() - 6] ^ 1);
  EXPECT_THAT(error_of(checksum), HasSubstr("gzip data is damaged"));
  EXPECT_THAT(error_of(gzip("not JSON")), HasSubstr("wanted one of: "));
  EXPECT_THAT(error_of(gzip("")), HasSubstr("got an empty file"));
}

// 200 MB of one byte are 200 kB packed: no more is held than a value may have.
TEST(ChromeBadInput, WhatUnpacksToAlmostNothingIsRefused) {
  EXPECT_EQ(error_of(gzip("[{\"a\":\"" + std::string(100'000'000, 'x'))),
            "byte 1: got a value that goes on for more than 64 MB");
  EXPECT_EQ(error_of(gzip("[" + std::string(100'000'000, ' '))),
            "byte 1: got a value that goes on for more than 64 MB");
}

TEST(ChromeBadInput, LongValuesOfOtherMembersAreSteppedOver) {
  std::string list = "{\"samples\":[0";
  for (int i = 0; i < 20'000'000; ++i) list += ",[1]";
  const auto r = read_bytes(
      gzip(list + "],\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":1}]}"));
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->events.size(), 1u);
}

TEST(ChromeBadInput, TextsBeyondTheirBoundAreCounted) {
  const std::string begin = R"({"ph":"X","cat":"kernel","ts":1,"dur":1,"name":")";
  const auto r = read_bytes("[" + begin + std::string(kLongestText + 1, 'n') + "\"}," + begin +
                            std::string(kLongestText, 'n') + "\"}]");
  ASSERT_TRUE(r) << r.error().message;
  ASSERT_EQ(r->events.size(), 2u);
  EXPECT_EQ(skipped(*r, "texts longer than 1 MB"), 1);
  const auto escaped = read_bytes("[" + begin + std::string(kLongestText, 'n') + "\\n\"}]");
  ASSERT_TRUE(escaped);
  EXPECT_EQ(skipped(*escaped, "texts longer than 1 MB"), 1);
}

TEST(ChromeBadInput, LongNamesOfThreadsAreCut) {
  const auto r = read_bytes(R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1},
    {"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream )" +
                            std::string(5000, 'x') + "\"}}]");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->lanes[0].name, "stream " + std::string(kLongestName - 7, 'x'));
}

}  // namespace
}  // namespace rung::trace
