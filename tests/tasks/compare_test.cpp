// Comparing two sides in turns: verdicts, outputs, what cannot be compared, and tools of other builds.
// SPDX-License-Identifier: Apache-2.0
#include "tasks/compare.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "plan/file.hpp"
#include "support/bert_tiny.hpp"
#include "support/scripted_clock.hpp"
#include "support/temporary_directory.hpp"
#include "tasks/build.hpp"
#include "tasks/shared_inputs.hpp"

namespace rung::tasks {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

OpenOptions at_length(int64_t tokens) { return {.threads = 1, .shapes = {{"input_ids", {1, tokens}}}}; }

// Nothing is fused, which takes more than twice as long.
CompareSide unfused() { return {.path = kBert, .recipe = Recipe{.threads = 1}, .recipe_name = "unfused", .tool = {}}; }

CompareTask little_task() {
  CompareTask task{.a = {.path = kBert}, .b = {.path = kBert}, .model = at_length(20)};
  task.budget_s = 1;
  return task;
}

Compared compared(const CompareTask& task) {
  auto result = compare(task);
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or(Compared());
}

void expect_refused(const CompareTask& task, ErrorKind kind, const std::string& message) {
  auto result = compare(task);
  ASSERT_FALSE(result) << message;
  EXPECT_EQ(result.error().kind, kind) << result.error().message;
  EXPECT_THAT(result.error().message, HasSubstr(message));
}

TEST(Compare, FindsThePlantedSlowerPlanOnEitherSide) {
  CompareTask task = little_task();
  task.b = unfused();
  const Compared slower = compared(task);
  EXPECT_EQ(slower.pace(), Pace::slower) << ratio_line(slower);
  EXPECT_GT(*slower.b.launches, *slower.a.launches);
  EXPECT_THAT(headline_of(slower), HasSubstr("× slower than A, beyond the limit of 3 %"));
  std::swap(task.a, task.b);
  const Compared faster = compared(task);
  EXPECT_EQ(faster.pace(), Pace::faster) << ratio_line(faster);
  EXPECT_GT(faster.speedup.ci95.lo, 1);
  EXPECT_THAT(headline_of(faster), HasSubstr("× faster than A"));
}

TEST(Compare, FindsTheSamePlanWithinAWideLimit) {
  CompareTask task = little_task();
  task.max_slowdown = 1;
  const Compared same = compared(task);
  EXPECT_NE(same.pace(), Pace::slower);
  EXPECT_NE(same.pace(), Pace::unclear) << ratio_line(same);
  EXPECT_TRUE(same.outputs_agree());
  for (const Comparison& output : same.outputs.outputs) EXPECT_EQ(output.max_abs, 0) << output.name;
}

TEST(Compare, JudgesByTheInterval) {
  const auto pace = [](double lo, double hi) {
    return pace_of({.ratio = 1, .ci95 = {lo, hi}, .pairs = 9, .unraced = {}},
                   0.25);  // a ratio of 0.8 and more is within it
  };
  EXPECT_EQ(pace(1.01, 1.2), Pace::faster);
  EXPECT_EQ(pace(0.99, 1.2), Pace::within_limit);
  EXPECT_EQ(pace(0.81, 0.9), Pace::within_limit) << "slower, but not beyond the limit";
  EXPECT_EQ(pace(0.7, 0.9), Pace::unclear);
  EXPECT_EQ(pace(0.7, 1.2), Pace::unclear);
  EXPECT_EQ(pace(0.7, 0.79), Pace::slower);
  EXPECT_EQ(pace(0, INFINITY), Pace::unclear);
  EXPECT_EQ(pace_of(Speedup::none(1, 2, "no race"), 0.25), Pace::unclear);
}

TEST(Compare, TellsOutputsApart) {
  CompareTask task = little_task();
  task.b = unfused();
  task.b.recipe->precision = everywhere(DType::bf16);
  task.b.recipe->rungs = {"precision"};
  const Compared low = compared(task);
  EXPECT_EQ(low.b.precision, DType::bf16);
  EXPECT_TRUE(low.outputs_agree()) << outputs_line(low);
  EXPECT_GT(low.tolerance.rel_l2, 1e-3);
  EXPECT_EQ(to_json(low)["outputs_agree"], true);
}

class ComparePlans : public testing::Test {
 protected:
  TemporaryDirectory folder;
  std::string build(const std::string& name, OpenOptions options, const std::optional<Recipe>& recipe = {}) {
    options.path = kBert;
    auto built = rung::tasks::build({.model = options, .recipe = recipe, .database = {}});
    EXPECT_TRUE(built) << built.error().message;
    EXPECT_TRUE(save_plan(*built->plan, folder / name));
    return folder / name;
  }
};

TEST_F(ComparePlans, RefusesOtherInputs) {
  CompareTask task{.a = {.path = build("a.rung", at_length(8))}, .b = {.path = build("b.rung", at_length(9))}};
  expect_refused(task, ErrorKind::mismatch, "is i64[1,8] in A and i64[1,9] in B: both sides must read the same inputs");
  task.model.shapes = {{"input_ids", {1, 8}}};
  expect_refused(task, ErrorKind::usage, "B: '" + task.b.path + "': no plan is for input_ids=1,8");
}

TEST_F(ComparePlans, GivesADirectoryItsRivalPlansShapes) {
  CompareTask task{.a = {.path = kBert}, .b = {.path = build("b.rung", at_length(7), Recipe{.threads = 1})}};
  task.model.threads = 1;
  task.budget_s = 1;
  const Compared both = compared(task);
  EXPECT_EQ(both.pace(), Pace::slower) << ratio_line(both);
  EXPECT_TRUE(both.outputs_agree());
  std::swap(task.a, task.b);
  EXPECT_EQ(compared(task).pace(), Pace::faster);
}

TEST_F(ComparePlans, RunsBothAtTheFrozenValueOfOne) {
  OpenOptions options{.threads = 1, .inputs = given_arrays(*read_npz(kBert + "/inputs.npz"))};
  const std::string open = build("open.rung", options);
  options.freeze = {"attention_mask"};
  const std::string frozen = build("frozen.rung", options);
  CompareTask task{.a = {.path = open}, .b = {.path = frozen}};
  task.budget_s = 1, task.max_slowdown = 1;
  const Compared both = compared(task);
  EXPECT_TRUE(both.outputs_agree()) << outputs_line(both);
  EXPECT_NE(both.pace(), Pace::slower);
}

TEST_F(ComparePlans, RefusesWhatIsNoPlan) {
  CompareTask task = little_task();
  task.b.path = folder.write("plan.rung", "no plan");
  expect_refused(task, ErrorKind::file, "B: ");
  task.b.path = folder / "nowhere";
  expect_refused(task, ErrorKind::file, "B: ");
}

TEST(Compare, RefusesWhatCannotBeMeant) {
  CompareTask task = little_task();
  task.max_slowdown = 0;
  expect_refused(task, ErrorKind::usage, "max_slowdown: got 0");
  task = little_task();
  task.budget_s = 0.5;
  expect_refused(task, ErrorKind::usage, "budget: got 0.5 s, wanted at least 1 s");
}

TEST(Compare, RefusesRunsThatTakeNoTime) {
  const scripted::Clock clock;  // stands still
  expect_refused(little_task(), ErrorKind::failed, "A: a run took 0 s, wanted more than 0");
}

TEST(Compare, EndsWhenItIsInterrupted) {
  CompareTask task = little_task();
  task.interrupted = [] { return true; };
  expect_refused(task, ErrorKind::interrupted, "interrupted");
}

Ports ports(const std::string& device) {
  return {.device = device,
          .fingerprint = "the one",
          .inputs = {{"x", {DType::f32, {1}}}},
          .outputs = {{"y", {DType::f32, {1}}}},
          .frozen = {}};
}

TEST(ComparablePorts, AreOfOneDevice) {
  EXPECT_TRUE(check_comparable(ports("cpu"), ports("cpu")));
  EXPECT_THAT(check_comparable(ports("cpu"), ports("cuda:0")).error().message,
              HasSubstr("A runs on cpu (the one) and B on cuda:0 (the one): both sides must run on the same device"));
  Ports other = ports("cpu");
  other.fingerprint = "the other";
  EXPECT_FALSE(check_comparable(ports("cpu"), other));
}

TEST(ComparablePorts, HaveTheSameInputsAndAnOutput) {
  Ports more = ports("cpu"), none = ports("cpu");
  more.inputs["z"] = {DType::f32, {1}};
  EXPECT_THAT(check_comparable(more, ports("cpu")).error().message,
              HasSubstr("A reads an input 'z', which B does not"));
  EXPECT_THAT(check_comparable(ports("cpu"), more).error().message,
              HasSubstr("B reads an input 'z', which A does not"));
  none.outputs = {{"other", {DType::f32, {1}}}};
  EXPECT_THAT(check_comparable(ports("cpu"), none).error().message, HasSubstr("no output in common"));
  Ports one = ports("cpu"), two = ports("cpu");
  for (auto [side, value] : {std::pair{&one, 1.0f}, {&two, 2.0f}}) {
    Tensor tensor({DType::f32, {1}});
    tensor.as<float>()[0] = value;
    side->frozen["x"] = tensor;
  }
  EXPECT_TRUE(check_comparable(one, one));
  EXPECT_THAT(check_comparable(one, two).error().message, HasSubstr("frozen at one value in A and at another in B"));
}

// Programs that answer as another build of the tool would, with times that the test plants.
class CompareTools : public testing::Test {
 protected:
  TemporaryDirectory folder;

