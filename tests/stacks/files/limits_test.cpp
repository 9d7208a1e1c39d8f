// Hostile files: what no text is, what is too large, and what no format knows is refused in one line.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/files/lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "stacks/files/fields.hpp"
#include "stacks/files/format.hpp"

namespace rung::stacks {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string error_of(const std::string& text, std::string_view format = "") {
  const auto file = read_tuning_text("f", text, format);
  return file ? "accepted" : file.error().message;
}

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(HostileFiles, AreRefusedInOneLine) {
  EXPECT_THAT(error_of(""), HasSubstr("'f': got no line that says anything, wanted one of: results of PyTorch's"));
  EXPECT_THAT(error_of("\n \n# nothing\n"), HasSubstr("got no line that says anything"));
  EXPECT_THAT(error_of("hello\n"), HasSubstr("got a first line 'hello', wanted one of"));
  EXPECT_THAT(error_of(std::string("m,n,k\n1,2,3\n\0", 13)), HasSubstr("got a NUL at byte 12, wanted text"));
  EXPECT_THAT(error_of("m,n,k\n", "yaml"), HasSubstr("format: got 'yaml'"));
  const std::string hostile = error_of("\x1b[2J" + std::string(5000, 'x') + "\n");
  EXPECT_LT(hostile.size(), 900u);
  EXPECT_THAT(hostile, Not(HasSubstr("\x1b")));
}

TEST(HostileFiles, HaveLimitsOfLinesAndResults) {
  EXPECT_THAT(error_of("m,n,k\n" + std::string(kMaxLineBytes + 1, '1') + "\n"), HasSubstr("line 2: got 1048577 bytes"));
  EXPECT_THAT(error_of("m,n,k\n" + std::string(kMaxTuningLines, '\n')), HasSubstr("got more than 1000000 lines"));
  EXPECT_THAT(error_of(repeated("1x1=" + repeated("a:1;", 200'000) + "a:1\n", 6), "miopen_perf_db"),
              HasSubstr("got more than 1000000 results"));
  EXPECT_THAT(error_of("m,n,k" + repeated(",x", kMaxColumns) + "\n"), HasSubstr("got 259 columns, wanted at most 256"));
  std::string headers = "Git Version: x\n";
  for (size_t i = 0; i <= kMaxTables; ++i) headers += "transA,c" + std::to_string(i) + "\n";
  EXPECT_THAT(error_of(headers), HasSubstr("got more than 1000 headers"));
  EXPECT_THAT(error_of(std::string(kMaxTextBytes + 1, ' ')), HasSubstr("wanted at most 67108864"));
}

TEST(HostileFiles, OfMiopenHaveSemicolonsOfTheirOwn) {
  EXPECT_THAT(error_of("1x1=a;b:0.5,0,miopenConvolutionFwdAlgoGEMM\n"), HasSubstr("got a first line"));
  const auto file = read_tuning_text("f", "1x1=a;b:0.5,0,miopenConvolutionFwdAlgoGEMM\n", "miopen_find_db");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->entries.size(), 1u);
  EXPECT_EQ(file->refused.size(), 1u);
}

TEST(HostileFiles, WithOtherSeparatorsHaveARefusedLine) {
  for (const auto& [text, format] : {std::pair{"m;n;k\n1;2;3\n", ""},
                                     {"M\tN\tK\n1\t2\t3\n", ""},
                                     {"M;N;K;bias;dtype\n1;2;3;True;torch.float16\n", "gradlib_untuned"}}) {
    const auto file = read_tuning_text("f", text, format);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_TRUE(file->entries.empty());
    EXPECT_THAT(expect_no_refused(*file).error().message, HasSubstr("line 1: got cells separated by"));
    EXPECT_EQ(text_of(*file), text);
  }
}

TEST(Fields, AreReadWithoutALocaleAndExactly) {
  EXPECT_EQ(whole_number(" 12\t"), 12);
  EXPECT_EQ(whole_number("+7"), 7);
  for (const char* text : {"", " ", "+-1", "1.0", "0x10", "1e3", "9223372036854775808", "1 2", "one"})
    EXPECT_FALSE(whole_number(text)) << text;
  EXPECT_EQ(real_number("1e-3"), 0.001);
  EXPECT_FALSE(std::isfinite(real_number("inf").value_or(0)));
  EXPECT_FALSE(std::isfinite(real_number("nan").value_or(0)));
  for (const char* text : {"", "none", "1e999", "1,5", "0x1p3", "1.5ms"}) EXPECT_FALSE(real_number(text)) << text;
  EXPECT_EQ(cells_of("a,\"b,c\",,d"), (std::vector<std::string_view>{"a", "\"b,c\"", "", "d"}));
  EXPECT_EQ(unquoted(" \"b,c\" "), "b,c");
  EXPECT_EQ(shown("a\x1b[0m"), "'a?[0m'");
  EXPECT_EQ(truth_of("True"), true);
  EXPECT_FALSE(truth_of("yes"));
}

}  // namespace
}  // namespace rung::stacks
