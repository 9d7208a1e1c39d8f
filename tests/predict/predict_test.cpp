// Predictions of a small model: what they are made of, that nobody takes them for measured, what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "predict/predict.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "amdgpu/code/code_object.hpp"
#include "device/gpu/modules.hpp"
#include "kernels/described_target.hpp"
#include "plan/build.hpp"
#include "plan/step_cost.hpp"
#include "predict/described_steps.hpp"
#include "predict/resident_blocks.hpp"
#include "support/bert_tiny.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

PredictTask little_task(std::vector<std::string> gpus) {
  return {.model = {.path = kBert, .shapes = {{"input_ids", {1, 9}}}}, .recipe = {}, .gpus = std::move(gpus)};
}

// With kernels of both vendors, or of one alone.
template <gpu::Vendor... vendors>
class PredictTasksOn : public ::testing::Test {
 protected:
  void SetUp() override {
    for (gpu::Vendor vendor : {vendors...})
      if (auto missing = gpu::missing_modules_reason(vendor); !missing.empty()) GTEST_SKIP() << missing;
  }
};
using PredictTasks = PredictTasksOn<gpu::Vendor::nvidia, gpu::Vendor::amd>;
using PredictTasksOnAmd = PredictTasksOn<gpu::Vendor::amd>;
using PredictTasksOnNvidia = PredictTasksOn<gpu::Vendor::nvidia>;

TEST_F(PredictTasks, AddUpTheirOpsAndStages) {
  const auto got = predict(little_task({"h200", "mi300x"}));
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->size(), 2u);
  for (const Prediction& prediction : *got) {
    double floor_ms = 0, expected_ms = 0, bytes = 0;
    uint64_t vector = 0;
    for (const PredictedOp& op : prediction.ops) {
      bytes += op.count * op.bytes, vector += static_cast<uint64_t>(op.count) * op.vector_instructions;
      floor_ms += op.count * op.each.floor_s * 1e3, expected_ms += op.count * op.each.seconds() * 1e3;
      EXPECT_GE(op.each.seconds(), op.each.floor_s) << op.problem;
      EXPECT_GE(op.resident, 1) << op.problem;
    }
    EXPECT_NEAR(prediction.floor_ms, floor_ms, 1e-9);
    EXPECT_NEAR(prediction.expected_ms, expected_ms, 1e-9);
    EXPECT_NEAR(prediction.bytes, bytes, 1e-3);
    EXPECT_EQ(prediction.vector_instructions, vector);
    EXPECT_EQ(vector > 0, prediction.counted);
    double staged_ms = 0;
    int launches = 0;
    for (const PredictedStage& stage : prediction.stages) staged_ms += stage.expected_ms, launches += stage.launches;
    EXPECT_NEAR(staged_ms, expected_ms, 1e-9);
    EXPECT_EQ(launches, prediction.launches);
    EXPECT_GT(launches, 10);
    EXPECT_LT(prediction.boundaries_ms, prediction.expected_ms);
  }
  EXPECT_FALSE((*got)[0].counted);
  EXPECT_TRUE((*got)[1].counted);
}

// Products of f32 by matrix instructions, of 16 rows of which 9 are tokens, at the card's published rate of f32. An
// activation takes more of its vector instructions than so small a product of matrix instructions.
TEST_F(PredictTasksOnAmd, CountWhatItExecutes) {
  const auto got = predict(little_task({"mi300x"}));
  ASSERT_TRUE(got) << got.error().message;
  const auto op_of = [&](std::string_view problem) {
    const auto& ops = got->front().ops;
    const auto found =
        std::ranges::find_if(ops, [&](const PredictedOp& op) { return op.problem.starts_with(problem); });
    EXPECT_NE(found, ops.end()) << problem;
    return found == ops.end() ? PredictedOp{} : *found;
  };
  const PredictedOp product = op_of("linear m=9 n=96 k=32"), activation = op_of("linear m=9 n=64 k=32");
  const double units = 304, longer = units / product.blocks;
  EXPECT_GT(product.each.work_s, longer * 2 * 16 * 96 * 32 / 163.4e12);
  EXPECT_EQ(product.each.bound, WorkBound::matrix);
  EXPECT_EQ(activation.each.bound, WorkBound::vector);
}

TEST_F(PredictTasksOnAmd, AreLabelled) {
  const auto got = predict(little_task({"mi300x"}));
  ASSERT_TRUE(got) << got.error().message;
  const Json all = to_json(*got), json = all["predictions"][0];
  EXPECT_EQ(all["model"]["round_us"], ModelParameters{}.round_s * 1e6);
  EXPECT_EQ(json["measured"], false);
  EXPECT_EQ(json["gpu"]["word"], "mi300x");
  EXPECT_FALSE(json["gpu"]["source"].get<std::string>().empty());
  for (const auto& [key, value] : json.items()) EXPECT_THAT(key, ::testing::Not(HasSubstr("median")));
}

// The one cell that the model is fitted on (docs/prediction.md): a plan that changes wants another fit and other
// tables.
TEST_F(PredictTasksOnNvidia, TakeWhatWasMeasuredWhereTheyAreFitted) {
  constexpr double kMeasuredMs = 11.28;
  const PredictTask headline{.model = {.path = std::string(RUNG_TEST_DATA) + "/pi0_full", .random_weights = 1},
                             .recipe = {},
                             .gpus = {"h200"}};
  const auto got = predict(headline);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_NEAR(got->front().expected_ms, kMeasuredMs, 0.005 * kMeasuredMs);
}

