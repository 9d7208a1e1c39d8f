// The linter finds each seeded fault with its line and kind, and nothing in sound files.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/lint/lint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stacks/files/format.hpp"
#include "stacks/files/samples.hpp"

namespace rung::stacks {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

LintReport lint_text(std::string_view name, const std::string& text, const TunedMachine& machine = {}) {
  const auto file = read_tuning_text(std::string(name), text);
  EXPECT_TRUE(file) << file.error().message;
  return file ? lint(*file, {machine, {}}) : LintReport{};
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

// "7 problem wrong-version ..." for each finding.
std::vector<std::string> found(const LintReport& report) {
  std::vector<std::string> all;
  for (const LintFinding& f : report.findings)
    all.push_back(fmt::format("{} {} {}: {}", f.line, name_of(f.severity), name_of(f.kind), f.text));
  return all;
}

std::vector<std::string> found_in(std::string_view name, const std::string& text, const TunedMachine& machine = {}) {
  return found(lint_text(name, text, machine));
}

TunedMachine machine_of(std::string_view name) {
  if (name == "tunableop_h200.csv") return h200();
  TunedMachine machine = mi300x();
  if (name.starts_with("gfx906")) machine.architecture = "gfx906", machine.compute_units = 60;
  if (name.starts_with("gfx90a")) machine.architecture = "gfx90a", machine.compute_units = 110;
  if (name == "logged.csv") machine.versions.clear();
  return machine;
}

TEST(Lint, FindsNothingInSoundFiles) {
  for (const Sample& one : samples()) {
    EXPECT_THAT(found_in(one.name, one.text, machine_of(one.name)), IsEmpty()) << one.name;
    EXPECT_THAT(found_in(one.name, one.text), IsEmpty()) << one.name;
  }
}

// One fault in a sound file, and the one finding that it makes.
struct Fault {
  std::string_view name, sample, from, to, finding;
};

const Fault kFaults[] = {
    {"malformed row", "tunableop_results0.csv", "Default,0.0101\n", "Default,0.0101\nGemmTunableOp_Half_TN,tn_1_1\n",
     "10 problem malformed: got 2 cells"},
    {"comment", "tunableop_results0.csv", "GemmTunableOp_B", "# mine\nGemmTunableOp_B",
     "6 note malformed: PyTorch does not know comments"},
    {"other PyTorch", "tunableop_results0.csv", "2.15.0+rocm7.2", "2.14.1+rocm7.2",
     "1 problem wrong-version: PT_VERSION: got '2.14.1+rocm7.2', this machine has '2.15.0+rocm7.2'"},
    {"other rocBLAS", "tunableop_results0.csv", "5.2.0.5b515cf1bc", "5.1.0.5b515cf1bc",
     "4 problem wrong-version: ROCBLAS_VERSION: got '5.1.0.5b515cf1bc'"},
    {"other architecture", "tunableop_results0.csv", "gfx942:sramecc+:xnack-", "gfx950:sramecc+:xnack-",
     "3 problem wrong-gpu: the file is for 'gfx950:sramecc+:xnack-', this is gfx942:sramecc+:xnack-"},
    {"other features", "tunableop_results0.csv", "gfx942:sramecc+:xnack-", "gfx942:sramecc+:xnack+",
     "3 problem wrong-gpu: the file is for 'gfx942:sramecc+:xnack+'"},
    {"missing validator", "tunableop_results0.csv", "Validator,HIP_VERSION,702\n", "",
     "0 problem validators: there is no validator HIP_VERSION: PyTorch 2.15 on AMD takes none"},
    {"unknown validator", "tunableop_results0.csv", "Validator,HIP", "Validator,ROCM_VERSION,6.0\nValidator,HIP",
     "2 problem validators: validator 'ROCM_VERSION': PyTorch 2.15 on AMD has none of this name"},
    {"validator twice", "tunableop_results0.csv", "Validator,HIP", "Validator,PT_VERSION,2.15.0+rocm7.2\nValidator,HIP",
     "2 note duplicate: validator 'PT_VERSION' again"},
    {"duplicate", "tunableop_results0.csv", "GemmTunableOp_float_NN",
     "GemmTunableOp_BFloat16_TN,tn_1024_51_2048_ld_2048_2048_1024,Gemm_Hipblaslt_9,0.01\nGemmTunableOp_float_NN",
     "7 problem duplicate: m=51 n=1024 k=2048 bf16 TN stands in line 6, too: line 6 counts"},
    {"the same again", "tunableop_results0.csv", "GemmTunableOp_float_NN",
     "GemmTunableOp_BFloat16_TN,tn_1024_51_2048_ld_2048_2048_1024,Gemm_Hipblaslt_1234,0.0125\nGemmTunableOp_float_NN",
     "7 note duplicate"},
    {"unknown solution", "tunableop_results0.csv", "Gemm_Hipblaslt_1234", "1234",
     "6 problem unknown-solution: solution: got '1234', wanted Default, Gemm_Hipblaslt_N or Gemm_Rocblas_N: PyTorch "
     "2.15 "
     "on AMD takes its default"},
    {"solution with a layout", "tunableop_results0.csv", "Gemm_Hipblaslt_1234", "Gemm_Hipblaslt_TN_1234",
     "6 problem unknown-solution: solution: got 'Gemm_Hipblaslt_TN_1234'"},
    {"rocBLAS with a bias", "tunableop_results0.csv", "1024_4096,Default", "1024_4096,Gemm_Rocblas_3",
     "9 problem unknown-solution: solution: got 'Gemm_Rocblas_3'"},
    {"cuBLASLt on AMD", "tunableop_results0.csv", "Gemm_Hipblaslt_1234",
     "Gemm_Cublaslt_id_1_tile_0_stages_0_splitk_1_red_0_swizzle_0_custom_0_inner_0_cluster_0",
     "6 problem unknown-solution"},
    {"zero time", "tunableop_results0.csv", "Gemm_Hipblaslt_1234,0.0123", "Gemm_Hipblaslt_1234,0",
     "6 note bad-time: m=51 n=1024 k=2048 bf16 TN: got a time of 0 us"},
    {"negative time", "tunableop_results0.csv", "Gemm_Hipblaslt_1234,0.0123", "Gemm_Hipblaslt_1234,-0.5",
     "6 problem bad-time: m=51 n=1024 k=2048 bf16 TN: got a time of -500 us"},
    {"decimal comma", "tunableop_results0.csv", "Gemm_Hipblaslt_1234,0.0123", "Gemm_Hipblaslt_1234,1,0123",
     "6 problem separators: the time 1,0123 has a comma"},
    {"layouts that differ", "tunableop_results0.csv", "GemmTunableOp_BFloat16_TN", "GemmTunableOp_BFloat16_NN",
     "6 problem never-matches: the operation is NN and the sizes are 'tn'"},
    {"no leading dimensions", "tunableop_results0.csv", "tn_1024_51_2048_ld_2048_2048_1024", "tn_1024_51_2048",
     "6 problem old-form: sizes without leading dimensions: PyTorch 2.15 on AMD does not find the row"},
    {"leading dimensions too early", "logged.csv", "nn_256_128_512", "nn_256_128_512_ld_256_512_256",
     "7 problem old-form: sizes with leading dimensions: PyTorch 2.4 on AMD does not find the row"},
    {"unknown solution early", "logged.csv", "Gemm_Rocblas_21", "21",
     "7 problem unknown-solution: solution: got '21', wanted Default, Gemm_Hipblaslt_TN_N or Gemm_Rocblas_N: PyTorch "
     "2.4 "
     "on AMD stops with an error at such a product"},
    {"hipBLASLt on NVIDIA", "tunableop_h200.csv",
     "Gemm_Cublaslt_id_66_tile_35_stages_36_splitk_1_red_0_swizzle_0_custom_0_inner_0_cluster_2", "Gemm_Hipblaslt_1",
     "4 problem unknown-solution: solution: got 'Gemm_Hipblaslt_1', wanted Default or Gemm_Cublaslt_id_N_..."},
    {"other cuBLASLt", "tunableop_h200.csv", "130100", "120803",
     "2 problem wrong-version: CUBLASLT_VERSION: got '120803', this machine has '130100'"},
    {"recorded twice", "tunableop_untuned0.csv", "GemmStrided",
     "GemmTunableOp_BFloat16_TN,tn_1024_51_2048_ld_2048_2048_1024\nGemmStrided",
     "2 note duplicate: m=51 n=1024 k=2048 bf16 TN stands in line 1, too: it is tuned once"},
    {"one token", "tunableop_untuned0.csv", "tn_1024_51_2048", "tn_1024_1_2048",
     "1 note not-tuned: 1 products, the first here, have a size of 1"},
    {"other hipBLASLt", "tuning.txt", "a6254b89-dirty", "a6254b90",
     "1 problem wrong-version: Git Version: got 'a6254b90', this machine's library has 'a6254b89-dirty'"},
    {"no hipBLASLt", "tuning.txt", "Git Version: a6254b89-dirty\n", "",
     "0 problem wrong-version: there is no line 'Git Version: HASH'"},
    {"two hipBLASLts", "tuning.txt", "    T,N,0", "Git Version: a6254b89-dirty\n    T,N,0",
     "3 problem wrong-version: hipBLASLt reads Git Version from the first line alone"},
    {"solution 0", "tuning.txt", ",111,Cijk", ",0,Cijk", "5 problem unknown-solution: solution_index: got 0"},
    {"other units", "tuning.txt", "xnack-,304", "xnack-,80",
     "3 problem wrong-gpu: 1 row is for gfx942:sramecc+:xnack- with 80 compute units, this is gfx942 with 304"},
    {"row of another width", "tuning.txt", ",111,Cijk", ",111,x,Cijk",
     "5 problem malformed: got 13 cells, wanted the header's 12"},
    {"two solutions", "tuning.txt", "    N,N,4",
     "    N,N,4,1024,512,1024,f16_r,f16_r,f16_r,f32_r,112,another\n    N,N,4",
     "6 problem duplicate: m=512 n=1024 k=1024 batch=4 f16 NN stands in line 5, too: line 5 counts"},
    {"units of another GPU", "bf16_tuned_gemm.csv", "gfx942,304,64", "gfx942,80,64",
     "3 note wrong-gpu: 1 row is for gfx942 with 80 compute units, this is gfx942 with 304 compute units; the stack "
     "never"},
    {"duplicate in aiter", "bf16_tuned_gemm.csv", "gfx942,304,64",
     "gfx942,304,1,4096,4096,False,torch.bfloat16,torch.bfloat16,0,False,asm,3,0,6.5,other,0.0,1,1\ngfx942,304,64",
     "3 problem duplicate: m=1 n=4096 k=4096 bf16 TN stands in line 2, too: the stack stops with an error"},
    {"no gfx", "bf16_tuned_gemm.csv", "gfx,cu_num", "gpu,cu_num",
     "1 problem old-form: there is no column gfx: aiter since June 2026 stops with an error"},
    {"no gfx for bytes", "a8w8_blockscale_tuned_gemm.csv", "gfx,cu_num", "gpu,cu_num",
     "1 note old-form: there is no column gfx"},
    {"no cu_num", "bf16_tuned_gemm.csv", "gfx,cu_num", "gfx,units", "1 problem columns: there is no column cu_num"},
    {"no libtype", "bf16_tuned_gemm.csv", "libtype", "library", "1 problem columns: there is no column libtype"},
    {"blanks in a word", "bf16_tuned_gemm.csv", "True,torch.bfloat16", "True, torch.bfloat16",
     "3 problem never-matches: dtype: got ' torch.bfloat16' with blanks around it"},
    {"no library of aiter's", "bf16_tuned_gemm.csv", ",asm,", ",cublas,",
     "3 problem unknown-solution: libtype: got 'cublas', wanted one of torch, hipblaslt"},
    {"comment in aiter's", "a8w8_blockscale_tuned_gemm.csv", "gfx942,304,1,", "# mine\ngfx942,304,1,",
     "2 problem malformed: the reader knows no comments"},
    {"no library of gradlib's", "tuned.csv", "rocblas,-77", "asm,-77",
     "3 problem unknown-solution: libtype: got 'asm', wanted hipblaslt or rocblas: vLLM takes the library of the row"},
    {"duplicate in gradlib's", "tuned.csv", "4096,8,4096,True",
     "4096,1,4096,False,torch.float16,torch.float32,hipblaslt,9,0.01\n4096,8,4096,True",
     "3 problem duplicate: m=1 n=4096 k=4096 x=f16 w=f16 out=f32 TN stands in line 2, too; that one is m=1 n=4096 "
     "k=4096 "
     "f16 TN, which the stack does not tell from this: line 3 counts"},
    {"duplicate solver", "gfx942130.HIP.3_5_0_a85ca8a54.ufdb.txt", "ConvBin", "ConvAsm1x1U:9,0,miopenX;ConvBin",
     "1 note duplicate"},
    {"negative time of a solver", "gfx942130.HIP.3_5_0_a85ca8a54.ufdb.txt", "0.02,4096", "-1,4096",
     "1 problem bad-time"},
    {"broken record", "gfx942130.HIP.3_5_0_a85ca8a54.ufdb.txt", "0.5,37632", "fast,37632",
     "2 problem malformed: time: got 'fast'"},
    {"listed twice", "shapes.csv", "1,4096,1024", "51,1024,2048,1,bf16,bf16,TN,0,none,1,k_proj\n1,4096,1024",
     "5 note duplicate: m=51 n=1024 k=2048 bf16 TN stands in line 3, too: it is tuned once"},
};

TEST(Lint, FindsEachSeededFaultAndNothingBeside) {
  for (const Fault& fault : kFaults) {
    const Sample& one = sample(fault.sample);
    EXPECT_EQ(one.name, fault.sample);
    const auto findings = found_in(one.name, replaced(one.text, fault.from, fault.to), machine_of(one.name));
    std::vector<std::string> wanted;
    for (const std::string& finding : findings)
      if (finding.find(fault.finding) == 0) wanted.push_back(finding);
    EXPECT_EQ(wanted.size(), 1u) << fault.name << ": " << testing::PrintToString(findings);
    EXPECT_EQ(findings.size(), 1u) << fault.name << ": " << testing::PrintToString(findings);
  }
}

TEST(Lint, FindsResultsSlowerThanTheirFilesDefault) {
  const std::string text = sample("tunableop_results0.csv").text;
  const std::string row = "GemmTunableOp_BFloat16_TN,tn_1024_51_2048_ld_2048_2048_1024,Default,";
  EXPECT_THAT(
      found_in("f", text + row + "0.0122\n"),
      ElementsAre(HasSubstr("6 problem slower: 'Gemm_Hipblaslt_1234' takes 12.3 us, the default of line 14 12.2"),
                  HasSubstr("14 problem duplicate")));
  EXPECT_THAT(found_in("f", text + row + "0.0124\n"), ElementsAre(HasSubstr("14 problem duplicate")));
  EXPECT_THAT(found_in("bf16_tuned_gemm.csv", sample("bf16_tuned_gemm.csv").text +
                                                  "gfx942,304,1,4096,4096,False,torch.bfloat16,torch.bfloat16,"
                                                  "False,False,torch,0,0,6.5,native,0.0,1,1\n"),
              ElementsAre(HasSubstr("2 problem slower: 'sol2' takes 7 us, the default of line 4 6.5 us"),
                          HasSubstr("4 problem duplicate")));
}

TEST(Lint, FindsFilesThatDoNothing) {
  EXPECT_THAT(found_in("f", "M,N,K\n"), ElementsAre(HasSubstr("0 problem no-rows: a header alone: there is nothing")));
  EXPECT_THAT(found_in("f", sample("bf16_tuned_gemm.csv").text.substr(0, 112)), ElementsAre(HasSubstr("no-rows")));
  std::string validators = sample("tunableop_results0.csv").text;
  validators.erase(validators.find("GemmTunableOp"));
  EXPECT_THAT(found_in("f", validators, mi300x()),
              ElementsAre(HasSubstr("the stack finds nothing here, says nothing, and takes its default everywhere")));
}

std::string with_ends(std::string text, std::string_view end) {
  for (size_t at = 0; (at = text.find('\n', at)) != text.npos; at += end.size()) text.replace(at, 1, end);
  return text;
}

TEST(Lint, FindsHarmfulLineEndsAndMarks) {
  for (const char* name : {"tunableop_results0.csv", "tuning.txt", "gfx942130.HIP.3_5_0_a85ca8a54.ufdb.txt"})
    EXPECT_THAT(found_in(name, with_ends(sample(name).text, "\r\n"), mi300x()),
                ElementsAre(HasSubstr("1 problem encoding: lines end with a carriage return")))
        << name;
  for (const char* name : {"bf16_tuned_gemm.csv", "tuned.csv", "shapes.csv"})
    EXPECT_THAT(found_in(name, with_ends(sample(name).text, "\r\n")), IsEmpty()) << name;
  EXPECT_THAT(found_in("f", "\xef\xbb\xbf" + sample("tunableop_results0.csv").text),
              ElementsAre(HasSubstr("1 problem encoding: the file begins with a byte order mark")));
  EXPECT_THAT(found_in("f", "\xef\xbb\xbf" + sample("tuned.csv").text), ElementsAre(HasSubstr("1 note encoding")));
}

TEST(Lint, FindsOtherSeparatorsOnce) {
  EXPECT_THAT(found_in("f", with_ends("m;n;k\n1;2;3\n4;5;6\n", "\n")),
              ElementsAre(HasSubstr("1 problem separators: cells are separated by semicolons")));
  EXPECT_THAT(found_in("f", "M\tN\tK\n1\t2\t3\n"), ElementsAre(HasSubstr("separated by tabs")));
}

TEST(Lint, SaysThatNvidiaIgnoresAmdsFiles) {
  for (const char* name : {"tuning.txt", "bf16_tuned_gemm.csv", "tuned.csv", "gfx942130.HIP.3_5_0_a85ca8a54.ufdb.txt"})
    EXPECT_THAT(found_in(name, sample(name).text, h200()), ElementsAre(HasSubstr("of AMD's stacks, and nothing reads")))
        << name;
  EXPECT_THAT(found_in("shapes.csv", sample("shapes.csv").text, h200()), IsEmpty());
}

TEST(Lint, SaysWhatNvidiasPyTorchRefusesOfAmds) {
  const auto findings = found_in("f", sample("tunableop_results0.csv").text, h200());
  EXPECT_THAT(findings, testing::Contains(HasSubstr("3 problem validators: validator 'GCN_ARCH_NAME': PyTorch 2.15 on "
                                                    "NVIDIA has none")));
  EXPECT_THAT(findings, testing::Contains(HasSubstr("there is no validator CUBLASLT_VERSION")));
  EXPECT_THAT(findings,
              testing::Contains(HasSubstr("6 problem unknown-solution: solution: got 'Gemm_Hipblaslt_1234'")));
}

TEST(Lint, FindsFilesOnlyForOtherGpus) {
  TunedMachine mi350x{"mi350x", "gfx950", 256, {}};
  const auto findings = found_in("f", sample("bf16_tuned_gemm.csv").text, mi350x);
  EXPECT_THAT(findings, ElementsAre(AllOf(HasSubstr("2 problem wrong-gpu: 2 rows from here on are for gfx942 with 304"),
                                          HasSubstr("this is gfx950 with 256 compute units"))));
}

TEST(Lint, IgnoresWhatIsUnknownOfTheMachine) {
  TunedMachine unknown;
  unknown.architecture = "gfx942";
  EXPECT_THAT(found_in("f", sample("tunableop_results0.csv").text, unknown), IsEmpty());
  EXPECT_THAT(found_in("f", sample("tuning.txt").text, unknown), IsEmpty());
}

// Names of solutions that were asked for, and what came of it: 12 us of a default's 10, 10.4 us, then errors.
struct Asked {
  std::vector<std::string> names;
  LintReport report;
};

Asked measured(const std::string& text, const TunedMachine& machine = mi300x()) {
  Asked asked;
  const auto file = read_tuning_text("f", text);
  if (!file) return asked;
  const auto measure = [&](const Entry& entry) -> Result<MeasuredRow> {
    asked.names.push_back(fmt::format("{}:{}", entry.line, entry.solution->index.value_or(0)));
    if (asked.names.size() == 1) return MeasuredRow{12, 10, 0.05};
    if (asked.names.size() == 2) return MeasuredRow{10.4, 10, 0.05};
    return fail("no such solution");
  };
  asked.report = lint(*file, {machine, measure});
  return asked;
}

std::string validators_of_mi300x() {
  const std::string text = sample("tunableop_results0.csv").text;
  return text.substr(0, text.find("Gemm"));
}

TEST(Lint, MeasuresRowsThatTheStackTakes) {
  const auto row = [](int m, const std::string& solution) {
    return fmt::format("GemmTunableOp_Half_TN,tn_8_{0}_8_ld_8_8_8,{1},0.5\n", m, solution);
  };
  const Asked asked =
      measured(validators_of_mi300x() + row(8, "Gemm_Hipblaslt_1") + row(8, "Gemm_Hipblaslt_2") + row(9, "Default") +
               row(10, "Gemm_Hipblaslt_3") + row(11, "Gemm_Hipblaslt_4") + row(12, "Gemm_Hipblaslt_5"));
  EXPECT_THAT(asked.names, ElementsAre("6:1", "9:3", "10:4", "11:5"));
  EXPECT_EQ(asked.report.measured, 2u);
  EXPECT_THAT(asked.report.not_measured, ElementsAre(testing::Pair("no such solution", 2)));
  EXPECT_EQ(std::ranges::count(asked.report.findings, LintKind::slower, &LintFinding::kind), 1);
  EXPECT_THAT(found(asked.report),
              testing::Contains(HasSubstr("6 problem slower: m=8 n=8 k=8 f16 TN: "
                                          "'Gemm_Hipblaslt_1' takes 12 us here and the default 10 us")));
}

TEST(Lint, MeasuresNoFileTheStackDoesNotTake) {
  TunedMachine other = mi300x();
  other.versions["HIPBLASLT_VERSION"] = "100300-0123abc";
  const Asked asked = measured(sample("tunableop_results0.csv").text, other);
  EXPECT_THAT(asked.names, IsEmpty());
  EXPECT_THAT(asked.report.not_measured,
              ElementsAre(testing::Pair("the file is not for this GPU and these versions", 7)));
}

TEST(Lint, MeasuresThisGpusRowsAndGradlibsLast) {
  const std::string aiter =
      "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,err_ratio,tflops,"
      "bw\ngfx942,304,1,4,4,False,torch.bfloat16,torch.bfloat16,False,False,hipblaslt,2,0,7.0,a,0.0,0.0,0.0\n"
      "gfx942,80,1,4,4,False,torch.bfloat16,torch.bfloat16,False,False,hipblaslt,3,0,7.0,a,0.0,0.0,0.0\n";
  const Asked rows = measured(aiter);
  EXPECT_THAT(rows.names, ElementsAre("2:2"));
  EXPECT_THAT(rows.report.not_measured, ElementsAre(testing::Pair("a row of another GPU", 1)));
  const std::string gradlib =
      sample("tuned.csv").text + "4096,1,4096,False,torch.float16,torch.float16,hipblaslt,9,1\n";
  EXPECT_THAT(measured(gradlib).names, ElementsAre("4:9", "3:-77"));
}

TEST(Lint, ListsSomeOfAKindAndCountsOthers) {
  std::string text = "m,n,k\n";
  for (int i = 0; i < 1000; ++i) text += "1,2\n";
  const LintReport report = lint_text("f", text);
  EXPECT_EQ(report.findings.size(), kMostListed);
  EXPECT_EQ(report.left_out.at("malformed"), 800u);
  EXPECT_EQ(report.problems(), 1000u);
}

TEST(Lint, PrintsNothingThatATerminalObeys) {
  const auto findings = found_in("f", "m,n,k\n\x1b[2J,2,3\n\x07,1,1\n");
  ASSERT_EQ(findings.size(), 2u);
  for (const std::string& finding : findings)
    EXPECT_TRUE(std::ranges::none_of(finding, [](unsigned char c) { return c < ' '; })) << finding;
}

TEST(Lint, AsJsonHasEveryFinding) {
  const auto json = to_json(lint_text("f", "m,n,k\n1,2\n1,2,3\n"));
  EXPECT_EQ(json["format"], "shapes");
  EXPECT_EQ(json["rows"], 1);
  EXPECT_EQ(json["refused"], 1);
  EXPECT_EQ(json["problems"], 1);
  EXPECT_EQ(json["findings"][0]["line"], 2);
  EXPECT_EQ(json["findings"][0]["kind"], "malformed");
  EXPECT_EQ(json["findings"][0]["severity"], "problem");
}

}  // namespace
}  // namespace rung::stacks
