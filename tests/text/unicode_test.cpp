// Characters and bytes of texts.
// SPDX-License-Identifier: Apache-2.0
#include "text/unicode.hpp"

#include <gtest/gtest.h>

#include "text/byte_alphabet.hpp"

namespace rung::text {
namespace {

TEST(Utf8, HasOneReplacementForEachWrongByte) {
  EXPECT_EQ(as_utf8("a\xffz\xe4\xb8"), "a\ufffdz\ufffd\ufffd");
  EXPECT_EQ(as_utf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd") << "a surrogate";
  EXPECT_EQ(as_utf8("\u4e2d\U0001f600"), "\u4e2d\U0001f600");
}

TEST(Utf8, HasOneReplacementForABegunCharacter) {
  EXPECT_EQ(decoded_utf8("a\xe4\xb8z"), "a\ufffdz");
  EXPECT_EQ(decoded_utf8("\xf0\x9f\x98"), "\ufffd");
  EXPECT_EQ(decoded_utf8("\xe4\xe4\xb8\xad\xff\xc3"), "\ufffd\u4e2d\ufffd\ufffd");
  EXPECT_EQ(decoded_utf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd") << "no character begins like a surrogate";
  EXPECT_EQ(decoded_utf8("\xc0\x80"), "\ufffd\ufffd");
}

TEST(Utf8, IsReadCharacterByCharacter) {
  const std::string text = "a\u00e9\u4e2d\U0001f600";
  size_t at = 0;
  for (const CodePoint wanted : {0x61, 0xe9, 0x4e2d, 0x1f600}) EXPECT_EQ(next_character(text, at), wanted);
  EXPECT_EQ(at, text.size());
  EXPECT_EQ(count_characters(text), 4u);
}

TEST(ByteAlphabet, HasACharacterForEachByte) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = in_byte_alphabet(std::string(1, static_cast<char>(byte)));
    size_t at = 0;
    EXPECT_EQ(byte_of(next_character(text, at)), static_cast<char>(byte));
    EXPECT_EQ(at, text.size());
  }
  EXPECT_EQ(in_byte_alphabet(" a\n\u00e9"), "\u0120a\u010a\u00c3\u00a9");
  EXPECT_EQ(byte_of(0x4e2d), std::nullopt);
}

TEST(NormalForms, AreThoseOfThePublishedLibrarysUnicode) {
  EXPECT_EQ(normal_form("e\u0301", NormalForm::nfc), "\u00e9");
  EXPECT_EQ(normal_form("\u00e9\uac00", NormalForm::nfd), "e\u0301\u1100\u1161");
  EXPECT_EQ(normal_form("\ufb01\u2460", NormalForm::nfkc), "fi1");
  EXPECT_EQ(normal_form("\u00e9\u32ff\u00e9", NormalForm::nfkd), "e\u0301\u32ffe\u0301") << "an era of 2019";
}

}  // namespace
}  // namespace rung::text
