// Base64 and zlib data: what is packed is unpacked, and what is damaged is refused.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "base/random.hpp"
#include "base/zlib_data.hpp"

namespace rung {
namespace {

std::string random_text(size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(random_bits(7, i));
  return text;
}

TEST(Base64, KnowsTheVectorsOfItsStandard) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
                                                         {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : vectors) {
    EXPECT_EQ(encode_base64(plain), coded);
    EXPECT_EQ(decode_base64(coded, "text").value(), plain);
  }
}

TEST(Base64, GivesBackEveryByte) {
  for (size_t bytes = 0; bytes < 300; ++bytes)
    EXPECT_EQ(decode_base64(encode_base64(random_text(bytes)), "text").value(), random_text(bytes)) << bytes;
}

TEST(Base64, NamesTheByteThatIsNone) {
  EXPECT_EQ(decode_base64("Zm9\n", "the text").error().message, "'the text': byte 3 is not Base64");
  EXPECT_EQ(decode_base64("Zm9", "the text").error().message,
            "'the text': got 3 characters, wanted a multiple of four");
}

TEST(ZlibData, GivesBackTheText) {
  for (const std::string& text : {std::string(), random_text(1), std::string(100'000, 'a'), random_text(700'000)}) {
    std::string unpacked = "what was there before";
    EXPECT_TRUE(inflate_all(deflated(text), text.size() + 1, unpacked));
    EXPECT_EQ(unpacked, text);
  }
  EXPECT_LT(deflated(std::string(100'000, 'a')).size(), 1000u);
}

TEST(ZlibData, RefusesMoreThanTheMost) {
  std::string unpacked;
  EXPECT_FALSE(inflate_all(deflated(std::string(100'000, 'a')), 99'999, unpacked));
  EXPECT_LE(unpacked.size(), 99'999u);
}

TEST(ZlibData, RefusesDamage) {
  const std::string packed = deflated(random_text(1000));
  std::string unpacked;
  for (size_t bytes = 0; bytes < packed.size(); bytes += 13)
    EXPECT_FALSE(inflate_all(packed.substr(0, bytes), 2000, unpacked)) << bytes;
  std::string other = packed;
  other.back() = static_cast<char>(other.back() ^ 1);
  EXPECT_FALSE(inflate_all(other, 2000, unpacked)) << "its sum";
}

}  // namespace
}  // namespace rung
