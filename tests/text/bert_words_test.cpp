// Words before any vocabulary: what is dropped, what separates, what stands alone; at the edges of every class.
// SPDX-License-Identifier: Apache-2.0
#include "text/normalizers/normalizers.hpp"

#include <gmock/gmock.h>

#include "text/pre_tokenizers/pre_tokenizers.hpp"

namespace rung::text {
namespace {

using testing::ElementsAre;

struct Rules {
  bool clean_text = true, split_cjk = true, lower_case = true, strip_accents = true;
};

std::vector<std::string> words(std::string_view text, const Rules& rules = {}) {
  const auto description = Config::parse(
      fmt::format(R"({{"normalizer":{{"type":"BertNormalizer","clean_text":{},"handle_chinese_chars":{},)"
                  R"("lowercase":{},"strip_accents":{}}},"pre_tokenizer":{{"type":"BertPreTokenizer"}}}})",
                  rules.clean_text, rules.split_cjk, rules.lower_case, rules.strip_accents),
      "description");
  Pieces pieces{{.text = as_utf8(text)}};
  const auto normalizers = read_normalizers(*description);
  const auto pre_tokenizers = read_pre_tokenizers(*description);
  EXPECT_TRUE(normalizers->at(0)(pieces[0]));
  EXPECT_TRUE(pre_tokenizers->at(0)(pieces));
  std::vector<std::string> words;
  for (const Piece& piece : pieces) words.push_back(piece.text);
  return words;
}

TEST(Words, AreWithoutControlAndFormatAndPrivateCharacters) {
  for (const char* dropped : {"\x01", "\x7f", "\u0085", "\u00ad", "\u200d", "\u2060", "\ue000", "\U000f0000"})
    EXPECT_THAT(words(std::string("a") + dropped + "b"), ElementsAre("ab")) << dropped;
  EXPECT_THAT(words("a\u0378b"), ElementsAre("a\u0378b")) << "not assigned yet";
}

TEST(Words, KeepEverythingWhereTheModelDoesNotClean) {
  EXPECT_THAT(words("a\u200db", {.clean_text = false}), ElementsAre("a\u200db"));
  EXPECT_THAT(words("a\xff", {.clean_text = false}), ElementsAre("a\ufffd"));
  EXPECT_THAT(words("a\u0085b\u2028c", {.clean_text = false}), ElementsAre("a", "b", "c"));
}

TEST(Words, AreSplitAtEverySpace) {
  for (const char* space :
       {" ", "\t", "\n", "\r", "\u00a0", "\u1680", "\u2003", "\u2028", "\u2029", "\u202f", "\u3000"})
    EXPECT_THAT(words(std::string("a") + space + "b"), ElementsAre("a", "b")) << static_cast<int>(space[0]);
}

TEST(Words, OfIdeographsAreOneCharacterInEveryBlock) {
  for (const char* alone : {"\u4e00", "\u9fff", "\u3400", "\u4dbf", "\U00020000", "\U0002a6df", "\U0002a700",
                            "\U0002b73f", "\U0002b740", "\U0002b81f", "\U0002b920", "\U0002ceaf"})
    EXPECT_THAT(words(std::string("a") + alone + "b"), ElementsAre("a", alone, "b")) << alone;
  for (const char* joined : {"\u4dc0", "\u33ff", "\u3042", "\u30a2", "\uac00", "\U0002b820", "\U0002b91f", "\U0002ceb0",
                             "\U00030000", "\U0002ebf0"})
    EXPECT_THAT(words(std::string("a") + joined + "b", {.strip_accents = false}),
                ElementsAre(std::string("a") + joined + "b"))
        << joined;
}

// The compatibility ideographs decompose to those that they stand for.
TEST(Words, OfCompatibilityIdeographsStandAloneToo) {
  EXPECT_THAT(words("a\uf900b"), ElementsAre("a", "\u8c48", "b"));
  EXPECT_THAT(words("a\uf900b", {.strip_accents = false}), ElementsAre("a", "\uf900", "b"));
  EXPECT_THAT(words("a\U0002f800b", {.strip_accents = false}), ElementsAre("a", "\U0002f800", "b"));
}

TEST(Words, EndAtEveryPunctuation) {
  for (char c : std::string("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"))
    EXPECT_THAT(words(std::string("a") + c + "b"), ElementsAre("a", std::string(1, c), "b")) << c;
  for (const char* mark : {"\u2014", "\u201c", "\u201d", "\u00ab", "\u00bb", "\u3002", "\u203f", "\u300c", "\u300d"})
    EXPECT_THAT(words(std::string("a") + mark + "b"), ElementsAre("a", mark, "b")) << mark;
  for (const char* symbol : {"\u20ac", "\u00a9", "\u2211", "\u00b0"})  // symbols, not punctuation
    EXPECT_THAT(words(std::string("a") + symbol + "b"), ElementsAre(std::string("a") + symbol + "b")) << symbol;
}

// The published library's tables are of 2015, and models are trained on what it gives.
TEST(Words, KeepCharactersUnknownToThePublishedLibraryTogether) {
  for (const char* joined :
       {"\u2e43", "\u2e5d", "\u061d", "\u0890", "\U000110cd", "\u08d4", "\U0001e008", "\U00011938"})
    EXPECT_THAT(words(std::string("a") + joined + "b"), ElementsAre(std::string("a") + joined + "b")) << joined;
  for (const char* mark : {"\u2e42", "\u166d"})
    EXPECT_THAT(words(std::string("a") + mark + "b"), ElementsAre("a", mark, "b")) << mark;
}

TEST(Words, LoseNonspacingMarksAndNoOthers) {
  EXPECT_THAT(words("\u00e9\u1ec7a\u0300"), ElementsAre("eea"));
  EXPECT_THAT(words("\u0915\u093e"), ElementsAre("\u0915\u093e")) << "a spacing mark is a letter's part";
  EXPECT_THAT(words("\u00c9", {.strip_accents = false}), ElementsAre("\u00e9"));
  EXPECT_THAT(words("\u00c9", {.lower_case = false}), ElementsAre("E"));
}

TEST(Words, AreLowerCaseInEveryScript) {
  EXPECT_THAT(words("\u0416\u03a9\u00df\u0410"), ElementsAre("\u0436\u03c9\u00df\u0430"));
  EXPECT_THAT(words("\u0130", {.strip_accents = false}), ElementsAre("i\u0307"));
}

}  // namespace
}  // namespace rung::text
