// What next: each step where its reason holds, and only there.
// SPDX-License-Identifier: Apache-2.0
#include "report/next_steps.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "report/html.hpp"
#include "report/markdown.hpp"
#include "report/page_reader.hpp"
#include "report/sample.hpp"

namespace rung {
namespace {

using report::next_steps;
using report::NextStep;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> titles(const ClimbResult& result) {
  std::vector<std::string> all;
  for (const NextStep& step : next_steps(result)) all.push_back(step.title);
  return all;
}

NextStep step_of(const ClimbResult& result, const std::string& title) {
  for (const NextStep& step : next_steps(result))
    if (step.title == title) return step;
  ADD_FAILURE() << "no step '" << title << "'";
  return {};
}

// On one thread, of no texts, with nothing left to try: there is only the plan.
ClimbResult plain() {
  ClimbResult result = testing::minilm_climb();
  result.threads = 1, result.takes_text = false, result.cheaper = {}, result.budget_s = 60, result.untried = 0;
  return result;
}

TEST(NextSteps, RunThePlanFromShellPythonAndCpp) {
  ClimbResult result = plain();
  EXPECT_THAT(titles(result), ElementsAre("Run this plan", "See the difference yourself"));
  std::vector<std::string> run = step_of(result, "Run this plan").commands;
  ASSERT_EQ(run.size(), 3u);
  EXPECT_EQ(run[0], "rung run plan.rung --inputs inputs.npz --outputs outputs.npz");
  EXPECT_THAT(run[1], HasSubstr("model = rung.load(\"plan.rung\")"));
  EXPECT_THAT(run[2], HasSubstr("Model::open(\"plan.rung\")"));
  EXPECT_THAT(step_of(result, "See the difference yourself").commands,
              ElementsAre("rung compare all-MiniLM-L6-v2 --device cpu --threads 1 --shape input_ids=1,128 --shape "
                          "attention_mask=1,128 --shape token_type_ids=1,128 plan.rung"));
  result.takes_text = true;
  run = step_of(result, "Run this plan").commands;
  EXPECT_EQ(run[0], "rung run plan.rung --text \"A sentence.\"");
  EXPECT_THAT(run[1], HasSubstr("model(**model.encode(\"A sentence.\"))"));
}

TEST(NextSteps, RunNoPlanThatIsNotVerified) {
  ClimbResult result = plain();
  result.verified = false;
  EXPECT_THAT(titles(result), ElementsAre("Find what breaks the answers"));
  EXPECT_THAT(next_steps(result)[0].commands.at(0), ::testing::EndsWith("--recipe recipe.json --bisect"));
}

TEST(NextSteps, StateTheErrorAgain) {
  ClimbResult result = plain();
  result.precision = "f8e4m3fn", result.untried = 5;
  result.precision_search.limit_rel_l2 = 0.02, result.precision_search.limit_kl = 0.1;
  result.rungs.push_back({.name = "precision", .accepted = true});
  const NextStep step = step_of(result, "A longer budget");
  EXPECT_THAT(step.commands.at(0), HasSubstr(" --error 0.02 --kl 0.1"));
  EXPECT_THAT(step.commands.at(0), ::testing::Not(HasSubstr("--dtype")));
}

TEST(NextSteps, OfferACheaperPrecisionThatWonItsRace) {
  ClimbResult result = plain();
  result.cheaper = {.dtype = "bf16", .speedup = {9.4, 4.7, 2, {1.9, 2.1}, 9, ""}, .rel_l2 = 2e-3, .cosine = 0.99998};
  result.cheaper.command = "rung climb m --dtype bf16";
  const NextStep step = step_of(result, "A cheaper precision");
  EXPECT_THAT(step.why,
              HasSubstr("bf16 would be 2.00 × faster [1.900, 2.100], with a relative L2 error of 2.0e-3 and a "
                        "cosine of 0.999980"));
  EXPECT_THAT(step.commands, ElementsAre("rung climb m --dtype bf16"));
  result.cheaper.speedup.ci95 = {0.9, 2.1};
  EXPECT_THAT(titles(result), ::testing::Not(::testing::Contains("A cheaper precision"))) << "it may be slower";
  result.cheaper.speedup = Speedup::none(9.4, 0, kNoRace);
  EXPECT_THAT(titles(result), ::testing::Not(::testing::Contains("A cheaper precision"))) << "it was not raced";
}

// Its receipts do not name the precision that held from the start.
TEST(NextSteps, AreInThePrecisionThatWasClimbed) {
  ClimbResult result = plain();
  std::erase_if(result.rungs, [](const Receipt& receipt) { return receipt.name == "precision"; });
  result.precision = "bf16", result.budget_s = 60, result.untried = 1;
  EXPECT_THAT(step_of(result, "See the difference yourself").commands.at(0), HasSubstr(" --dtype bf16 plan.rung"));
  EXPECT_THAT(step_of(result, "A longer budget").commands.at(0), HasSubstr(" --dtype bf16 --budget 120s"));
}

TEST(NextSteps, OfferFewerThreadsWhereNoneWereTried) {
  ClimbResult result = plain();
  result.threads = 4;
  EXPECT_THAT(step_of(result, "Threads").commands.at(0), HasSubstr(" --threads 2 "));
  result.rungs.push_back({.name = "2 threads", .reason = std::string(kNoTime)});
  EXPECT_THAT(titles(result), ::testing::Contains("Threads")) << "there was no time for it";
  result.rungs.back().reason = "no clear difference";
  EXPECT_THAT(titles(result), ::testing::Not(::testing::Contains("Threads")));
}

TEST(NextSteps, OfferOtherLengthsOfTexts) {
  ClimbResult result = plain();
  result.takes_text = true;
  const NextStep step = step_of(result, "Other lengths");
  EXPECT_THAT(step.why, HasSubstr("padded to 128 tokens"));
  EXPECT_THAT(step.commands.at(0), HasSubstr("--shape input_ids=1,64 --shape attention_mask=1,128"));
  result.shapes = "input_ids=i64[1,8]";
  EXPECT_THAT(titles(result), ::testing::Not(::testing::Contains("Other lengths")));
}

TEST(NextSteps, OfferALongerBudgetWhereTimeRanOut) {
  ClimbResult result = plain();
  result.untried = 2;
  result.rungs.push_back({.name = "tune", .reason = std::string(kNoTime)});
  const NextStep step = step_of(result, "A longer budget");
  EXPECT_THAT(step.why, HasSubstr("no time to try 3 changes"));
  EXPECT_THAT(step.commands.at(0), ::testing::EndsWith(" --budget 120s"));
}

TEST(NextSteps, StandOnThePageAndInMarkdown) {
  ClimbResult result = testing::minilm_climb();
  result.takes_text = true;
  const std::string page = render_html(result), text = to_markdown(result);
  const testing::Texts commands =
      testing::texts_of(testing::elements(testing::section_of(page, "next").inner, {"code"}));
  size_t at = 0;
  for (const NextStep& step : next_steps(result))
    for (const std::string& command : step.commands) {
      EXPECT_EQ(commands.at(at++), command);
      EXPECT_THAT(text, HasSubstr("```\n" + command + "\n```"));
    }
  EXPECT_EQ(at, commands.size());
}

}  // namespace
}  // namespace rung
