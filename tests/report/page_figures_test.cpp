// Every figure of a climb stands on the page where its reader looks for it.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "report/html.hpp"
#include "report/page_reader.hpp"
#include "report/sample.hpp"

namespace rung {
namespace {

using testing::Element;
using testing::elements;
using ::testing::ElementsAre;
using testing::rows_of;
using testing::section_of;
using testing::Texts;
using testing::texts_of;
using Rows = std::vector<Texts>;

class PageFigures : public ::testing::Test {
 protected:
  Element section(const std::string& id) const { return section_of(page, id); }
  Texts texts(const std::string& tag, const std::string& css = "") const {
    return texts_of(elements(page, {tag}, css));
  }
  std::string page = render_html(testing::distinct_climb());
};

TEST_F(PageFigures, OfTheHeadlineAreFirstAndLastTimes) {
  EXPECT_THAT(texts("span", "was"), ElementsAre("61.3 ms"));
  EXPECT_THAT(texts("span", "now"), ElementsAre("17.9 ms"));
  EXPECT_THAT(texts("span", "speedup"), ElementsAre("3.42 × faster"));
  EXPECT_THAT(texts("span", "proof"), ElementsAre("[3.310, 3.530]"));
  EXPECT_THAT(texts("p", "claim"),
              ElementsAre("against opening the model without a climb: 1.08 × faster [1.061, 1.094]",
                          "f8 instead: 9.40 ms, 1.88 × faster [1.850, 1.920] (rel. L2 error 3.4e-3, cosine 0.999730): "
                          "rung climb distinct --dtype f8",
                          "within the stated error, of 2 whole plans: mixture 1, 1.90 × faster [1.860, 1.930] (rel. L2 "
                          "error 1.8e-2, cosine 0.999830)",
                          "it is small"));
  EXPECT_THAT(texts("p", "setting"), ElementsAre("bert · cpu · bf16 · 3 threads"));
}

TEST_F(PageFigures, OfTheHeadlineSayHowMuchSlower) {
  ClimbResult slower = testing::distinct_climb();
  slower.against_baseline = {17.9, 61.3, 1 / 3.42, {0.28, 0.3}, 9, ""};
  std::vector<Element> said = elements(render_html(slower), {"span"}, "speedup");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].text(), "3.42 × slower");
  EXPECT_TRUE(said[0].is("bad"));
}

TEST_F(PageFigures, OfTheTimeLeftAreTheFinalPlans) {
  EXPECT_EQ(texts("p", "caption").at(0),
            "this machine’s floor 11.2 ms time left 6.70 ms taken off. The plan runs at 63 % of the speed that the "
            "measured peaks allow.");
}

TEST_F(PageFigures, OfTheVerdictAreTheErrors) {
  EXPECT_THAT(texts("p", "verdict").at(0), ::testing::EndsWith("against the reference: relative L2 error 8.9e-7, "
                                                               "largest error 1.2e-6, cosine 0.99991234"));
}

TEST_F(PageFigures, OfTheHeadStandBesideTheirNames) {
  EXPECT_THAT(texts("dt"), ElementsAre("launches", "p99 latency", "with cold weights", "energy per run, back to back",
                                       "at 20 Hz", "weights", "climb took"));
  EXPECT_THAT(texts("dd"), ElementsAre("78 → 29", "26.4 ms", "21.3 ms", "6.33 J", "22.4 ms", "88.3 MB", "58.6 s"));
}

TEST_F(PageFigures, OfTheLadderStandInTheirRungsRow) {
  EXPECT_EQ(rows_of(section("ladder")),
            (Rows{{"baseline", "as written", "61.3 ms", "", "", "77", "1.1e-7"},
                  {"fusion kept", "1.74 x faster", "35.2 ms", "1.741 ×", "1.652 – 1.814", "41", "2.3e-7"},
                  {"tune rejected", "slower", "36.9 ms", "0.962 ×", "0.941 – 0.978", "40", "4.5e-7"},
                  {"gemm (again) kept", "1.99 x faster", "17.6 ms", "1.987 ×", "1.931 – 2.063", "28", "6.7e-7"}}));
}

