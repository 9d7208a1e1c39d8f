// Plan files: round trip, and every kind of damage.
// SPDX-License-Identifier: Apache-2.0
#include "plan/file.hpp"

#include <dnnl.h>
#include <dnnl_debug.h>
#include <sys/resource.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "ir/safetensors.hpp"
#include "plan/plan_json.hpp"
#include "support.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

Graph small_graph() {
  return graph_of(
      "table: f32[5,8] = constant(name=\"table\")\n"
      "w: f32[16,8] = constant(name=\"w\")\n"
      "b: f32[16] = constant(name=\"b\")\n"
      "ids: i64[4] = input()\n"
      "bias: f32[4,16] = input()\n"
      "h: f32[4,16] = linear(gather(table, ids, axis=0), w, b, slots=bias)\n"
      "y: f32[4,16] = add(softmax(h), bias)\n"
      "return y=y");
}

// A plan with all that a file holds: weights, a default, a range, a frozen value, an attachment.
Plan small_plan() {
  Plan plan = plan_of(small_graph(), all_passes());
  plan.model = "small";
  plan.attachments["vocab.txt"] = "a\nb\n";
  plan.stages = {{"layers", {"encoder", "layer.*.dense"}}};
  plan.inputs[0].first = 0, plan.inputs[0].last = 4;
  plan.inputs[1].value = random_tensor("default", plan.inputs[1].type);
  plan.frozen.push_back({"mask", Tensor::of<float>({3}, {1, 0, 1})});
  return plan;
}