  // `answer`: what a shell does for the block of number i, of all its processes.
  std::string tool(const std::string& name, const std::string& answer,
                   const std::string& outputs = kBert + "/outputs.npz") {
    const std::string count = folder / (name + ".count");
    const std::string script =
        "#!/bin/sh\ncase \"$1\" in\n--version) echo \"version of " + name +
        "\";;\nrun) while [ $# -gt 0 ]; do if [ \"$1\" = --outputs ]; then to=$2; fi; shift; done; cp '" + outputs +
        "' \"$to\";;\nbench) echo \"$@\" >> '" + (folder / "asked") +
        "'; echo ready; while read word ms; do i=$(($(cat '" + count + "') + 1)); echo $i > '" + count + "'; " +
        answer + "; done;;\nesac\n";
    folder.write(name, script);
    folder.write(name + ".count", "0\n");
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
    return folder / name;
  }
  static std::string milliseconds(const std::string& value) { return "echo \"{\\\"median_ms\\\": " + value + "}\""; }
  CompareTask task(const std::string& a, const std::string& b) const {
    CompareTask task{.a = {.path = kBert, .tool = a}, .b = {.path = kBert, .tool = b}};
    task.model = {.threads = 1, .inputs = given_arrays(*read_npz(kBert + "/inputs.npz"))};
    task.budget_s = 2;
    return task;
  }
};

TEST_F(CompareTools, AreAskedInTurnsForBlocks) {
  const Compared slower =
      compared(task(tool("old", milliseconds("10.$((i % 7))")), tool("new", milliseconds("11.$((i % 5))"))));
  EXPECT_EQ(slower.pace(), Pace::slower) << ratio_line(slower);
  EXPECT_NEAR(1 / slower.speedup.ratio, 1.085, 0.02);
  EXPECT_EQ(slower.a.version, "version of old");
  EXPECT_EQ(slower.b.tool, folder / "new");
  EXPECT_FALSE(slower.b.launches) << "only that tool knows";
  EXPECT_TRUE(slower.outputs_agree());
  EXPECT_THAT(*read_text_file(folder / "asked"), HasSubstr("bench --blocks " + kBert + " --threads 1 --inputs "));
  EXPECT_EQ(slower.starts, slower.speedup.pairs) << "a process for every block";
}

TEST_F(CompareTools, LeaveItUnclearWhereTheirTimesDo) {
  const Compared unclear =
      compared(task(tool("old", milliseconds("10")), tool("new", milliseconds("$((5 + i % 2 * 15))"))));
  EXPECT_EQ(unclear.pace(), Pace::unclear) << ratio_line(unclear);
  EXPECT_THAT(headline_of(unclear), HasSubstr("unclear: B may or may not be slower than A by more than 3 %"));
  EXPECT_EQ(to_json(unclear)["verdict"], "unclear");
}

TEST_F(CompareTools, GiveOutputsThatAreCompared) {
  NamedTensors wrong = *read_npz(kBert + "/outputs.npz");
  wrong.erase("last_hidden_state");
  auto values = wrong.at("sentence_embedding").as<float>();
  std::ranges::transform(values, values.begin(), [](float x) { return -x; });
  ASSERT_TRUE(write_npz(folder / "wrong.npz", wrong));
  const Compared differs =
      compared(task(tool("old", milliseconds("10")), tool("new", milliseconds("10"), folder / "wrong.npz")));
  EXPECT_FALSE(differs.outputs_agree());
  const auto& outputs = differs.outputs.outputs;
  const auto negated = std::ranges::find(outputs, "sentence_embedding", &Comparison::name);
  ASSERT_NE(negated, outputs.end());
  EXPECT_NEAR(negated->cosine, -1, 1e-6);
  EXPECT_THAT(differs.only_in_a, testing::Contains("last_hidden_state"));
  EXPECT_THAT(outputs_line(differs), HasSubstr("the outputs differ: sentence_embedding: relative L2 error 2"));
  EXPECT_THAT(outputs_line(differs), HasSubstr("only A gives last_hidden_state"));
}

TEST_F(CompareTools, SayWhatIsWrongWithThem) {
  const std::string good = tool("old", milliseconds("10"));
  expect_refused(task(good, folder / "none"), ErrorKind::failed, "cannot start '" + (folder / "none"));
  expect_refused(task(good, tool("mute", "exit 4")), ErrorKind::failed,
                 "B: '" + (folder / "mute") + " bench --blocks': exited with 4");
  expect_refused(task(good, tool("wrong", "echo 'rung: error: the device is gone' >&2; exit 1")), ErrorKind::failed,
                 "B: '" + (folder / "wrong") + " bench --blocks': the device is gone");
  expect_refused(task(good, tool("other", "echo fine")), ErrorKind::failed, "got the answer 'fine'");
  expect_refused(task(good, tool("instant", milliseconds("0"))), ErrorKind::failed, "B: a run took 0 s");
}

TEST_F(CompareTools, GetTheRecipeOfTheirSide) {
  CompareTask asked = task(tool("old", milliseconds("10")), tool("new", milliseconds("10")));
  asked.b.recipe = Recipe{.threads = 1};
  EXPECT_EQ(compared(asked).pace(), Pace::within_limit);
  EXPECT_THAT(*read_text_file(folder / "asked"), HasSubstr("recipe.json --inputs "));
}

TEST_F(CompareTools, AreToldApartInMarkdown) {
  const Compared both = compared(task(tool("old|er", milliseconds("10")), tool("new", milliseconds("12"))));
  const std::string page = to_markdown(both);
  EXPECT_THAT(page, HasSubstr("### B is 1.20 × slower than A, beyond the limit of 3 %"));
  EXPECT_THAT(page, HasSubstr("| median | 10.0 ms | 12.0 ms |"));
  EXPECT_THAT(page, HasSubstr("old\\|er"));
  EXPECT_THAT(page, HasSubstr("| sentence\\_embedding | 0 | 0 | 1.00000000 | agrees |"));
}

}  // namespace
}  // namespace rung::tasks
