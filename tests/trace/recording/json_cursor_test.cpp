// Values found in JSON that may end anywhere.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/json_cursor.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

namespace rung::trace {

void PrintTo(Scan scan, std::ostream* out) { *out << (scan == Scan::ok ? "ok" : scan == Scan::more ? "more" : "bad"); }

namespace {

// Holds the text with its padding.
struct Padded {
  explicit Padded(std::string_view text) : bytes(text), size(text.size()) {
    bytes.resize(size + kJsonPadding);
    pad_json(bytes.data() + size);
  }
  JsonCursor cursor() const { return {bytes.data(), bytes.data() + size}; }
  std::string bytes;
  size_t size;
};

struct Found {
  Scan scan;
  std::string text;
  bool operator==(const Found&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Found& found) {
  PrintTo(found.scan, &out);
  return out << " '" << found.text << "'";
}

Found value_of(std::string_view json) {
  const Padded padded(json);
  JsonCursor cursor = padded.cursor();
  std::string_view text;
  const Scan scan = cursor.value(text);
  return {scan, scan == Scan::ok ? std::string(text) : cursor.wanted};
}

TEST(JsonCursor, ValuesEndWhereTheyEnd) {
  for (const std::string value : {"\"\"",
                                  "\"a\"",
                                  R"("a\"b")",
                                  R"("\\")",
                                  R"("a\\\"")",
                                  "[]",
                                  "{}",
                                  "[[],{}]",
                                  "{\"a\":[1,\"]\"]}",
                                  "1",
                                  "-1.5e+3",
                                  "null",
                                  "true",
                                  "false",
                                  "NaN",
                                  "Infinity",
                                  "-Infinity",
                                  "\"[{\"",
                                  "\"a text longer than eight bytes, \\\" and more\"",
                                  "[ 1 , { \"a\" : null } ]"})
    for (const std::string after : {",", " ", "]", "}", "\n\n,"}) {
      EXPECT_EQ(value_of(value + after), (Found{Scan::ok, value})) << value << after;
      EXPECT_EQ(value_of(" \t\r\n" + value + after), (Found{Scan::ok, value})) << value << after;
    }
}

TEST(JsonCursor, FindsStringsWithEscapesAnywhere) {
  for (size_t length = 0; length < 40; ++length)
    for (size_t escape = 0; escape + 2 <= length; ++escape) {
      std::string value = "\"" + std::string(length, 'x') + "\"";
      value[1 + escape] = '\\';
      value[2 + escape] = escape % 2 ? '"' : '\\';
      EXPECT_EQ(value_of(value + ","), (Found{Scan::ok, value}));
    }
}

TEST(JsonCursor, TellsQuotesAndBackslashesFromNeighbouringBytes) {
  std::string value = "\"";
  for (int c = 0; c < 256; ++c)
    if (c != '"' && c != '\\') value += static_cast<char>(c);
  EXPECT_EQ(value_of(value + "\" "), (Found{Scan::ok, value + "\""}));
}

TEST(JsonCursor, WhatEndsTooEarlyWantsMore) {
  for (const std::string value : {"\"abc\\\"def\"", "[1,[2,{\"a\":\"b\"}],null]", "{\"key\":[true,\"\\\\\"]}"})
    for (size_t bytes = 0; bytes < value.size(); ++bytes)
      EXPECT_EQ(value_of(value.substr(0, bytes)).scan, Scan::more) << value.substr(0, bytes);
  EXPECT_EQ(value_of("12").scan, Scan::more);  // more digits may follow
  EXPECT_EQ(value_of("tru").scan, Scan::more);
  EXPECT_EQ(value_of(" ").scan, Scan::more);
}

TEST(JsonCursor, WhatIsNoValueIsRefused) {
  for (const char* text :
       {"}", "]", ",", ":", "'a'", "nul ", "True ", "+1 ", ".5 ", "\x01 ", "\xff ", "[1}", "{1]", "[,nul ]"})
    EXPECT_EQ(value_of(text).scan, Scan::bad) << text;
  EXPECT_EQ(value_of("[1}").text, "']'");
  EXPECT_EQ(value_of("nul ").text, "a value");
  EXPECT_EQ(value_of(std::string(65, '[')).text, "less nesting: 64 levels at most");
  EXPECT_EQ(value_of(std::string(64, '[')).scan, Scan::more);
}

TEST(JsonCursor, KeysComeWithoutQuotesAndTakeTheColon) {
  const Padded padded(" \"a\\\"b\" : 1");
  JsonCursor cursor = padded.cursor();
  std::string_view key;
  ASSERT_EQ(cursor.key(key), Scan::ok);
  EXPECT_EQ(key, "a\\\"b");
  EXPECT_EQ(std::string_view(cursor.at, 2), " 1");
}

TEST(JsonCursor, PartsOfALongValueAreSteppedOver) {
  const std::string value = R"([{"a":[1,2,"x\"]"]},null,[[]]])";
  for (size_t cut = 1; cut < value.size(); ++cut) {
    JsonNesting open;
    bool ended = false;
    const Padded begin(std::string_view(value).substr(0, cut));
    JsonCursor first = begin.cursor();
    ASSERT_EQ(first.skip_part(open, ended), Scan::ok) << cut;
    ASSERT_FALSE(ended);
    const Padded rest(value.substr(static_cast<size_t>(first.at - begin.bytes.data())) + ",");
    JsonCursor second = rest.cursor();
    ASSERT_EQ(second.skip_part(open, ended), Scan::ok) << cut;
    EXPECT_TRUE(ended);
    EXPECT_EQ(*second.at, ',');
  }
}

TEST(JsonCursor, StringsAreUnescaped) {
  EXPECT_EQ(unescaped(R"("a\"b\\c\u00e9\n")"), "a\"b\\c\u00e9\n");
  EXPECT_EQ(unescaped(R"("plain")"), "plain");
  EXPECT_EQ(unescaped("12"), "12");
  EXPECT_EQ(unescaped(""), "");
  EXPECT_EQ(unescaped(R"("\ud800")"), R"(\ud800)");
  EXPECT_EQ(inner("\"\""), "");
}

}  // namespace
}  // namespace rung::trace
