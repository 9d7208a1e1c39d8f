// Climbing, and what the command line also does, from code.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/support.hpp"

namespace rung {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

api::ClimbOptions quick() { return {.model = kOptions, .budget_s = 3, .database = ""}; }

// Every field is that of the report.
void expect_receipts_of(const api::Climb& climb, const Json& rungs) {
  const auto receipts = climb.receipts();
  ASSERT_EQ(receipts.size(), rungs.size());
  for (size_t i = 0; i < receipts.size(); ++i) {
    const api::Receipt& r = receipts[i];
    EXPECT_FALSE(r.reason.empty()) << r.name;
    const Json got{{"name", r.name},       {"accepted", r.accepted},
                   {"reason", r.reason},   {"before_ms", r.before_ms},
                   {"ms", r.ms},           {"ratio", r.ratio},
                   {"kernels", r.kernels}, {"rel_l2", r.rel_l2},
                   {"max_abs", r.max_abs}, {"ci95", {r.ci_low, r.ci_high}},
                   {"attempt", r.attempt}};
    Json wanted = rungs.at(i);
    for (const char* of_reports_alone : {"notes", "pairs"}) wanted.erase(of_reports_alone);
    EXPECT_EQ(Json::parse(got.dump()), wanted) << "as text, for an interval without an upper end is null there";
  }
}

// JSON has no NaN: null.
void expect_speedup(const api::Speedup& speedup, const Json& told) {
  EXPECT_EQ(speedup.before_ms, told["before_ms"]);
  EXPECT_EQ(speedup.after_ms, told["after_ms"]);
  EXPECT_EQ(std::isnan(speedup.ratio), told["ratio"].is_null());
  if (!told["ratio"].is_null()) {
    EXPECT_EQ(speedup.ratio, told["ratio"]);
  }
  EXPECT_EQ(Json({speedup.ci_low, speedup.ci_high}), told["ci95"]);
  EXPECT_EQ(speedup.pairs, told["pairs"]);
  EXPECT_EQ(speedup.unraced, told["unraced"]);
}

TEST(PublicClimb, GivesAPlanAReportAndReceipts) {
  std::vector<std::string> decided;
  double last = 0;
  auto climb = api::climb(kModel, quick(), [&](std::string_view what, double fraction, const api::Receipt* receipt) {
    EXPECT_FALSE(what.empty());
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
    last = fraction;
    if (receipt) decided.push_back(receipt->name);
    return true;
  });
  ASSERT_TRUE(climb) << climb.error().message();
  EXPECT_GT(last, 0);
  std::vector<std::string> names;
  for (const api::Receipt& receipt : climb->receipts()) names.push_back(receipt.name);
  EXPECT_THAT(names, testing::Contains("default plan"));
  EXPECT_EQ(decided, names) << "each is told as it is decided";
  expect_receipts_of(*climb, Json::parse(climb->report()).at("rungs"));
  expect_speedup(climb->against_baseline(), Json::parse(climb->report()).at("against_baseline"));
  expect_speedup(climb->against_no_climb(), Json::parse(climb->report()).at("against_no_climb"));
  EXPECT_EQ(climb->against_baseline().claimed, Json::parse(climb->report()).at("speedup"));
  EXPECT_EQ(Json::parse(climb->recipe()).at("version"), 1);
  EXPECT_THAT(std::string(climb->text(RUNG_CLIMB_HTML)), HasSubstr("<html"));
  EXPECT_FALSE(climb->text(RUNG_CLIMB_MARKDOWN).empty());
  EXPECT_TRUE(Json::parse(climb->text(RUNG_CLIMB_TRACE)).contains("traceEvents"));
  EXPECT_TRUE(climb->text(static_cast<rung_climb_text_kind>(7)).empty());

  auto model = climb->model();
  ASSERT_TRUE(model) << model.error().message();
  api::Tensors won, saved;
  ASSERT_TRUE(model->session()->run(known_inputs(), won));
  TemporaryDirectory folder;
  const api::Status status = climb->save(folder / "made");
  ASSERT_TRUE(status) << status.message();
  for (const char* file : {"recipe.json", "report.html", "report.json", "report.md", "trace.json"})
    EXPECT_TRUE(std::filesystem::exists(folder / "made/" + file)) << file;
  ASSERT_TRUE(session_of(folder / "made/plan.rung").run(known_inputs(), saved));
  EXPECT_EQ(won.at("sentence_embedding").bytes, saved.at("sentence_embedding").bytes);
}

TEST(PublicClimb, EndsWhenItsProgressSaysSo) {
  int calls = 0;
  auto climb = api::climb(kModel, quick(), [&](std::string_view, double, const api::Receipt*) { return ++calls < 3; });
  EXPECT_EQ(climb.error().kind(), api::Kind::interrupted);
  EXPECT_EQ(calls, 3) << "it is not called after it asked for the end";
}

// The climb has more to tell at the receipt that the caller ends it with.
TEST(PublicClimb, TellsNothingAfterTheReceiptThatEndsIt) {
  int calls_after = 0;
  bool ended = false;
  auto climb = api::climb(kModel, quick(), [&](std::string_view, double, const api::Receipt* receipt) {
    if (ended) ++calls_after;
    ended = ended || receipt;
    return !receipt;
  });
  EXPECT_EQ(climb.error().kind(), api::Kind::interrupted);
  EXPECT_TRUE(ended);
  EXPECT_EQ(calls_after, 0);
}

TEST(PublicClimb, PassesOnWhatItsProgressThrows) {
  EXPECT_THROW((void)api::climb(kModel, quick(),
                                [](std::string_view, double, const api::Receipt*) -> bool {
                                  throw std::runtime_error("of the caller's");
                                }),
               std::runtime_error);
}

TEST(PublicClimb, NamesWhatItCannotClimb) {
  const auto kind = [](const std::string& path, const api::ClimbOptions& options) {
    return api::climb(path, options).error().kind();
  };
  api::ClimbOptions short_of_time = quick(), no_rung = quick(), no_value = quick();
  short_of_time.budget_s = 0.1;
  no_rung.skip = {"nothing"};
  no_value.freeze = {"input_ids"};
  EXPECT_EQ(kind("/nowhere", quick()), api::Kind::file);
  EXPECT_EQ(kind(kModel, short_of_time), api::Kind::usage);
  EXPECT_EQ(kind(kModel, no_rung), api::Kind::usage);
  EXPECT_EQ(kind(kModel, no_value), api::Kind::usage);
}

TEST(PublicClimb, KeepsAStatedErrorOnAllSets) {
  api::ClimbOptions options = quick();
  options.inputs = known_inputs();
  options.further_inputs = {known_inputs(), known_inputs()};
  options.error = 0.05, options.cosine = 0.99;
  auto climb = api::climb(kModel, options);
  ASSERT_TRUE(climb) << climb.error().message();
  const Json report = Json::parse(climb->report());
  EXPECT_EQ(report.at("precision_search").at("limit_rel_l2"), 0.05);
  EXPECT_EQ(report.at("precision_search").at("limit_cosine"), 0.99);
  EXPECT_LE(report.at("rel_l2"), 0.05);
}

TEST(PublicClimb, RefusesLimitsAndSetsThatDoNotFit) {
  const auto message = [](const api::ClimbOptions& options) { return api::climb(kModel, options).error().message(); };
  api::ClimbOptions none = quick(), beyond = quick(), unlike = quick();
  none.error = 0, beyond.cosine = 1.5;
  unlike.inputs = known_inputs(), unlike.further_inputs = {known_inputs(), {}};
  EXPECT_THAT(message(none), HasSubstr("error: got 0, wanted a relative error above 0 and below 1"));
  EXPECT_THAT(message(beyond), HasSubstr("cosine: got 1.5, wanted a cosine above 0 and below 1"));
  EXPECT_THAT(message(unlike), HasSubstr("'set 3 of inputs' gives no 'attention_mask', but 'set 1 of inputs' does"));
}

TEST(PublicTasks, TellWhatTheCommandsPrint) {
  const api::TaskOptions options{.model = kOptions, .runs = 3};
  auto bench = api::bench(kModel, options);
  ASSERT_TRUE(bench) << bench.error().message();
  EXPECT_EQ(Json::parse(*bench).at("runs"), 3);
  EXPECT_EQ(Json::parse(*bench).at("rate_hz"), 0);
  auto at_a_rate = api::bench(kModel, {.model = kOptions, .runs = 3, .rate_hz = 500});
  ASSERT_TRUE(at_a_rate) << at_a_rate.error().message();
  EXPECT_EQ(Json::parse(*at_a_rate).at("rate_hz"), 500);
  auto profile = api::profile(kModel, options);
  ASSERT_TRUE(profile) << profile.error().message();
  EXPECT_FALSE(Json::parse(*profile).at("ops").empty());
  auto explain = api::explain(kModel, options);
  ASSERT_TRUE(explain) << explain.error().message();
  EXPECT_FALSE(Json::parse(*explain).at("passes").empty());
  auto verify = api::verify(kModel, options);
  ASSERT_TRUE(verify) << verify.error().message();
  EXPECT_EQ(Json::parse(*verify).at("passed"), true);
}

TEST(PublicTasks, CompareTwoSidesInTurns) {
  api::CompareOptions options{.model = kOptions};
  options.recipe_b = R"({"version":1,"threads":1})";
  options.budget_s = 1;
  const auto slower = api::compare(kModel, "", options);
  ASSERT_TRUE(slower) << slower.error().message();
  EXPECT_EQ(Json::parse(*slower).at("verdict"), "slower") << *slower;
  EXPECT_EQ(Json::parse(*slower).at("outputs_agree"), true);
  options.max_slowdown = 90;
  EXPECT_EQ(Json::parse(*api::compare(kModel, "", options)).at("verdict"), "within_limit");
  EXPECT_EQ(api::compare(kModel, "", {.model = kOptions}).error().kind(), api::Kind::usage) << "what is B?";
  EXPECT_EQ(api::compare(kModel, "nowhere", {.model = kOptions}).error().kind(), api::Kind::file);
  EXPECT_EQ(api::compare(kModel, kModel, {.model = kOptions, .max_slowdown = -1}).error().kind(), api::Kind::usage);
}

TEST(PublicTasks, CompareWithOutputsOfTheCallers) {
  api::TaskOptions options{.model = kOptions, .inputs = known_inputs()};
  ASSERT_TRUE(session_of(kModel, kOptions).run(known_inputs(), options.reference));
  auto same = api::verify(kModel, options);
  ASSERT_TRUE(same) << same.error().message();
  EXPECT_EQ(Json::parse(*same).at("passed"), true);
  for (auto& [name, tensor] : options.reference) tensor.bytes.assign(tensor.bytes.size(), std::byte{0});
  auto other = api::verify(kModel, options);
  ASSERT_TRUE(other) << "a verification that fails is an answer";
  EXPECT_EQ(Json::parse(*other).at("passed"), false);
}

TEST(PublicTasks, EndWhenTheCallerWantsNoMore) {
  int asked = 0;
  api::TaskOptions options{.model = kOptions, .runs = 1000000, .goes_on = [&] { return ++asked < 2; }};
  const auto bench = api::bench(kModel, options);
  ASSERT_FALSE(bench);
  EXPECT_EQ(bench.error().kind(), api::Kind::interrupted);
  EXPECT_THAT(bench.error().message(), HasSubstr("of 1000000 runs"));
  options.goes_on = [] { return false; };
  EXPECT_EQ(api::profile(kModel, options).error().kind(), api::Kind::interrupted);
  EXPECT_EQ(api::verify(kModel, options).error().kind(), api::Kind::interrupted);
  EXPECT_TRUE(api::explain(kModel, options)) << "it measures nothing";
  options.goes_on = []() -> bool { throw std::runtime_error("enough"); };
  EXPECT_THROW(api::bench(kModel, options).error(), std::runtime_error);
}

// The C interface reads as many bytes as a shape says.
TEST(PublicTasks, RefuseTensorsOfFewerBytesThanTheirShape) {
  const api::Tensors short_of_bytes{{"input_ids", {api::DType::i64, {1, 9}, std::vector<std::byte>(8)}}};
  const auto expect_refused = [](const api::Status& status) {
    EXPECT_EQ(status.kind(), api::Kind::mismatch);
    EXPECT_THAT(status.message(), HasSubstr("'input_ids': got 8 bytes, wanted 72"));
  };
  api::ClimbOptions climb = quick();
  climb.inputs = short_of_bytes;
  expect_refused(api::climb(kModel, climb).error());
  expect_refused(api::bench(kModel, {.model = kOptions, .inputs = short_of_bytes}).error());
  expect_refused(api::verify(kModel, {.model = kOptions, .reference = short_of_bytes}).error());
}

TEST(PublicTasks, NameABadRecipe) {
  EXPECT_EQ(api::explain(kModel, {.model = kOptions, .recipe = "{"}).error().kind(), api::Kind::usage);
  EXPECT_THAT(
      api::explain(kModel, {.model = kOptions, .recipe = R"({"version":1,"rungs":["nothing"]})"}).error().message(),
      HasSubstr("nothing"));
}

}  // namespace
}  // namespace rung
