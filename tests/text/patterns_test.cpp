// Regular expressions: Oniguruma's meaning of signs that PCRE2 reads otherwise, and patterns that are no good.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "text/regex.hpp"

namespace rung::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> matches(const std::string& pattern, const std::string& text) {
  const auto regex = Regex::make(pattern);
  EXPECT_TRUE(regex) << regex.error().message;
  const auto spans = regex->spans(text);
  EXPECT_TRUE(spans) << spans.error().message;
  std::vector<std::string> found;
  for (const Span& span : *spans)
    if (span.matched) found.push_back(text.substr(span.begin, span.end - span.begin));
  return found;
}

std::string error_of(const std::string& pattern) {
  const auto regex = Regex::make(pattern);
  return regex ? "compiled" : regex.error().message;
}

TEST(Patterns, RepeatCountedRepetitions) {
  EXPECT_THAT(matches(R"(\p{N}{1,3}+)", "1234567"), ElementsAre("1234567"));
  EXPECT_THAT(matches(R"((?:ab){2}+)", "ababababab"), ElementsAre("abababab"));
  EXPECT_THAT(matches(R"([ab]{2}+c)", "ababac"), ElementsAre("babac")) << "it gives back what it took";
  EXPECT_THAT(matches(R"(\p{N}{1,3})", "1234567"), ElementsAre("123", "456", "7"));
  EXPECT_THAT(matches("xa{,2}", "xaaax"), ElementsAre("xaa", "x"));
  EXPECT_THAT(matches("xa{2}?", "xaaxa"), ElementsAre("xaa", "x")) << "an exact count may be missing";
  EXPECT_THAT(matches(R"(a?+b++c*+)", "abbcc b"), ElementsAre("abbcc", "b"));
}

TEST(Patterns, TakeMarksForPartsOfWords) {
  EXPECT_THAT(matches(R"(\w+)", "a\u0301b\u203f\u00b2 \u0915\u093f-c"),
              ElementsAre("a\u0301b\u203f\u00b2", "\u0915\u093f", "c"));
  EXPECT_THAT(matches(R"(\W)", "a\u0301 b\u200dc"), ElementsAre(" ", "\u200d"));
  EXPECT_THAT(matches(R"(\ba)", "a\u0301a -a"), ElementsAre("a", "a"));
  EXPECT_THAT(matches(R"(a\B)", "a\u0301 a-"), ElementsAre("a"));
}

TEST(Patterns, KnowEverySpace) {
  EXPECT_THAT(matches(R"(\s)", "a\u180eb\u0085c\u200bd\u3000"), ElementsAre("\u0085", "\u3000"));
  EXPECT_THAT(matches(R"([^\s]+)", "a\u180eb\u0085c"), ElementsAre("a\u180eb", "c"));
  EXPECT_THAT(matches(R"(\S+)", "a\u180eb c"), ElementsAre("a\u180eb", "c"));
}

TEST(Patterns, KnowCharactersOfUnicode16) {
  EXPECT_THAT(matches(R"(\p{L}+)", "\u1c89a\U0001e030 \U00031350"), ElementsAre("\u1c89a\U0001e030", "\U00031350"));
  EXPECT_THAT(matches(R"([^\p{L}]+)", "\u1c89--\U00031350"), ElementsAre("--"));
  EXPECT_THAT(matches(R"(\P{L}+)", "\u1c89--\U00031350"), ElementsAre("--"));
  EXPECT_THAT(matches(R"(\p{^L}+)", "\u1c89--\U00031350"), ElementsAre("--"));
  EXPECT_THAT(matches(R"(\p{Han})", "\U00031350a"), ElementsAre("\U00031350"));
}

TEST(Patterns, MatchAtLinesAsOnigurumaDoes) {
  EXPECT_THAT(matches("^a", "a\na"), ElementsAre("a", "a"));
  EXPECT_THAT(matches("a$", "a\na"), ElementsAre("a", "a"));
  EXPECT_THAT(matches("a.b", "a\nb"), ElementsAre());
  EXPECT_THAT(matches("(?m:a.b)", "a\nb"), ElementsAre("a\nb"));
  EXPECT_THAT(matches(R"(\h+)", "xfF9g"), ElementsAre("fF9"));
  EXPECT_THAT(matches(R"([\u4e00-\u9fa5]+)", "a\u4e00\u9fa5\u9fa6"), ElementsAre("\u4e00\u9fa5"));
}

