// MessagePack as notes of code objects use it: each kind in each width against another encoder, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/code/msgpack.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace rung::amdgpu {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Result<json> parsed(const std::vector<uint8_t>& bytes) { return parse_msgpack(std::as_bytes(std::span(bytes))); }
std::string error_of(const std::vector<uint8_t>& bytes) {
  const auto read = parsed(bytes);
  return read ? "read" : read.error().message;
}
void expect_read(const json& value) {
  const auto read = parsed(json::to_msgpack(value));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, value);
}
json numbered(size_t count) {
  json made = json::array();
  for (size_t n = 0; n < count; ++n) made.push_back(n % 100);
  return made;
}

// The encoder takes the narrowest form, so that the borders of widths have all of them.
TEST(MsgPack, NumbersOfEachWidthAreRead) {
  for (const int bits : {0, 5, 7, 8, 15, 16, 31, 32, 63})
    for (const int64_t beside : {-2, -1, 0, 1}) {
      const int64_t near = static_cast<int64_t>(uint64_t{1} << bits % 63) + beside;
      expect_read(near);
      expect_read(-near);
    }
  expect_read(std::numeric_limits<uint64_t>::max());
  expect_read(std::numeric_limits<int64_t>::min());
}

TEST(MsgPack, ReadsTextsListsAndMapsOfEachWidth) {
  for (const size_t count : {0u, 1u, 15u, 16u, 31u, 32u, 255u, 256u, 65535u, 65536u}) {
    expect_read(std::string(count, 'x') + (count % 2 ? "" : std::string(1, '\0')));
    expect_read(std::string(count, 'x'));
    expect_read(numbered(count));
    json map = json::object();
    for (size_t n = 0; n < count; ++n) map[std::to_string(n)] = n % 7;
    expect_read(map);
  }
  for (const json& value : {json(), json(true), json(false), json{{"a", {1, {{"b", nullptr}}}}}}) expect_read(value);
}

// Forms that are wider than they need to be are the same values.
TEST(MsgPack, ReadsValuesInWiderFormsThanNecessary) {
  EXPECT_EQ(parsed({0xcf, 0, 0, 0, 0, 0, 0, 0, 5}).value(), json(5));
  EXPECT_EQ(parsed({0xd0, 0x05}).value(), json(5));
  EXPECT_EQ(parsed({0xd3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe}).value(), json(-2));
  EXPECT_EQ(parsed({0xdb, 0, 0, 0, 1, 'x'}).value(), json("x"));
  EXPECT_EQ(parsed({0xdd, 0, 0, 0, 1, 7}).value(), json::array({7}));
  EXPECT_EQ(parsed({0xdf, 0, 0, 0, 1, 0xa1, 'k', 7}).value(), (json{{"k", 7}}));
}

TEST(MsgPack, RefusesWhatIsCutShortOrTooLong) {
  const auto whole =
      json::to_msgpack({{"text", std::string(300, 'x')}, {"list", numbered(20)}, {"n", 70000}, {"m", -9}});
  ASSERT_TRUE(parsed(whole));
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_THAT(error_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)}),
                HasSubstr("it ends within a value"));
  auto longer = whole;
  longer.push_back(0);
  EXPECT_EQ(error_of(longer), "1 bytes are left over after byte " + std::to_string(whole.size()));
  EXPECT_THAT(error_of({0xdd, 0xff, 0xff, 0xff, 0xff, 1}), HasSubstr("it ends within a value"));
  EXPECT_THAT(error_of({0xdb, 0xff, 0xff, 0xff, 0xff, 'x'}), HasSubstr("it ends within a value"));
}

// Floats and binary data, which no note has, among them.
TEST(MsgPack, KindsThatAreNotKnownAreRefused) {
  for (const int tag : {0xc1, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8})
    EXPECT_EQ(error_of({0x91, static_cast<uint8_t>(tag), 0, 0, 0, 0, 0, 0, 0, 0}),
              fmt::format("a value of kind 0x{:02x} at byte 1", tag));
}

TEST(MsgPack, KeysAreTextsAndComeOnce) {
  for (const std::vector<uint8_t>& key : {std::vector<uint8_t>{1}, {0xc0}, {0x90}, {0x80}, {0xff}}) {
    std::vector<uint8_t> map{0x81};
    map.insert(map.end(), key.begin(), key.end());
    map.push_back(1);
    EXPECT_THAT(error_of(map), HasSubstr("a key that is not a string"));
  }
  EXPECT_THAT(error_of({0x82, 0xa1, 'k', 1, 0xa1, 'k', 1}), HasSubstr("a key twice"));
}

TEST(MsgPack, LevelsHaveABound) {
  const auto nested = [](size_t levels, uint8_t tag) {
    std::vector<uint8_t> bytes;
    for (size_t n = 0; n < levels; ++n) {
      bytes.push_back(tag);
      if (tag == 0x81) bytes.push_back(0xa0);  // a key without a letter
    }
    bytes.push_back(1);
    return bytes;
  };
  for (const uint8_t tag : {uint8_t{0x91}, uint8_t{0x81}}) {
    EXPECT_EQ(error_of(nested(16, tag)), "read");
    EXPECT_THAT(error_of(nested(17, tag)), HasSubstr("more than 16 levels"));
    EXPECT_THAT(error_of(nested(100'000, tag)), HasSubstr("more than 16 levels"));
  }
}

}  // namespace
}  // namespace rung::amdgpu
