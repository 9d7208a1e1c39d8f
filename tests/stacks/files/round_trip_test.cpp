// What is read is written again byte by byte, rows made from what was read are the rows that stood there, and files
// that are made or changed are read as what was put into them.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "stacks/files/format.hpp"
#include "stacks/files/samples.hpp"
#include "support/temporary_directory.hpp"

namespace rung::stacks {
namespace {

using testing::HasSubstr;

class OfEverySample : public testing::TestWithParam<Sample> {
 protected:
  static TuningFile read(const std::string& text) {
    auto file = read_tuning_text(std::string(GetParam().name), text);
    EXPECT_TRUE(file) << file.error().message;
    return file ? std::move(*file) : TuningFile{};
  }
};

std::string with_crlf(std::string text) {
  for (size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) text.insert(at, 1, '\r');
  return text;
}

TEST_P(OfEverySample, IsKnownByContentWithoutRefusedLines) {
  const TuningFile file = read(GetParam().text);
  ASSERT_NE(file.format, nullptr);
  EXPECT_EQ(file.format->name, GetParam().format);
  EXPECT_TRUE(expect_no_refused(file)) << expect_no_refused(file).error().message;
  EXPECT_FALSE(file.entries.empty());
}

TEST_P(OfEverySample, IsWrittenByteByByte) {
  std::string text = GetParam().text;
  EXPECT_EQ(text_of(read(text)), text);
  EXPECT_EQ(text_of(read(with_crlf(text))), with_crlf(text));
  EXPECT_EQ(text_of(read("\xef\xbb\xbf" + text)), "\xef\xbb\xbf" + text);
  const std::string mixed = text.substr(0, text.find('\n')) + "\r" + text.substr(text.find('\n'));
  EXPECT_EQ(text_of(read(mixed)), mixed);
  text.pop_back();
  EXPECT_EQ(text_of(read(text)), text) << "without an end of the last line";
  EXPECT_EQ(text_of(read(text + "\n\n\n")), text + "\n\n\n");
}

TEST_P(OfEverySample, WithOtherEndsOfLinesSaysTheSame) {
  const TuningFile plain = read(GetParam().text), other = read(with_crlf(GetParam().text));
  ASSERT_EQ(plain.entries.size(), other.entries.size());
  for (size_t i = 0; i < plain.entries.size(); ++i) {
    EXPECT_EQ(plain.entries[i].key, other.entries[i].key);
    EXPECT_EQ(plain.entries[i].us, other.entries[i].us);
    EXPECT_EQ(plain.entries[i].line, other.entries[i].line);
  }
}

// Patterns, and products with scaling of PyTorch on NVIDIA, are not.
bool is_made(const TuningFile& file, const Entry& entry) {
  return file.format->rows && entry.shape && entry.key.find("_ast_") == entry.key.npos;
}

// hipBLASLt's columns are made again with the strides and rates that follow from the product, and our lists with spaces
// where they stood: what is compared is what the next reader finds.
TEST_P(OfEverySample, RowsAreMadeAgainAsTheyStood) {
  TuningFile file = read(GetParam().text);
  const bool exact = file.format != &hipblaslt && file.format != &aiter_untuned;
  for (Entry entry : std::vector<Entry>(file.entries)) {
    if (!is_made(file, entry)) continue;
    const std::string key = entry.key, stood = file.lines[entry.line - 1].text;
    const auto rows = file.format->rows(file, entry);
    ASSERT_TRUE(rows) << stood << ": " << rows.error().message;
    ASSERT_EQ(rows->size(), 1u);
    EXPECT_EQ(entry.key, key);
    if (exact) {
      EXPECT_EQ(rows->back(), stood);
    }
  }
}

TEST_P(OfEverySample, PuttingWhatStandsThereChangesNoOtherLine) {
  TuningFile file = read(GetParam().text);
  const std::vector<Entry> entries = file.entries;
  const auto found = std::ranges::find_if(entries, [&](const Entry& entry) { return is_made(file, entry); });
  if (!file.format->rows) {
    EXPECT_THAT(put(file, entries[0]).error().message, HasSubstr("which is only read"));
    return;
  }
  ASSERT_NE(found, entries.end());
  Entry changed = *found;
  if (changed.us) changed.us = 1234.5;
  const std::vector<Line> before = file.lines;
  const Status status = put(file, changed);
  ASSERT_TRUE(status) << status.error().message;
  ASSERT_EQ(file.lines.size(), before.size());
  for (size_t i = 0; i < before.size(); ++i)
    if (i + 1 != found->line) {
      EXPECT_EQ(file.lines[i].text, before[i].text);
    }
  const TuningFile again = read(text_of(file));
  ASSERT_EQ(again.entries.size(), entries.size());
  const Entry& read_back = again.entries[static_cast<size_t>(found - entries.begin())];
  EXPECT_EQ(read_back.key, found->key);
  if (changed.us) {
    EXPECT_NEAR(*read_back.us, 1234.5, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OfEverySample, testing::ValuesIn(samples()), [](const auto& named) {
  std::string name(named.param.name);
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

TEST(FormatTable, HasOneSampleOfEveryFormatAtLeast) {
  for (const Format* format : formats())
    EXPECT_TRUE(std::ranges::any_of(samples(), [&](const Sample& s) { return s.format == format->name; }))
        << format->name;
  EXPECT_THAT(format_named("yaml").error().message, HasSubstr("got 'yaml', wanted one of tunableop, "));
}

// A product that every format can say, with what each of them wants beside.
Entry some_result(std::string_view format) {
  Entry entry;
  GemmShape shape;
  shape.m = 51, shape.n = 1024, shape.k = 2048;
  entry.shape = shape;
  entry.solution = Solution{"hipblaslt", format == "tunableop" ? "Gemm_Hipblaslt_7" : "kernel", 7, 0};
  entry.us = 12.25;
  entry.architecture = "gfx942";
  entry.compute_units = 304;
  entry.others["err_ratio"] = "0.0";
  return entry;
}

TEST(FormatTable, ReadsNewFilesAsWhatWasPut) {
  for (const Format* format : formats()) {
    if (!format->header) {
      EXPECT_THAT(new_tuning_file(format->name, mi300x()).error().message, HasSubstr("only read"));
      continue;
    }
    auto file = new_tuning_file(format->name, mi300x());
    ASSERT_TRUE(file) << format->name << ": " << file.error().message;
    Entry entry = some_result(format->name);
    if (format->wins == Wins::every) entry.others.clear();
    if (format != &aiter) entry.others.clear();
    Status status = put(*file, entry);
    ASSERT_TRUE(status) << format->name << ": " << status.error().message;
    entry.shape->m = 52;
    ASSERT_TRUE(put(*file, entry)) << format->name;
    ASSERT_TRUE(put(*file, entry)) << "the same again replaces its row";
    const auto again = read_tuning_text("new", text_of(*file), format->name);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(expect_no_refused(*again)) << format->name;
    ASSERT_EQ(again->entries.size(), 2u) << text_of(*file);
    EXPECT_EQ(again->entries[0].shape->m, 51) << format->name;
    EXPECT_TRUE(same_product(*again->entries[1].shape, *entry.shape))
        << format->name << ": " << text_of(*again->entries[1].shape);
    if (format->wins == Wins::every) continue;
    EXPECT_NEAR(again->entries[1].us.value_or(0), 12.25, 1e-9) << format->name;
    EXPECT_EQ(again->entries[1].solution->index, 7) << format->name;
  }
}

TEST(Put, AddsRowsWithTheFilesLineEnds) {
  auto file = read_tuning_text("f", "m,n,k,layer\r\n1,2,3,head");
  ASSERT_TRUE(file);
  Entry entry;
  entry.shape = GemmShape{4, 5, 6};
  entry.others["layer"] = "tail";
  ASSERT_TRUE(put(*file, entry));
  EXPECT_EQ(text_of(*file), "m,n,k,layer\r\n1,2,3,head\r\n4,5,6,tail\r\n");
}

TEST(Put, ReplacesTheRowThatTheStackTakes) {
  const std::string head = "M,N,K,bias,dtype,outdtype,libtype,solidx,soltimes\n";
  const std::string row = "4096,1,4096,False,torch.float16,torch.float16,hipblaslt,";
  auto last = read_tuning_text("f", head + row + "1,0.5\n" + row + "2,0.5\n");
  ASSERT_TRUE(last);
  Entry entry = last->entries[0];
  entry.solution->index = 3;
  ASSERT_TRUE(put(*last, entry));
  EXPECT_EQ(text_of(*last), head + row + "1,0.5\n" + row + "3,0.5\n");

  const std::string op = "GemmTunableOp_Half_TN,tn_8_8_8_ld_8_8_8,Gemm_Hipblaslt_";
  auto first = read_tuning_text("f", op + "1,0.5\n" + op + "2,0.5\n");
  ASSERT_TRUE(first);
  entry = first->entries[1];
  entry.solution->name = "Gemm_Hipblaslt_3";
  ASSERT_TRUE(put(*first, entry));
  EXPECT_EQ(text_of(*first), op + "3,0.5\n" + op + "2,0.5\n");
}

TEST(Put, KeepsColumnsThatNobodyKnows) {
  auto file = read_tuning_text("f",
                               "gfx,cu_num,M,N,K,libtype,kernelId,splitK,us,kernelName,owner,errRatio\n"
                               "gfx942,304,1,64,64,ck,8,0,6.5,a8w8_blockscale_1,somebody,0.25\n");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(cell_of(*file, file->entries[0], "owner"), "somebody");
  Entry entry = file->entries[0];
  entry.us = 5;
  const Status status = put(*file, entry);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(file->lines[1].text, "gfx942,304,1,64,64,ck,8,0,5.0,a8w8_blockscale_1,somebody,0.25");
}

TEST(Put, KeepsTheFormOfAnOlderVersion) {
  auto file = read_tuning_text("logged.csv", sample("logged.csv").text);
  ASSERT_TRUE(file);
  Entry entry = file->entries[1];
  entry.us = 5;
  const Status status = put(*file, entry);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(file->entries.size(), 2u);
  EXPECT_EQ(file->lines.back().text, "GemmTunableOp_float_NN,nn_256_128_512,Gemm_Rocblas_21,0.005");
  entry.shape->m = 77;
  EXPECT_THAT(put(*file, entry).error().message, HasSubstr("the file is for PyTorch '2.4.0', wanted 2.7 or later"));
  EXPECT_EQ(file->entries.size(), 2u);
}

TEST(Put, KeepsTheWordsThatIdentifyAProduct) {
  const std::string head = "Git Version: x\n    transA,transB,batch_count,m,n,k,a_type,compute_type,solution_index\n";
  auto file = read_tuning_text("f", head + "    T,N,1,0640,8,16,f16_r,c_f32_fast,7\n");
  ASSERT_TRUE(file) << file.error().message;
  Entry entry = file->entries[0];
  entry.solution->index = 9;
  Status status = put(*file, entry);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(text_of(*file), head + "    T,N,1,0640,8,16,f16_r,c_f32_fast,9\n");
  const std::string list = "M,N,K,bias,dtype,libtype,solidx,soltimes\n";
  file = read_tuning_text("f", list + "0640,8,16,0,torch.float16,rocblas,3,0.5\n");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->entries.size(), 1u) << file->refused[0].text;
  EXPECT_EQ(file->entries[0].key, "640,8,16,False,torch.float16");
  entry = file->entries[0];
  entry.us = 250;
  status = put(*file, entry);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(text_of(*file), list + "0640,8,16,0,torch.float16,rocblas,3,0.25\n");
}

TEST(Put, RefusesWhatTheFormatCannotSay) {
  auto file = new_tuning_file("aiter", mi300x());
  ASSERT_TRUE(file);
  Entry entry = some_result("aiter");
  entry.shape->layout = GemmLayout::nn;
  EXPECT_THAT(put(*file, entry).error().message, HasSubstr("weights stored as [n, k]"));
  entry.shape->layout = GemmLayout::tn;
  entry.shape->batch = 2;
  EXPECT_THAT(put(*file, entry).error().message,
              HasSubstr("wanted a product that the columns of this file can express"));
  entry.shape->batch = 1;
  entry.others.clear();
  EXPECT_THAT(put(*file, entry).error().message, HasSubstr("got no err_ratio"));
  EXPECT_EQ(file->entries.size(), 0u);
}

TEST(Put, TakesAnEntryOfAnotherProductAsNew) {
  auto file = read_tuning_text("tuning.txt", sample("tuning.txt").text);
  ASSERT_TRUE(file);
  Entry entry = file->entries[0];
  entry.shape->m = 71;
  const Status status = put(*file, entry);
  ASSERT_TRUE(status) << status.error().message;
  const auto again = read_tuning_text("tuning.txt", text_of(*file));
  ASSERT_EQ(again->entries.size(), 3u) << "with a line of column names of its own";
  EXPECT_EQ(again->entries[2].shape->m, 71);
  EXPECT_EQ(again->entries[0].shape->m, 70);
}

TEST(Put, KeepsALineToOneLine) {
  auto file = new_tuning_file("aiter", mi300x());
  Entry entry = some_result("aiter");
  entry.solution->name = "a\nValidator,x,y";
  EXPECT_THAT(put(*file, entry).error().message, HasSubstr("end of a line"));
  TunedMachine machine = mi300x();
  machine.versions["PT_VERSION"] = "2.15\nGemmTunableOp_Half_TN,x,y";
  EXPECT_THAT(new_tuning_file("tunableop", machine).error().message, HasSubstr("end of a line"));
}

TEST(Files, AreReadFromADisk) {
  TemporaryDirectory folder;
  const std::string path = folder.write("tuned.csv", sample("tuned.csv").text);
  const auto file = read_tuning_file(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->entries.size(), 2u);
  EXPECT_THAT(read_tuning_file(folder / "nothing").error().message, HasSubstr("nothing"));
}

}  // namespace
}  // namespace rung::stacks
