// What a climb says of the tuning that it did: what is kept is in the file, what is lost is said.
// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "base/atomic_file.hpp"
#include "base/log.hpp"
#include "ladder/rungs.hpp"
#include "scripted_climb.hpp"
#include "support.hpp"
#include "support/pace.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

class TuningKept : public ::testing::Test {
 protected:
  Subject subject = tiny_bert();
  TemporaryDirectory directory;
  std::string path = directory / "tuning.json", hopeless = directory.write("file", "") + "/tuning.json";
  Budget budget{60};
  std::vector<std::string> said;

  TuningKept() {
    set_log_sink([this](int, std::string_view line) { said.emplace_back(line); }, 0);
  }
  ~TuningKept() override { set_log_sink({}, 0); }

  std::unique_ptr<Workbench> bench(const std::string& database) {
    auto created = Workbench::create(subject, {sample_inputs(subject.model, 1)}, {.database_path = database}, budget);
    EXPECT_TRUE(created) << created.error().message;
    return std::move(*created);
  }
  ClimbOptions options(const std::string& database) {
    return {.budget_s = 3 * kPace, .inputs = {sample_inputs(subject.model, 1)}, .database_path = database};
  }
};

const TunedProblem kTuned{{"linear_avx2", {}}, {}};

TEST_F(TuningKept, NamesNoFileBeforeAnythingIsTuned) {
  for (const char* stage : {"reference", "baseline"}) {
    ClimbOptions climbing = options(path);
    bool reached = false;
    climbing.progress = [&](const std::string& now, double) { reached = reached || now.starts_with(stage); };
    climbing.interrupted = [&] { return reached; };
    auto outcome = climb(subject, climbing);
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message, HasSubstr("interrupted; nothing"));
    EXPECT_EQ(outcome.error().message.find(directory.path()), std::string::npos) << outcome.error().message;
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(TuningKept, CountsTheProblemsThatAreInTheFile) {
  auto tuned = bench(path);
  EXPECT_EQ(tuned->account_of_tuning(), "nothing new was tuned");
  tuned->database().put("linear a", kTuned);
  tuned->database().put("linear b", kTuned);
  tuned->save_tuning();
  tuned->database().put("linear b", kTuned);
  tuned->save_tuning();
  EXPECT_EQ(tuned->account_of_tuning(), "2 of 2 tuned problems are kept in " + path);
  EXPECT_THAT(said, ::testing::IsEmpty());
  EXPECT_EQ(bench(path)->account_of_tuning(), "nothing new was tuned") << "what was there before is not new";
}

TEST_F(TuningKept, SaysOnceThatTheDatabaseCannotBeWritten) {
  auto tuned = bench(hopeless);
  for (const char* problem : {"linear a", "linear b"}) {
    tuned->database().put(problem, kTuned);
    tuned->save_tuning();
  }
  const std::string reason = "'" + hopeless + "': cannot lock the tuning database: Not a directory";
  EXPECT_EQ(tuned->unsaved_reason(), reason);
  EXPECT_EQ(tuned->account_of_tuning(), "0 of 2 tuned problems are kept in " + hopeless + ": " + reason);
  EXPECT_THAT(said, ::testing::ElementsAre("what was tuned is not saved: " + reason));
}

TEST_F(TuningKept, ClaimsNoFileWithoutADatabase) {
  auto tuned = bench("");
  tuned->database().put("linear a", kTuned);
  tuned->save_tuning();
  EXPECT_EQ(tuned->account_of_tuning(), "1 tuned problem is kept in no file");
  EXPECT_THAT(said, ::testing::IsEmpty());
}

TEST_F(TuningKept, IsSaidInTheResultToo) {
  ClimbOptions climbing = options(hopeless);
  for (const Rung& rung : ladder())
    if (rung.name != "gemm") climbing.skip.insert(std::string(rung.name));
  auto outcome = climb(subject, climbing);
  ASSERT_TRUE(outcome) << outcome.error().message;
  if (outcome->result.choices.empty()) GTEST_SKIP() << "too busy a machine to tune anything within the budget";
  EXPECT_THAT(outcome->result.environment["tuning database"], HasSubstr("not saved: '" + hopeless));
}

// Two problems of softmax, on a clock that goes on for as long as a test says.
class TuningUnderWay : public ScriptedClimb {};

TEST_F(TuningUnderWay, IsSavedBeforeItEnds) {
  subject.model.graph = subject.reference =
      graph_of("x: f32[2,8] = input()\ns = softmax(x)\ny = softmax(s, axis=0)\nreturn y=y");
  set_kernels({{"softmax_plain", scripted::right<1000>}, {"softmax_fast", scripted::right<400>}});
  options.budget_s = 200;
  options.progress = [&](const std::string& now, double) {
    if (now == "tuning 1/2") scripted::Clock::pass_us(6e6);
  };
  std::set<ptrdiff_t> saved;  // counts of problems that were in the file at some time
  options.interrupted = [&] {
    if (!std::filesystem::exists(options.database_path)) return false;
    const std::string text = *read_text_file(options.database_path);
    ptrdiff_t problems = 0;
    for (size_t at = 0; (at = text.find("\"candidates\"", at)) != std::string::npos; ++at) ++problems;
    saved.insert(problems);
    return false;
  };
  climbed();
  EXPECT_THAT(saved, ::testing::Contains(1)) << "a killed climb loses all that it tuned";
  EXPECT_THAT(saved, ::testing::Contains(2));
}

}  // namespace
}  // namespace rung
