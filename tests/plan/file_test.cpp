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

void expect_steps_of(const Plan& got_plan, const Plan& plan) {
  ASSERT_EQ(got_plan.steps.size(), plan.steps.size());
  size_t scratches = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step &got = got_plan.steps[i], &want = plan.steps[i];
    EXPECT_TRUE(got.choice == want.choice);
    EXPECT_TRUE(got.op == want.op);
    EXPECT_EQ(got.label, want.label);
    EXPECT_EQ(got.category, want.category);
    EXPECT_EQ(got.flops, want.flops);
    EXPECT_EQ(got.bytes, want.bytes);
    EXPECT_EQ(got.scratch, want.scratch);
    EXPECT_EQ(got.inputs.size(), want.inputs.size());
    scratches += want.scratch.has_value();
  }
  EXPECT_GT(scratches, 0u) << "or that one of the fields has no subject";
}

// Field by field: what its JSON does not hold, two equal texts do not show.
TEST(PlanFile, GivesBackEveryField) {
  TemporaryDirectory directory;
  Plan plan = small_plan();
  plan.architecture = "none";
  plan.inputs[0].meaning = "token ids";
  plan.recipe.disabled_passes.insert("cse");
  plan.steps[0].label = "layer.0";
  ASSERT_TRUE(save_plan(plan, directory / "plan.rung"));
  const auto loaded = load_plan(directory / "plan.rung");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->model, "small");
  EXPECT_EQ(loaded->architecture, "none");
  EXPECT_EQ(loaded->device, plan.device);
  EXPECT_EQ(loaded->recipe, plan.recipe);
  EXPECT_EQ(loaded->arena_bytes, plan.arena_bytes);
  EXPECT_EQ(loaded->attachments, plan.attachments);
  ASSERT_EQ(loaded->stages.size(), 1u);
  EXPECT_EQ(loaded->stages[0].name, "layers");
  ASSERT_EQ(loaded->inputs.size(), plan.inputs.size());
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const PlanInput &got = loaded->inputs[i], &want = plan.inputs[i];
    EXPECT_EQ(got.name, want.name);
    EXPECT_TRUE(got.type == want.type);
    EXPECT_EQ(got.buffer, want.buffer);
    EXPECT_EQ(got.meaning, want.meaning);
    EXPECT_EQ(got.first, want.first);
    EXPECT_EQ(got.last, want.last);
    EXPECT_EQ(got.value.has_value(), want.value.has_value());
  }
  ASSERT_EQ(loaded->outputs.size(), 1u);
  EXPECT_EQ(loaded->outputs[0].name, "y");
  EXPECT_TRUE(loaded->outputs[0].type == plan.outputs[0].type);
  EXPECT_EQ(loaded->outputs[0].buffer, plan.outputs[0].buffer);
  ASSERT_EQ(loaded->frozen.size(), 1u);
  EXPECT_EQ(loaded->frozen[0].name, "mask");
  ASSERT_EQ(loaded->weights.size(), plan.weights.size());
  for (size_t i = 0; i < plan.weights.size(); ++i) {
    EXPECT_EQ(loaded->weights[i].name, plan.weights[i].name);
    EXPECT_EQ(loaded->weights[i].bytes, plan.weights[i].bytes);
  }
  ASSERT_EQ(loaded->buffers.size(), plan.buffers.size());
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer &got = loaded->buffers[i], &want = plan.buffers[i];
    EXPECT_EQ(std::tuple(got.offset, got.bytes, got.first_step, got.last_step),
              std::tuple(want.offset, want.bytes, want.first_step, want.last_step));
  }
  expect_steps_of(*loaded, plan);
}

TEST(PlanJson, WantsEachOfItsFields) {
  const nlohmann::json whole = plan_to_json(small_plan());
  ASSERT_TRUE(plan_from_json(whole));
  for (const auto& [field, value] : whole.items()) {
    if (field == "stages") continue;  // of reports alone
    nlohmann::json less = whole;
    less.erase(field);
    const auto plan = plan_from_json(less);
    ASSERT_FALSE(plan) << field;
    EXPECT_THAT(plan.error().message, HasSubstr(field));
  }
  for (const char* list : {"inputs", "outputs", "frozen"}) {
    nlohmann::json less = whole;
    less["ports"].erase(list);
    EXPECT_FALSE(plan_from_json(less)) << list;
  }
  for (const auto& [field, value] : whole["steps"][0].items()) {
    if (field == "scratch" || field == "params") continue;  // not every step has them
    nlohmann::json less = whole;
    less["steps"][0].erase(field);
    EXPECT_FALSE(plan_from_json(less)) << field;
  }
}