struct SavedPlan {
  TemporaryDirectory directory;
  std::string path = directory / "plan.rung";
  std::string bytes;
  SavedPlan() {
    Status saved = save_plan(small_plan(), path);
    EXPECT_TRUE(saved) << saved.error().message;
    bytes = *read_text_file(path);
  }
  // The error of loading these bytes instead; empty if they load.
  std::string error_of(const std::string& other) {
    directory.write("other.rung", other);
    auto loaded = load_plan(directory / "other.rung");
    return loaded ? "" : loaded.error().message;
  }
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  EXPECT_NE(text.find(from), text.npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

TEST(PlanFile, GivesBackThePlan) {
  SavedPlan saved;
  auto loaded = load_plan(saved.path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  Plan plan = small_plan();
  EXPECT_EQ(plan_to_json(*loaded), plan_to_json(plan));
  EXPECT_EQ(loaded->stages[0].scopes, plan.stages[0].scopes);
  EXPECT_TRUE(same_bits(*loaded->inputs[1].value, *plan.inputs[1].value));
  EXPECT_TRUE(same_bits(loaded->frozen[0].value, plan.frozen[0].value));
  NamedTensors inputs{{"ids", Tensor::of<int64_t>({4}, {0, 4, 2, 2})}};
  Outputs want = outputs_of(std::move(plan), inputs), got = outputs_of(std::move(*loaded), inputs);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(same_bits(got[0].second, want[0].second));
}

std::vector<std::string> problems_of(const Plan& plan) {
  std::vector<std::string> problems;
  for (const auto& step : plan.steps) problems.push_back(step.problem);
  return problems;
}

TEST(PlanFile, NamesTheProblemsOfItsStepsAsTheBuildDid) {
  SavedPlan saved;
  auto loaded = load_plan(saved.path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(problems_of(*loaded), problems_of(small_plan()));
  EXPECT_THAT(problems_of(*loaded), Contains(HasSubstr("linear m=4 n=16 k=8")));
}

TEST(PlanFile, FindsEveryFlippedByte) {
  SavedPlan saved;
  size_t step = saved.bytes.size() / 400 + 1;
  for (size_t i = 0; i < saved.bytes.size(); i += i < 64 ? 1 : step) {
    for (char flip : {'\x01', '\x20', '\xff'}) {
      std::string bytes = saved.bytes;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      std::string error = saved.error_of(bytes);
      ASSERT_NE(error, "") << "byte " << i << " of " << bytes.size() << " flipped by " << static_cast<int>(flip);
      EXPECT_EQ(error.find('\n'), error.npos) << error;
      EXPECT_THAT(error, HasSubstr("other.rung"));
    }
  }
}

// The bytes are the same, and what they are is not.
TEST(PlanFile, FindsATensorOfAnotherType) {
  SavedPlan saved;
  const size_t mask = saved.bytes.find("frozen/mask"), type = saved.bytes.find("F32", mask);
  ASSERT_LT(type, mask + 64);
  std::string other = saved.bytes;
  EXPECT_THAT(saved.error_of(other.replace(type, 3, "I32")), HasSubstr("damaged"));
}

TEST(PlanFile, FindsEveryTruncation) {
  SavedPlan saved;
  for (size_t size = 0; size < saved.bytes.size(); size += 97)
    EXPECT_NE(saved.error_of(saved.bytes.substr(0, size)), "") << size;
}

TEST(PlanFile, RefusesAnotherVersion) {
  SavedPlan saved;
  EXPECT_THAT(saved.error_of(replaced(saved.bytes, "rung plan 4", "rung plan 3")),
              HasSubstr("got format 'rung plan 3', wanted 'rung plan 4'"));
}

TEST(PlanFile, RefusesAnotherDevice) {
  TemporaryDirectory directory;
  Plan plan = small_plan();
  plan.device = "cpu of another kind";
  ASSERT_TRUE(save_plan(plan, directory / "plan.rung"));
  auto loaded = load_plan(directory / "plan.rung");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("built for 'cpu of another kind'"));
}

// The version that is loaded, not the one that was compiled against.
std::string layouts_here() {
  const auto* version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{} for ", version->major, version->minor, version->patch);
}

TEST(PlanFile, RefusesWeightsInTheLayoutsOfAnotherVersionOfTheLibrary) {
  SavedPlan saved;
  std::string other = layouts_here();
  other[7] = other[7] == '9' ? '8' : '9';  // the first digit of its version
  EXPECT_THAT(saved.error_of(replaced(saved.bytes, layouts_here(), other)),
              AllOf(HasSubstr("its weights are laid out by '" + other), HasSubstr("here is '" + layouts_here()),
                    HasSubstr("climb or build again here")));
}

TEST(PlanFile, RefusesWeightsInTheLayoutsOfOtherInstructionSets) {
  SavedPlan saved;
  const size_t isa = saved.bytes.find(layouts_here()) + layouts_here().size();
  const std::string word = saved.bytes.substr(isa, saved.bytes.find('"', isa) - isa);
  EXPECT_TRUE(std::string(dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa())).ends_with(word) && !word.empty()) << word;
  std::string bytes = saved.bytes;
  bytes[isa] = bytes[isa] == 'x' ? 'y' : 'x';
  EXPECT_THAT(saved.error_of(bytes), HasSubstr("its weights are laid out by"));
}

TEST(PlanFile, RefusesWeightsOfWhichItDoesNotSayWhoseLayoutsTheyHave) {
  SavedPlan saved;
  EXPECT_THAT(saved.error_of(replaced(saved.bytes, "\"layouts\"", "\"lay-out\"")),
              HasSubstr("does not say in whose layouts its weights are"));
}

TEST(PlanFile, RefusesOtherSafetensorsFiles) {
  TemporaryDirectory directory;
  ASSERT_TRUE(write_safetensors(directory / "w.rung", TensorList{{"w", Tensor::of<float>({1}, {1})}}, Metadata{}));
  auto loaded = load_plan(directory / "w.rung");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("not a plan"));
}

TEST(PlanFile, IsNotWrittenWhereThereIsNoFolder) {
  TemporaryDirectory directory;
  std::string file = directory.write("file", "");
  EXPECT_FALSE(save_plan(small_plan(), file + "/plan.rung"));
  EXPECT_FALSE(save_plan(small_plan(), directory / "none/plan.rung"));
  EXPECT_FALSE(std::filesystem::exists(directory / "none"));
}

// No file of this process grows beyond that many bytes meanwhile: writing stops in the middle, as on a full disk.
struct SmallDisk {
  explicit SmallDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{bytes, before.rlim_max};
    handler = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
  }
  rlimit before{};
  void (*handler)(int) = nullptr;
};

TEST(PlanFile, LeavesTheOldFileAndNothingBesideItWhenTheDiskFillsUp) {
  TemporaryDirectory directory;
  std::string path = directory.write("plan.rung", "old");
  Plan plan = small_plan();
  plan.attachments["vocab.txt"] = std::string(100'000, 'a');
  Status saved;
  {
    SmallDisk disk(10'000);
    saved = save_plan(plan, path);
  }
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, HasSubstr("plan.rung"));
  EXPECT_EQ(*read_text_file(path), "old");
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    left.push_back(entry.path().filename());
  EXPECT_THAT(left, ::testing::ElementsAre("plan.rung"));
}

TEST(PlanFile, ThatIsCutShortOnceItIsLoadedStillRuns) {
  SavedPlan saved;
  auto loaded = load_plan(saved.path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  NamedTensors inputs{{"ids", Tensor::of<int64_t>({4}, {0, 4, 2, 2})}};
  Outputs want = outputs_of(small_plan(), inputs);
  std::filesystem::resize_file(saved.path, 100);
  Outputs got = outputs_of(std::move(*loaded), inputs);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(same_bits(got[0].second, want[0].second));
}

}  // namespace
}  // namespace rung
