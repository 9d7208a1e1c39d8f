// The HTML page: holds everything, loads nothing, and no text becomes markup.
// SPDX-License-Identifier: Apache-2.0
#include "report/html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "base/atomic_file.hpp"
#include "report/json.hpp"
#include "report/markup.hpp"
#include "report/sample.hpp"
#include "report/write.hpp"

namespace rung {
namespace {

using report::escape;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Escape, LeavesNothingThatMarkupIsMadeOf) {
  EXPECT_EQ(escape("<a href=\"x\" b='y'>&"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(escape(std::string_view("\0\x07", 2)), "\ufffd\ufffd");
}

TEST(Markup, EscapesTextButNotMarkup) {
  std::string text = "<i>";
  EXPECT_EQ(report::html("<b>{}</b>{}{}", text, report::html("<hr>"), 3).text, "<b>&lt;i&gt;</b><hr>3");
}

TEST(HtmlReport, HoldsEveryRungOpChoiceCandidateAndFact) {
  ClimbResult result = testing::minilm_climb();
  std::string page = render_html(result);
  EXPECT_THAT(page, HasSubstr(result.model));
  for (const Receipt& r : result.rungs) {
    EXPECT_THAT(page, HasSubstr(escape(r.name)));
    EXPECT_THAT(page, HasSubstr(escape(r.reason)));
    for (const std::string& note : r.notes) EXPECT_THAT(page, HasSubstr(escape(note)));
  }
  for (const OpTime& op : result.ops) EXPECT_THAT(page, HasSubstr(escape(op.label)));
  for (const Choice& choice : result.choices) {
    EXPECT_THAT(page, HasSubstr(escape(choice.problem)));
    for (const Candidate& c : choice.candidates) EXPECT_THAT(page, HasSubstr(escape(c.verdict)));
  }
  for (const auto& [name, value] : result.environment) EXPECT_THAT(page, HasSubstr(escape(value)));
}

TEST(HtmlReport, HasEverySection) {
  std::string page = render_html(testing::minilm_climb());
  for (const char* id : {"ladder", "receipts", "ablation", "categories", "stages", "ops", "roofline", "choices",
                         "latency", "machine", "reproduce"})
    EXPECT_THAT(page, HasSubstr(std::string("<section id='") + id + "'"));
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(HtmlReport, LoadsNothing) {
  for (const ClimbResult& result : {testing::minilm_climb(), testing::hostile_climb()}) {
    std::string page = render_html(result);
    for (const char* loader : {"http:", "https:", "//www", "<link", "<img", "<iframe", "@import", " src=", " href="})
      EXPECT_THAT(page, Not(HasSubstr(loader)));
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
    EXPECT_EQ(count_of(page, "url("), count_of(page, "url(#"));  // patterns of the page itself
  }
}

TEST(HtmlReport, LetsNoTextBecomeMarkup) {
  std::string page = render_html(testing::hostile_climb());
  EXPECT_EQ(count_of(page, "<script"), 1u);
  EXPECT_EQ(count_of(page, "</style"), 1u);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
}

TEST(HtmlReport, QuotesHostileNamesForTheShell) {
  ClimbResult result = testing::minilm_climb();
  result.model = "it's; rm -rf *";
  EXPECT_THAT(render_html(result), HasSubstr(escape("rung climb 'it'\\''s; rm -rf *' --device cpu")));
}

TEST(HtmlReport, SaysCommandsThatTakeTheRecipeOfThatClimb) {
  ClimbResult result = testing::minilm_climb();
  result.model = "model", result.device = "cpu x", result.threads = 2, result.shapes = "input_ids=i64[1,16]";
  const std::string settings = " model --device cpu --threads 2 --shape input_ids=1,16";
  result.rungs = {{.name = "fusion", .accepted = true}};
  for (const char* command : {"rung verify", "rung build"})
    EXPECT_THAT(render_html(result), HasSubstr(command + settings + " --recipe recipe.json"));
  result.rungs.push_back({.name = "precision", .accepted = false});
  EXPECT_THAT(render_html(result), HasSubstr("rung climb" + settings + " --dtype bf16"));
  EXPECT_THAT(render_html(result), HasSubstr("rung build" + settings + " --dtype f32 --recipe recipe.json"));
  result.rungs.push_back({.name = "attention+precision", .accepted = true});
  EXPECT_THAT(render_html(result), HasSubstr("rung build" + settings + " --dtype bf16 --recipe recipe.json"));
}

TEST(HtmlReport, OpensAndClosesEveryElement) {
  for (const ClimbResult& result : {testing::minilm_climb(), testing::empty_climb(), testing::huge_climb(3000)}) {
    std::string page = render_html(result);
    for (const char* name :
         {"section", "table", "tbody", "thead", "tr", "td",   "th",   "svg",  "details", "summary", "div",
          "p",       "ul",    "li",    "span",  "b",  "text", "main", "body", "header",  "button"}) {
      size_t opened = count_of(page, std::string("<") + name + ">") + count_of(page, std::string("<") + name + " ");
      EXPECT_EQ(opened, count_of(page, std::string("</") + name + ">")) << name;
    }
  }
}

TEST(HtmlReport, DrawsNothingThatIsNotFinite) {
  for (const ClimbResult& result : {testing::huge_climb(100), testing::empty_climb(), ClimbResult{}}) {
    std::string page = render_html(result);
    EXPECT_THAT(page, Not(HasSubstr("nan")));
    EXPECT_FALSE(std::regex_search(page, std::regex("[^a-z]-?inf[^a-z]")));
  }
}

TEST(HtmlReport, StaysUnderAMegabyteWithThreeThousandOps) {
  EXPECT_LT(render_html(testing::huge_climb(3000)).size(), 1'000'000u);
}

TEST(HtmlReport, TakesLaunchesOfTheSameProblemTogether) {
  EXPECT_THAT(render_html(testing::minilm_climb()),
              HasSubstr("intermediate.<wbr>dense</span><span class='problem'><b>3 ×</b>"));
}

TEST(HtmlReport, SaysThatAPlanIsNotVerifiedAndWhy) {
  std::string page = render_html(testing::empty_climb());
  EXPECT_THAT(page, HasSubstr("Not verified.</b> no output was compared"));
  EXPECT_THAT(page, Not(HasSubstr("✓ Verified")));
}

TEST(HtmlReport, IsTheSameWhenDrawnAgainFromItsJson) {
  auto again = result_from_text(json_text(testing::minilm_climb()));
  ASSERT_TRUE(again);
  EXPECT_EQ(render_html(*again), render_html(testing::minilm_climb()));
}

TEST(AddReports, LeavesThreeFiles) {
  std::filesystem::path folder = ::testing::TempDir() + "/rung_write_reports";
  std::filesystem::create_directories(folder);
  PendingFiles files;
  ASSERT_TRUE(add_reports(files, testing::minilm_climb(), folder));
  ASSERT_TRUE(files.commit());
  for (const char* name : {"report.html", "report.json", "report.md"})
    EXPECT_GT(std::filesystem::file_size(folder / name), 1000u) << name;
  auto text = read_text_file(folder / "report.json");
  ASSERT_TRUE(text);
  EXPECT_TRUE(result_from_text(*text));
  std::filesystem::remove_all(folder);
}

TEST(AddReports, NamesTheFolderThatIsMissing) {
  PendingFiles files;
  auto status = add_reports(files, testing::minilm_climb(), "/nonexistent/folder");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("/nonexistent/folder"));
}

}  // namespace
}  // namespace rung
