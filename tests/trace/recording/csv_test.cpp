// Rows and numbers of CSV: separators, quotes, line ends, languages, and what is cut short or never ends.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "trace/recording/csv_number.hpp"
#include "trace/recording/csv_rows.hpp"

namespace rung::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Table = std::vector<std::vector<std::string>>;

// The header first.
Result<Table> rows_of(const std::string& text) {
  const TemporaryDirectory folder;
  RUNG_TRY(CsvRows rows, CsvRows::open(folder.write("x.csv", text)));
  Table table{rows.header()};
  for (;;) {
    RUNG_TRY(const auto* fields, rows.next());
    if (fields->empty()) return table;
    table.emplace_back(fields->begin(), fields->end());
  }
}

TEST(CsvRows, AreReadWhateverSeparatesThem) {
  for (const std::string separator : {",", ";", "\t"})
    for (const std::string line_end : {"\n", "\r\n"})
      for (const std::string start : {"", "\xef\xbb\xbf"}) {
        const auto table = rows_of(start + "a" + separator + "\"b,;c\"" + line_end + "1" + separator + "x" + line_end +
                                   line_end + "2" + separator + line_end);
        ASSERT_TRUE(table) << table.error().message;
        EXPECT_EQ(*table, (Table{{"a", "b,;c"}, {"1", "x"}, {"2", ""}})) << separator;
      }
}

TEST(CsvRows, EndWithoutALineEnd) { EXPECT_EQ(rows_of("a,b\n1,2\n3,4"), (Table{{"a", "b"}, {"1", "2"}, {"3", "4"}})); }

TEST(CsvRows, HaveQuotedFieldsWithSeparatorsLinesAndQuotes) {
  EXPECT_EQ(rows_of("a,b\n\"f(int, \"\"x\"\")\nnext\",2\n\"\",\"\"\n"),
            (Table{{"a", "b"}, {"f(int, \"x\")\nnext", "2"}, {"", ""}}));
}

// Profilers do not double them.
TEST(CsvRows, HaveQuotesInsideThatEndNothing) {
  EXPECT_EQ(rows_of("a,b\n\"say \"hi\" now\",2\n"), (Table{{"a", "b"}, {"say \"hi\" now", "2"}}));
}

TEST(CsvRows, MayEndEachInASeparator) { EXPECT_EQ(rows_of("a,b,\n1,2,\n"), (Table{{"a", "b"}, {"1", "2"}})); }

TEST(CsvRows, KeepTheirNumberOfFields) {
  EXPECT_EQ(rows_of("a,b\n1\n1,2,3\n"), (Table{{"a", "b"}, {"1"}, {"1", "2", "3"}}));
}

// Rows lie across the ends of what is read at once, with their quotes.
TEST(CsvRows, AreWholeWhereChunksEnd) {
  std::string text = "a,b\n";
  constexpr int kRows = 60'000;
  for (int i = 0; i < kRows; ++i) text += fmt::format("\"row \"\"{}\"\" of, many\",{}\r\n", i, i);
  ASSERT_GT(text.size(), ReadAhead::kChunk);
  const auto table = rows_of(text);
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->size(), size_t{kRows} + 1);
  for (int i = 0; i < kRows; ++i)
    ASSERT_THAT((*table)[static_cast<size_t>(i) + 1],
                ElementsAre(fmt::format("row \"{}\" of, many", i), fmt::format("{}", i)));
}

TEST(CsvRows, BeyondAllMeasureAreRefused) {
  const auto table = rows_of("a,b\n1,2\n\"" + std::string(3 << 20, 'x'));
  ASSERT_FALSE(table);
  EXPECT_THAT(table.error().message, HasSubstr("row 3 is longer than 1048576 bytes: is a quote not closed?"));
}

TEST(CsvRows, WantAHeader) {
  for (const std::string text : {"", "\n\n", "one\n1\n", "\xef\xbb\xbf"}) {
    const auto table = rows_of(text);
    ASSERT_FALSE(table);
    EXPECT_THAT(table.error().message, HasSubstr("wanted a first line that names them"));
  }
}

TEST(CsvRows, AreToldByTheirFirstLineAlone) {
  EXPECT_THAT(first_row("\"a\";\"b;c\";d,e\r\n1;2;3"), ElementsAre("a", "b;c", "d,e"));
  EXPECT_THAT(first_row("\xef\xbb\xbfIndex,KernelName"), ElementsAre("Index", "KernelName"));
}

TEST(CsvNumber, IsReadInAnyLanguage) {
  EXPECT_EQ(whole_number("8819330200067564"), 8819330200067564);
  EXPECT_EQ(whole_number("-12"), -12);
  EXPECT_EQ(whole_number(" +12\t"), 12);
  EXPECT_EQ(whole_number("8819330200067564,4"), 8819330200067564);
  EXPECT_EQ(whole_number("8819330200067564.5"), 8819330200067565);
  EXPECT_EQ(whole_number("8.819.330.200.067.564"), 8819330200067564);
  EXPECT_EQ(whole_number("8,819,330.0"), 8819330);
  EXPECT_EQ(whole_number("-8.819.330,6"), -8819331);
  EXPECT_EQ(whole_number("1.234"), 1);
  EXPECT_EQ(whole_number("9223372036854775807"), INT64_MAX);
}

TEST(CsvNumber, IsNotMadeOfWhatIsNone) {
  for (const std::string_view text : {"", " ", "-", "x", "1x", "1 2", "0x10", "1e5", "8,81933E+15", "1.2.3", "1,23,456",
                                      ".5", ",", "9223372036854775808", "9223372036854775807.9", "--1", "nan", "None"})
    EXPECT_FALSE(whole_number(text)) << text;
  EXPECT_FALSE(whole_number(std::string(100, '1')));
}

}  // namespace
}  // namespace rung::trace