TEST_F(PredictTasks, FasterMachinesTakeLess) {
  const auto got = predict(little_task({"h100", "h200", "mi300x", "mi325x", "mi350x", "mi355x"}));
  ASSERT_TRUE(got) << got.error().message;
  for (size_t slower : {0, 2, 4}) {
    EXPECT_LT((*got)[slower + 1].floor_ms, (*got)[slower].floor_ms + 1e-9);
    EXPECT_LE((*got)[slower + 1].expected_ms, (*got)[slower].expected_ms);
  }
}

double bytes_of_attention(const Prediction& prediction) {
  double bytes = 0;
  for (const PredictedOp& op : prediction.ops)
    if (op.problem.starts_with("attention ")) bytes += op.count * op.bytes;
  return bytes;
}

// Of a decoder's step, the cache that its attentions read: both its bytes and the instructions for it.
TEST_F(PredictTasksOnAmd, FillCaches) {
  const auto with_cache = [](int64_t tokens) {
    PredictTask task = little_task({"mi300x"});
    task.model = {
        .path = RUNG_TEST_DATA "/checkpoints/llama", .shapes = {{"input_ids", {1, 1}}}, .cache = {.length = tokens}};
    auto got = predict(task);
    EXPECT_TRUE(got) << got.error().message;
    return std::move(got->at(0));
  };
  const Prediction shorter = with_cache(8), longer = with_cache(32);
  const int layers = 2, keys_and_values = 2, key_heads = 2, width = 8, bytes_of_f32 = 4;
  EXPECT_EQ(bytes_of_attention(longer) - bytes_of_attention(shorter),
            24 * layers * keys_and_values * key_heads * width * bytes_of_f32);
  EXPECT_GT(longer.vector_instructions, shorter.vector_instructions);
}

TEST_F(PredictTasksOnAmd, ReadCachesThatAreFull) {
  const auto target = described_target(**gpu::card_named("mi300x"));
  ASSERT_TRUE(target) << target.error().message;
  Graph graph = graph_of(
      "q: f32[1,1,2,8] = input()\nlength: i64[1] = input()\nk: f32[1,16384,2,8] = input()\nv: f32[1,16384,2,8] = "
      "input()\n"
      "y = attention(q, length, k, v, slots=length)");
  const auto built = build_plan(graph, {}, {.target = *target});
  ASSERT_TRUE(built) << built.error().message;
  ASSERT_EQ(built->plan.steps.size(), 1u);
  const auto counts = executed_by(built->plan, built->plan.steps[0]);
  ASSERT_TRUE(counts) << counts.error().message;
  const Step& step = built->plan.steps[0];
  EXPECT_EQ(cost_of_full_cache(step).bytes - cost_behind(step, 0).bytes, 16383 * 2 * 2 * 8 * 4);
  EXPECT_GE(counts->global_bytes_read, uint64_t{16384} * 2 * 2 * 8 * 4);
  const uint64_t lanes = 64, heads = 2;
  EXPECT_GE(counts->by_opcode.at(amdgpu::Opcode::v_exp_f32) * lanes, heads * 16384) << "one of each key's score";
}

TEST(PredictTaskErrors, NameWhatIsWrong) {
  const auto unknown = predict(little_task({"h200", "mi999"}));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
  EXPECT_THAT(unknown.error().message, HasSubstr("gpu: got 'mi999', wanted one of h100, h200"));
}

// ---- blocks that a unit holds

gpu::RecordedLaunch launch(uint32_t threads, uint32_t shared_bytes, const amdgpu::KernelInfo* kernel = nullptr) {
  return {
      .function = "any", .kernel = kernel, .shape = {.block = {threads}, .cluster = {}, .shared_bytes = shared_bytes}};
}

TEST(ResidentBlocks, OfHopperFollowMemoryAndThreads) {
  const gpu::GpuInfo h200 = info_of(**gpu::card_named("h200"));
  EXPECT_EQ(resident_blocks(launch(256, 109568), h200)->blocks, 2);
  EXPECT_EQ(resident_blocks(launch(384, 222464), h200)->blocks, 1);
  EXPECT_EQ(resident_blocks(launch(384, 222464), h200)->limit, "shared memory");
  EXPECT_EQ(resident_blocks(launch(1024, 0), h200)->blocks, 2);
  EXPECT_EQ(resident_blocks(launch(32, 0), h200)->blocks, 32);
  EXPECT_EQ(resident_blocks(launch(32, 0), h200)->limit, "threads");
}

TEST(ResidentBlocks, OfCdnaFollowItsCode) {
  const gpu::GpuInfo mi300x = info_of(**gpu::card_named("mi300x")), mi350x = info_of(**gpu::card_named("mi350x"));
  amdgpu::KernelInfo kernel;
  kernel.vgprs = 168, kernel.sgprs = 32;
  EXPECT_EQ(resident_blocks(launch(256, 0, &kernel), mi300x)->blocks, 3);
  EXPECT_EQ(resident_blocks(launch(256, 0, &kernel), mi300x)->limit, "vector registers");
  kernel.vgprs = 64, kernel.lds_bytes = 8 * 1024;
  EXPECT_EQ(resident_blocks(launch(256, 24 * 1024, &kernel), mi300x)->blocks, 2);
  EXPECT_EQ(resident_blocks(launch(256, 24 * 1024, &kernel), mi350x)->blocks, 4);
  EXPECT_FALSE(resident_blocks(launch(256, 64 * 1024, &kernel), mi300x));
}

}  // namespace
}  // namespace rung