TEST(PlanJson, RefusesWhatIsOutOfRange) {
  const nlohmann::json whole = plan_to_json(small_plan());
  const auto refused = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json other = whole;
    other[nlohmann::json::json_pointer(pointer)] = value;
    return !plan_from_json(other);
  };
  const auto categories = static_cast<int>(kCategoryNames.size());
  EXPECT_FALSE(refused("/steps/0/category", 0));
  EXPECT_FALSE(refused("/steps/0/category", categories - 1));
  EXPECT_TRUE(refused("/steps/0/category", categories));
  EXPECT_TRUE(refused("/steps/0/category", -1));
  const int64_t most = int64_t{1} << 48;
  EXPECT_FALSE(refused("/ports/outputs/0/type/1", {most}));
  EXPECT_TRUE(refused("/ports/outputs/0/type/1", {most + 1}));
  EXPECT_TRUE(refused("/ports/outputs/0/type/1", {0, most, 2})) << "a dimension of none hides no others";
  EXPECT_TRUE(refused("/ports/outputs/0/type/1", {-1}));
  EXPECT_TRUE(refused("/ports/outputs/0/type/0", "f33"));
  EXPECT_TRUE(refused("/steps/0/op", "frob()"));
}

// Tensors that nothing of the plan reads are no part of it.
TEST(PlanFile, RefusesATensorTooMany) {
  SavedPlan saved;
  const auto file = Safetensors::open(saved.path);
  ASSERT_TRUE(file) << file.error().message;
  TensorList tensors;
  for (const auto& [name, entry] : (*file)->tensors()) tensors.emplace_back(name, *(*file)->load(name));
  ASSERT_TRUE(write_safetensors(saved.directory / "same.rung", tensors, (*file)->metadata()));
  EXPECT_TRUE(load_plan(saved.directory / "same.rung"));
  for (const char* name : {"weight/999999", "default/0/ids", "frozen/0/other", "frozen/1/mask", "else"}) {
    TensorList more = tensors;
    more.emplace_back(name, Tensor::of<int64_t>({4}, {1, 2, 3, 4}));
    ASSERT_TRUE(write_safetensors(saved.directory / "more.rung", more, (*file)->metadata()));
    const auto loaded = load_plan(saved.directory / "more.rung");
    ASSERT_FALSE(loaded) << name;
    EXPECT_THAT(loaded.error().message, HasSubstr("damaged")) << name;
  }
}

std::vector<std::string> problems_of(const Plan& plan) {
  std::vector<std::string> problems;
  for (const auto& step : plan.steps) problems.push_back(step.problem);
  return problems;
}

TEST(PlanFile, NamesItsStepsProblemsAsWhenBuilt) {
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
  const size_t mask = saved.bytes.find("frozen/0/mask"), type = saved.bytes.find("F32", mask);
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
  EXPECT_THAT(saved.error_of(replaced(saved.bytes, "rung plan 5", "rung plan 4")),
              HasSubstr("got format 'rung plan 4', wanted 'rung plan 5'"));
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

TEST(PlanFile, RefusesWeightsLaidOutByAnotherLibraryVersion) {
  SavedPlan saved;
  std::string other = layouts_here();
  other[7] = other[7] == '9' ? '8' : '9';  // the first digit of its version
  EXPECT_THAT(saved.error_of(replaced(saved.bytes, layouts_here(), other)),
              AllOf(HasSubstr("its weights are laid out by '" + other), HasSubstr("here is '" + layouts_here()),
                    HasSubstr("climb or build again here")));
}

TEST(PlanFile, RefusesWeightsLaidOutForOtherInstructionSets) {
  SavedPlan saved;
  const size_t isa = saved.bytes.find(layouts_here()) + layouts_here().size();
  const std::string word = saved.bytes.substr(isa, saved.bytes.find('"', isa) - isa);
  EXPECT_TRUE(std::string(dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa())).ends_with(word) && !word.empty()) << word;
  std::string bytes = saved.bytes;
  bytes[isa] = bytes[isa] == 'x' ? 'y' : 'x';
  EXPECT_THAT(saved.error_of(bytes), HasSubstr("its weights are laid out by"));
}

TEST(PlanFile, RefusesWeightsWithoutTheNameOfTheirLayout) {
  SavedPlan saved;
  EXPECT_THAT(saved.error_of(replaced(saved.bytes, "\"layouts\"", "\"lay-out\"")),
              HasSubstr("does not name the library in whose layouts its weights are"));
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

TEST(PlanFile, LeavesOnlyTheOldFileOnFullDisks) {
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

TEST(PlanFile, StillRunsWhenTruncatedAfterLoading) {
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

TEST(PlanJson, RefusesNumbersThatAreNotWhole) {
  const nlohmann::json right = plan_to_json(plan_of("x: f32[4] = input()\nreturn y=neg(x)"));
  ASSERT_TRUE(plan_from_json(right));
  for (const nlohmann::json& wrong :
       {nlohmann::json(1.5), nlohmann::json(1e81), nlohmann::json(-1), nlohmann::json("64")}) {
    nlohmann::json damaged = right;
    damaged["arena_bytes"] = wrong;
    const auto plan = plan_from_json(damaged);
    ASSERT_FALSE(plan) << wrong;
    EXPECT_THAT(plan.error().message, ::testing::HasSubstr("wanted a whole number in range"));
  }
}

}  // namespace
}  // namespace rung