TEST_F(PageFigures, OfReceiptsAreThoseOfTheirRung) {
  Element part = section("receipts");
  EXPECT_EQ(texts_of(elements(part.inner, {"summary"})),
            (Texts{"baseline baseline", "fusion kept 61.0 ms → 35.2 ms, 1.741 × [1.652 – 1.814]",
                   "tune rejected 35.4 ms → 36.9 ms, 0.962 × [0.941 – 0.978]",
                   "gemm (again) kept 35.1 ms → 17.6 ms, 1.987 × [1.931 – 2.063]"}));
  std::vector<Element> rungs = elements(part.inner, {"details"});
  ASSERT_EQ(rungs.size(), 4u);
  EXPECT_EQ(elements(rungs[2].inner, {"p"}).at(0).text(),
            "slower. 40 launches; relative L2 error 4.5e-7, largest error 5.6e-6.");
  EXPECT_THAT(texts_of(elements(rungs[2].inner, {"li"})), ElementsAre("tried 8", "kept 0"));
  EXPECT_THAT(texts_of(elements(rungs[1].inner, {"li"})), ElementsAre("joined 12"));
}

TEST_F(PageFigures, OfPrecisionAreOfPlansAndParts) {
  const std::vector<Element> tables = elements(section("precision").inner, {"table"});
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(rows_of(tables[0]), (Rows{{"all bf16, values in bf16", "12.3 ms", "1.480 ×", "1.460 – 1.510", "6.3e-3",
                                       "0.999970", "0", "within the stated error", "recipe_frontier_1.json"},
                                      {"mixture 1", "9.70 ms", "1.897 ×", "1.860 – 1.930", "1.8e-2", "0.999830",
                                       "1.7e-2", "chosen", "recipe_frontier_2.json"}}));
  EXPECT_EQ(rows_of(tables[1])[0],
            (Texts{"layers.*.up", "products", "f8e4m3fn", "f32: 3.10 ms, 0 f8e4m3fn: 810 µs, 1.3e-2 "}));
  EXPECT_EQ(elements(section("precision").inner, {"circle"}).size(), 2u * 4) << "two drawings of two plans and guesses";
}

TEST_F(PageFigures, OfAblationComeMostTellingFirst) {
  Element part = section("ablation");
  EXPECT_EQ(rows_of(part), (Rows{{"gemm", "", "1.914 ×", "1.842 – 1.975"},
                                 {"fusion", "", "1.622 ×", "1.571 – 1.683"},
                                 {"tune", "", "1.004 ×", "0.981 – 1.027"}}));
  std::vector<Element> rows = elements(elements(part.inner, {"tbody"}).at(0).inner, {"tr"});
  EXPECT_TRUE(rows[1].is("kept"));
  EXPECT_TRUE(rows[2].is("unclear")) << "its interval holds 1";
}

TEST_F(PageFigures, OfCategoriesAreSharesOfTheirOwnRun) {
  Element part = section("categories");
  EXPECT_THAT(texts_of(elements(part.inner, {"span"}, "stack-total")), ElementsAre("61.2 ms", "15.2 ms"));
  EXPECT_EQ(rows_of(part), (Rows{{"GEMM", "49 %", "70 %", "10,640.0", "3,970.0", "2"},
                                 {"attention", "25 %", "21 %", "3,170.0", "1,300.0", "1"},
                                 {"copy", "15 %", "5.9 %", "890.0", "250.0", "1"},
                                 {"normalisation", "4.2 %", "2.9 %", "433.0", "123.0", "1"},
                                 {"launch/host", "6.9 %", "0.3 %", "47.0", "–", "–"}}));
}

TEST_F(PageFigures, OfStagesEndWithTheMeasuredRun) {
  EXPECT_EQ(rows_of(section("stages")), (Rows{{"embeddings", "", "960 µs", "710 µs", "250 µs", "74 %", "6"},
                                              {"layers", "", "14.1 ms", "9.30 ms", "4.80 ms", "66 %", "22"},
                                              {"whole run", "", "17.9 ms", "11.2 ms", "6.70 ms", "63 %", "29"}}));
}

TEST_F(PageFigures, OfOpsAreSumsOfTheirLaunches) {
  std::vector<Element> tables = elements(section("ops").inner, {"table"});
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(rows_of(tables[0]),
            (Rows{{"layer.*.dense2 × linear 1", "", "10,640.0", "70 %", "6,670.0", "63 %", "404", "8.93", "linear_k"},
                  {"layer.0.corecore 2", "", "3,170.0", "21 %", "1,870.0", "59 %", "192", "2.87", "core_k"},
                  {"maskcopy 3", "", "890.0", "5.9 %", "640.0", "72 %", "–", "30.3", "copy_k"},
                  {"normnorm 4", "", "433.0", "2.9 %", "310.0", "72 %", "46.2", "30.0", "norm_k"}}));
  EXPECT_EQ(rows_of(tables[1]), (Rows{{"0", "mask", "copy_k", "890.0", "72 %"},
                                      {"1", "layer.0.dense", "linear_k", "5,210.0", "64 %"},
                                      {"2", "layer.0.core", "core_k", "3,170.0", "59 %"},
                                      {"3", "layer.1.dense", "linear_k", "5,430.0", "62 %"},
                                      {"4", "norm", "norm_k", "433.0", "72 %"}}));
}

