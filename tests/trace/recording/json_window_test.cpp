// A JSON text longer than what is held of it at once.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/json_window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/temporary_directory.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

struct Opened {
  explicit Opened(const std::string& text) : window(ByteSource::open(folder.write("text", text)).value()) {}
  TemporaryDirectory folder;
  JsonWindow window;
};

Status value(JsonWindow& window, std::string& text) {
  std::string_view found;
  RUNG_CHECK(window.scan("a value", [&](JsonCursor& cursor) { return cursor.value(found); }));
  text = found;
  return {};
}

TEST(JsonWindow, WalksListsWithinLists) {
  Opened o(R"( {"a": [1, "two", []], "b": {}, "c": {"d": [ ]}} )");
  std::vector<std::string> seen;
  const auto element = [&]() -> Status {
    std::string text;
    RUNG_CHECK(value(o.window, text));
    seen.push_back(text);
    return {};
  };
  const Status status = o.window.members([&](const std::string& key) -> Status {
    seen.push_back(key);
    if (key == "a") return o.window.elements(element);
    return o.window.members([&](const std::string& inner) {
      seen.push_back(inner);
      return o.window.elements(element);
    });
  });
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_TRUE(o.window.expect_end());
  EXPECT_THAT(seen, ElementsAre("a", "1", "\"two\"", "[]", "b", "c", "d"));
}

// Chunks end within every kind of token.
TEST(JsonWindow, ChunksMayEndAnywhere) {
  const std::string element = R"({"key" : [1.5, "text\"", null]})";
  for (size_t before = 0; before <= element.size() + 2; ++before) {
    const size_t blanks = ReadAhead::kChunk - 1 - before;
    Opened o("[" + std::string(blanks, ' ') + element + " , " + element + "]");
    std::vector<std::string> seen;
    const Status status = o.window.elements([&]() -> Status {
      std::string text;
      RUNG_CHECK(value(o.window, text));
      seen.push_back(text);
      return {};
    });
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_THAT(seen, ElementsAre(element, element));
  }
}

TEST(JsonWindow, ValuesLongerThanAChunkAreWhole) {
  const std::string text = "\"" + std::string(3 * ReadAhead::kChunk, 'x') + "\"";
  Opened o(text);
  std::string found;
  ASSERT_TRUE(value(o.window, found));
  EXPECT_EQ(found, text);
  EXPECT_EQ(o.window.byte(), text.size());
}

TEST(JsonWindow, ValuesOfAnyLengthAreSteppedOver) {
  std::string list = "[0";
  while (list.size() < JsonWindow::kMostBytes + 1000) list += R"(,{"a":["b",[null]]})";
  Opened o("{\"long\":" + list + "],\"next\":\"v\"}");
  std::string found;
  const Status status = o.window.members(
      [&](const std::string& key) { return key == "next" ? value(o.window, found) : o.window.skip_value(); });
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(found, "\"v\"");
}

TEST(JsonWindow, ErrorsCountBytesOfTheWholeText) {
  const std::string blanks(3 * ReadAhead::kChunk, ' ');
  Opened o("[1," + blanks + "2," + blanks + "}");
  std::string found;
  const Status status = o.window.elements([&] { return value(o.window, found); });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message,
              EndsWith("byte " + std::to_string(2 * blanks.size() + 5) + ": got '}', wanted a value"));
}

TEST(JsonWindow, WhatIsCutShortSaysWithinWhat) {
  Opened o("{\"a\":[1,");
  const Status status = o.window.members([&](const std::string&) { return o.window.skip_value(); });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("ends at byte 8 within a value: the file is cut short"));
}

TEST(JsonWindow, OnlyBlanksMayFollow) {
  Opened blank("[]" + std::string(2 * ReadAhead::kChunk, '\n')),
      more("[] " + std::string(ReadAhead::kChunk, '\n') + "x");
  ASSERT_TRUE(blank.window.skip_value());
  EXPECT_TRUE(blank.window.expect_end());
  ASSERT_TRUE(more.window.skip_value());
  const Status status = more.window.expect_end();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("got 'x', wanted the end of the file"));
}

}  // namespace
}  // namespace rung::trace