TEST(Patterns, KnowScriptsByTheirOwnCharacters) {
  EXPECT_THAT(matches(R"(\p{Hiragana}+)", "\u3042\u30fc\u3044"), ElementsAre("\u3042", "\u3044"));
  EXPECT_THAT(matches(R"(\p{Greek}+)", "\u03b1\u0345\u03b2"), ElementsAre("\u03b1", "\u03b2"));
}

TEST(Patterns, KnowTheNamesOfPosix) {
  EXPECT_THAT(matches(R"(\p{Alpha}+)", "a\u24d0-1"), ElementsAre("a\u24d0"));
  EXPECT_THAT(matches(R"([[:punct:]])", "a$-"), ElementsAre("$", "-"));
  EXPECT_THAT(matches(R"(\p{Punct})", "a$-"), ElementsAre("-")) << "without ASCII's symbols outside of brackets";
  EXPECT_THAT(matches(R"([[:alnum:]_]+)", "a1_-b"), ElementsAre("a1_", "b"));
  EXPECT_THAT(matches(R"([[:space:]])", "a\u180eb\u3000"), ElementsAre("\u3000"));
}

TEST(Patterns, MatchWithoutCase) { EXPECT_THAT(matches("(?i:'s|'ll)", "it'S we'Ll 'x"), ElementsAre("'S", "'Ll")); }

TEST(Patterns, FindEmptyMatchesBesideOthers) {
  const auto regex = Regex::make("x*");
  const auto spans = regex->spans("axb");
  ASSERT_TRUE(spans);
  size_t empty = 0, full = 0;
  for (const Span& span : *spans) (span.begin == span.end ? empty : full) += span.matched;
  EXPECT_EQ(full, 1u);
  EXPECT_EQ(empty, 2u) << "before a, and at the end; the one right after x is none";
}

TEST(Patterns, SayWhatIsWrongWithThem) {
  EXPECT_THAT(error_of("(a"), HasSubstr("got '(a': missing closing parenthesis"));
  EXPECT_THAT(error_of("a)"), HasSubstr("')' at byte 1 closes nothing"));
  EXPECT_THAT(error_of("[a"), HasSubstr("missing terminating ]"));
  EXPECT_THAT(error_of("a\\"), HasSubstr("ends with a backslash"));
  EXPECT_THAT(error_of("\\p{Nothing}"), HasSubstr("unknown property"));
  EXPECT_THAT(error_of("\\pL"), HasSubstr("wanted a name in braces after \\p"));
  EXPECT_THAT(error_of("[a[bc]]"), HasSubstr("brackets in brackets at byte 2 are not supported"));
  EXPECT_THAT(error_of("[a-z&&b]"), HasSubstr("intersections of classes at byte 4 are not supported"));
  EXPECT_THAT(error_of("[\\W]"), HasSubstr("negated classes in brackets"));
  EXPECT_THAT(error_of("[[:graph:]]"), HasSubstr("such classes in brackets at byte 1 are not supported"));
  EXPECT_THAT(error_of("[\\P{Greek}]"), HasSubstr("negated classes in brackets"));
  EXPECT_THAT(error_of("\\X"), HasSubstr("clusters of characters"));
  EXPECT_THAT(error_of("(?s:a)"), HasSubstr("such options at byte 2 are not supported"));
  EXPECT_THAT(error_of("\\u12"), HasSubstr("wanted four hexadecimal digits"));
  EXPECT_THAT(error_of(std::string(70'000, 'a')), HasSubstr("got a pattern of 70000 bytes"));
  EXPECT_THAT(error_of(std::string(2'000, '(') + std::string(2'000, ')')), HasSubstr("nested"));
}

TEST(Patterns, EndOnTextsMadeToTakeForever) {
  const auto regex = Regex::make("(?:a|a)*b|c");
  ASSERT_TRUE(regex);
  const auto spans = regex->spans(std::string(26, 'a'));  // 2^26 ways to match them
  ASSERT_FALSE(spans);
  EXPECT_THAT(spans.error().message, HasSubstr("a pattern of the tokenizer does not suit this text"));
}

TEST(Patterns, MatchLongTextsWithoutRecursion) {
  const auto regex = Regex::make(R"((?:[ab]|c)+)");
  const std::string text(1 << 20, 'a');
  const auto spans = regex->spans(text);
  EXPECT_TRUE(!spans || spans->size() == 1) << "one match, or an error";
}

}  // namespace
}  // namespace rung::text