// What a click on a heading sorts by.
TEST_F(PageFigures, OfOpsAreSortedByTheirOwnKeys) {
  std::vector<Element> cells = elements(elements(section("ops").inner, {"tbody"}).at(0).inner, {"td"}, "number");
  ASSERT_EQ(cells.size(), 24u);
  const double keys[] = {10640, 10640.0 / 15133, 6670, 6670.0 / 10640, 4.3e9 / 10640e3, 95e6 / 10640e3};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(cells[i].number("data-v"), keys[i], keys[i] * 1e-4) << i;
}

TEST_F(PageFigures, OfChoicesAreTheirCandidatesFastestFirst) {
  std::vector<Element> choices = elements(section("choices").inner, {"details"});
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_THAT(texts_of(elements(section("choices").inner, {"summary"})),
              ElementsAre("linear 1 × 6 linear_fast 1.70 × the default’s speed", "norm 4 × 2 norm_lib the default"));
  EXPECT_EQ(elements(choices[0].inner, {"p"}).at(0).text(), "fastest");
  EXPECT_EQ(rows_of(choices[0]), (Rows{{"linear_fast mr=14 nr=32", "", "310", "chosen"},
                                       {"linear_lib", "", "527", "default; 1.70 x slower"},
                                       {"linear_none", "", "–", "not supported: k"}}));
  EXPECT_EQ(rows_of(choices[1]),
            (Rows{{"norm_lib", "", "820", "chosen: default"}, {"norm_slow rows=8", "", "3,000", "3.66 x slower"}}));
}

TEST_F(PageFigures, OfLatencyStandUnderTheirHeadings) {
  Element part = section("latency");
  Texts headings = texts_of(elements(elements(part.inner, {"thead"}).at(0).inner, {"th"}));
  headings.erase(headings.begin() + 1);  // the drawing's axis
  EXPECT_THAT(headings,
              ElementsAre("ms", "least", "median", "p90", "p99", "95 % interval of median", "p99 / median", "runs"));
  EXPECT_EQ(rows_of(part),
            (Rows{{"baseline", "", "58.1", "61.7", "64.3", "83.9", "60.9 – 62.2", "1.36 ×", "131"},
                  {"final plan", "", "15.7", "18.1", "19.3", "26.4", "17.8 – 18.6", "1.46 ×", "1,547"},
                  {"final, cold weights", "", "20.2", "21.3", "24.6", "31.8", "20.9 – 22.7", "1.49 ×", "12"}}));
}

TEST_F(PageFigures, OfTheMachineStandBesideTheirNames) {
  EXPECT_EQ(rows_of(section("machine")),
            (Rows{{"multiply-adds on registers, f32", "411 GFLOP/s"},
                  {"GEMM f32", "395 GFLOP/s"},
                  {"GEMM bf16", "763 GFLOP/s"},
                  {"memory, streaming read", "43.1 GB/s"},
                  {"thread hand-off", "2.70 µs"},
                  {"barrier", "0.600 µs"},
                  {"weights", "88.3 MB"},
                  {"activations, all in one arena", "5.20 MB"},
                  {"peak memory of the process", "143 MB"},
                  {"host time per run, outside kernels", "47.0 µs"},
                  {"tuning", "23.4 s"},
                  {"climb in all", "58.6 s"},
                  {"back to back",
                   "352 W of 690 W, 6.33 J per run, 0.158 runs per joule, SM clock 1,965 MHz (least "
                   "1,740), memory clock 2,619 MHz, at most 63 °C"},
                  {"at 20 Hz", "clocks and power are not known: no library"},
                  {"governor", "performance"},
                  {"processor", "Example 9000"}}));
}

TEST_F(PageFigures, OfTheRepeatCommandAreTheClimbsSettings) {
  EXPECT_EQ(
      elements(section("reproduce").inner, {"code"}).at(0).text(),
      "rung climb distinct --device cpu --threads 3 --shape x=1,8 --shape mask=7 --error 0.021 --cosine 0.9991 --kl "
      "0.031");
  ClimbResult opted_in = testing::distinct_climb();
  opted_in.precision_search = {};
  opted_in.rungs[1].name = "precision";
  const Texts commands = texts_of(elements(section_of(render_html(opted_in), "reproduce").inner, {"code"}));
  EXPECT_THAT(commands.at(0), ::testing::EndsWith("--shape mask=7 --dtype bf16"));
  EXPECT_EQ(commands.at(1), "rung bench plan.rung");
}

}  // namespace
}  // namespace rung
