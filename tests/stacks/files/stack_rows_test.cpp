// Rows that the stacks wrote themselves are rows here, too, and a file is that of the stack which wrote it.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stacks/files/format.hpp"
#include "stacks/files/samples.hpp"
#include "stacks/lint/lint.hpp"

namespace rung::stacks {
namespace {

using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kFiles = std::string(RUNG_TEST_DATA) + "/tuning_files/";
const std::string kHeading =
    "transA,transB,M,N,batch_count,K,alpha,beta,lda,ldb,ldc,input_type,output_type,compute_type,solution_index\n";

TuningFile read(const std::string& path) {
  auto file = read_tuning_file(path);
  EXPECT_TRUE(file) << file.error().message;
  return file.value_or(TuningFile{});
}

TEST(PyTorchsRows, AreAllTakenNotingAnUnmeasuredTime) {
  const TuningFile file = read(kFiles + "tunableop_results0.csv");
  EXPECT_EQ(file.entries.size(), 6u);
  EXPECT_THAT(file.refused, IsEmpty());
  const LintReport report = lint(file, {});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].line, 9u);
  EXPECT_EQ(report.findings[0].severity, Severity::note);
  EXPECT_EQ(report.findings[0].kind, LintKind::bad_time);
  EXPECT_THAT(report.findings[0].text, HasSubstr("inf us: it was not measured, and the row counts"));
}

TEST(PyTorchsRows, KeepTheirLeadingDimensionsWhenRewritten) {
  TuningFile file = read(kFiles + "tunableop_results0.csv");
  const std::string before = text_of(file);
  Entry entry = file.entries.front();
  EXPECT_EQ(entry.shape->out_stride, 1);
  entry.us = 200;
  ASSERT_TRUE(put(file, entry));
  EXPECT_THAT(text_of(file), HasSubstr("nn_128_1_8_B_4096_ld_524288_32768_1,Default,0.2\n"));
}

struct Leading {
  const char *sizes, *wrong;  // empty: nothing is
};
void PrintTo(const Leading& leading, std::ostream* out) { *out << leading.sizes; }
class LeadingDimensions : public testing::TestWithParam<Leading> {};

// Each side of an operand that has one column, and its neighbour that has two.
TEST_P(LeadingDimensions, MayBeAnyWhereThereIsOneColumn) {
  const std::string layout(GetParam().sizes, 2);
  const auto file = read_tuning_text(
      "f.csv", fmt::format("GemmTunableOp_Half_{}{},{},Default,0.1\n", std::toupper(layout[0]) == 'T' ? "T" : "N",
                           std::toupper(layout[1]) == 'T' ? "T" : "N", GetParam().sizes));
  ASSERT_TRUE(file);
  ASSERT_EQ(file->refused.size(), *GetParam().wrong ? 1u : 0u);
  if (*GetParam().wrong) {
    EXPECT_EQ(file->refused[0].text, GetParam().wrong);
  }
}

INSTANTIATE_TEST_SUITE_P(Operands, LeadingDimensions,
                         testing::Values(Leading{"nn_64_1_32_ld_64_32_1", ""},
                                         Leading{"nn_64_2_32_ld_64_32_1", "ldc: got 1, wanted at least 64"},
                                         Leading{"nn_64_8_1_ld_1_1_64", ""},
                                         Leading{"nn_64_8_2_ld_1_2_64", "lda: got 1, wanted at least 64"},
                                         Leading{"tn_1_8_32_ld_1_32_1", ""},
                                         Leading{"tn_2_8_32_ld_1_32_2", "lda: got 1, wanted at least 32"},
                                         Leading{"nn_64_1_32_ld_64_1_64", ""},
                                         Leading{"nn_64_2_32_ld_64_1_64", "ldb: got 1, wanted at least 32"},
                                         Leading{"nt_64_8_1_ld_64_1_64", ""},
                                         Leading{"nt_64_8_2_ld_64_1_64", "ldb: got 1, wanted at least 8"}));

TEST(AitersRows, MayHaveNoTime) {
  std::string text = sample("a8w8_blockscale_tuned_gemm.csv").text;
  text.replace(text.find("6.6154"), 6, "inf");
  const auto file = read_tuning_text("a8w8_blockscale_tuned_gemm.csv", text);
  ASSERT_TRUE(file);
  EXPECT_THAT(file->refused, IsEmpty());
  EXPECT_TRUE(std::isinf(*file->entries[0].us));
  EXPECT_THAT(lint(*file, {}).findings, Each(Field(&LintFinding::severity, Severity::note)));
}

TEST(SlowerThanTheDefault, IsNothingThatWasNotMeasured) {
  const std::string row = "GemmTunableOp_Half_TN,tn_64_8_32_ld_32_32_64,";
  const auto file = read_tuning_text("f.csv", row + "Default,0.1\n" + row + "Gemm_Rocblas_7,inf\n");
  ASSERT_TRUE(file);
  for (const LintFinding& finding : lint(*file, {}).findings) EXPECT_NE(finding.kind, LintKind::slower);
}

TEST(RocblasOverride, IsReadAsRocblass) {
  const TuningFile file = read(kFiles + "rocblas_override.csv");
  ASSERT_EQ(file.format, &rocblas);
  ASSERT_EQ(file.entries.size(), 2u);
  EXPECT_EQ(text_of(*file.entries[0].shape), "m=588 n=320 k=4096 f32 NN x_stride=6144");
  EXPECT_EQ(file.entries[0].solution->index, 3788);
  EXPECT_THAT(lint(file, {}).findings, IsEmpty());
}

TEST(RocblasOverride, UsesTheLastOfTwoAndRefusesZero) {
  const std::string row = "N,N,32,16,1,64,1,0,32,64,32,s,s,s,";
  const auto file = read_tuning_text("f.csv", kHeading + row + "5\n" + row + "0\nN,N,32\n");
  ASSERT_TRUE(file);
  std::vector<std::string> found;
  for (const LintFinding& finding : lint(*file, {}).findings) found.push_back(finding.text);
  EXPECT_THAT(found, testing::UnorderedElementsAre(HasSubstr("line 3 counts"), HasSubstr("rocBLAS leaves the row out"),
                                                   HasSubstr("got 3 cells, wanted 15, or 18")));
}

}  // namespace
}  // namespace rung::stacks
