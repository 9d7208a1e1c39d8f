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
#include "report/page_reader.hpp"
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
  for (const char* id : {"next", "ladder", "receipts", "ablation", "categories", "stages", "ops", "roofline", "choices",
                         "latency", "machine", "reproduce"})
    EXPECT_THAT(page, HasSubstr(std::string("<section id='") + id + "'"));
}

TEST(HtmlReport, HasPrecisionWhereThereWasASearch) {
  EXPECT_THAT(render_html(testing::minilm_climb()), Not(HasSubstr("<section id='precision'")));
  EXPECT_THAT(render_html(testing::distinct_climb()), HasSubstr("<section id='precision'"));
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(HtmlReport, ListsItsSectionsInTheirOrder) {
  for (const ClimbResult& result : {testing::minilm_climb(), testing::empty_climb()}) {
    const std::string page = render_html(result);
    std::vector<std::string> ids, links, titles, names;
    for (const testing::Element& section : testing::elements(page, {"section"})) {
      ids.push_back("#" + section.attribute("id"));
      titles.push_back(testing::elements(section.inner, {"h2"}).at(0).text());
    }
    for (const testing::Element& link : testing::elements(testing::elements(page, {"nav"}).at(0).inner, {"a"})) {
      links.push_back(link.attribute("href"));
      names.push_back(link.text());
    }
    EXPECT_EQ(links, ids);
    EXPECT_EQ(names, titles);
    EXPECT_GE(links.size(), 3u);
  }
}

// Everything that opens, sorts or is copied is an element that the keyboard reaches, and shows where it is.
TEST(HtmlReport, IsReachedByTheKeyboard) {
  const std::string page = render_html(testing::minilm_climb());
  const testing::Element first = testing::elements(page, {"a", "button", "summary", "pre"}).at(0);
  EXPECT_TRUE(first.is("skip"));
  EXPECT_EQ(first.attribute("href"), "#next");
  EXPECT_THAT(page, HasSubstr(":focus-visible"));
  EXPECT_THAT(page, HasSubstr(".skip:focus"));
  for (const testing::Element& pre : testing::elements(page, {"pre"})) EXPECT_EQ(pre.attribute("tabindex"), "0");
  for (const testing::Element& part : testing::elements(page, {"div"}, "scroll"))
    EXPECT_EQ(part.attribute("tabindex"), "0") << "what scrolls is scrolled by keys";
  for (const testing::Element& heading : testing::elements(page, {"th"}))
    if (heading.inner.find("sort") != std::string::npos) EXPECT_THAT(heading.inner, HasSubstr("<button type='button'"));
}

TEST(HtmlReport, FoldsAwayWhatWasNeverTried) {
  ClimbResult result = testing::minilm_climb();
  const std::string without = render_html(result);
  EXPECT_THAT(testing::elements(without, {"details"}, "untried"), ::testing::IsEmpty());
  result.rungs.push_back({.name = "tune", .reason = std::string(kNoTime), .attempt = 2});
  result.rungs.push_back({.name = "precision", .reason = std::string(kNoTimeAlone)});
  const std::string page = render_html(result);
  const std::vector<testing::Element> folded = testing::elements(page, {"details"}, "untried");
  ASSERT_EQ(folded.size(), 1u);
  EXPECT_EQ(testing::elements(folded[0].inner, {"summary"}).at(0).text(), "2 changes not tried");
  EXPECT_EQ(testing::texts_of(testing::elements(folded[0].inner, {"li"})),
            (testing::Texts{"tune (again): the budget was spent before this rung",
                            "precision: the budget leaves no time to try it alone"}));
  EXPECT_EQ(testing::rows_of(testing::section_of(page, "ladder")),
            testing::rows_of(testing::section_of(without, "ladder")));
  EXPECT_EQ(testing::elements(testing::section_of(page, "receipts").inner, {"details"}).size(),
            testing::elements(testing::section_of(without, "receipts").inner, {"details"}).size());
}

TEST(HtmlReport, LoadsNothing) {
  for (const ClimbResult& result : {testing::minilm_climb(), testing::hostile_climb()}) {
    std::string page = render_html(result);
    for (const char* loader : {"http:", "https:", "//www", "<link", "<img", "<iframe", "@import", " src="})
      EXPECT_THAT(page, Not(HasSubstr(loader)));
    EXPECT_EQ(count_of(page, " href="), count_of(page, " href='#"));  // places of the page itself
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

TEST(HtmlReport, GivesCommandsThatTakeTheClimbsRecipe) {
  ClimbResult result = testing::minilm_climb();
  result.model = "model", result.device = "cpu x", result.threads = 2, result.shapes = "input_ids=i64[1,16]";
  const std::string settings = " model --device cpu --threads 2 --shape input_ids=1,16";
  result.rungs = {{.name = "fusion", .accepted = true}};
  result.verified = true;
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
         {"section", "table", "tbody", "thead", "tr", "td",   "th",   "svg",  "details", "summary", "div", "nav",
          "p",       "ul",    "li",    "span",  "b",  "text", "main", "body", "header",  "button",  "pre", "a"}) {
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

TEST(HtmlReport, SaysWhyAPlanIsNotVerified) {
  std::string page = render_html(testing::empty_climb());
  EXPECT_THAT(page, HasSubstr("Not verified.</b> no output was compared"));
  EXPECT_THAT(page, Not(HasSubstr("✓ Verified")));
}

TEST(HtmlReport, IsTheSameWhenRedrawnFromJson) {
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
