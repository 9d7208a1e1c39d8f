// The public interface: opening, describing, running, and what it says when something is wrong.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "api/support.hpp"
#include "import/model.hpp"
#include "import/npz.hpp"
#include "ladder/rungs.hpp"
#include "ladder/subject.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"
#include "rung/rung.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const api::Options kOptions{.threads = 1, .shapes = {{"input_ids", {1, 9}}}};

api::Model opened(const std::string& path = kModel, const api::Options& options = kOptions) {
  api::Model model;
  api::Status status = model.open(path, options);
  EXPECT_TRUE(status) << status.message();
  return model;
}

void expect_known_outputs(api::Model& model) {
  api::Tensors outputs;
  api::Status status = model.run(known_inputs(), outputs);
  ASSERT_TRUE(status) << status.message();
  auto expected = read_npz(kModel + "/outputs.npz");
  for (const char* name : {"last_hidden_state", "sentence_embedding"}) {
    Tensor want = expected->at(name);
    EXPECT_LT(relative_l2(Tensor::of(want.shape(), outputs.at(name).values<float>()), want), 1e-5) << name;
  }
}

TEST(PublicModel, AnswersAsPyTorchDoes) {
  api::Model model = opened();
  expect_known_outputs(model);
}

TEST(PublicModel, SaysWhatItReadsAndGives) {
  api::Model model = opened();
  std::vector<std::string> names, required;
  for (const auto& port : model.inputs()) {
    names.push_back(port.name);
    if (port.required) required.push_back(port.name);
    EXPECT_EQ(port.dtype, api::DType::i64);
    EXPECT_THAT(port.shape, ElementsAre(1, 9));
  }
  EXPECT_THAT(names, ElementsAre("input_ids", "attention_mask", "token_type_ids"));
  EXPECT_THAT(required, ElementsAre("input_ids"));
  EXPECT_EQ(model.outputs().back().name, "sentence_embedding");
  EXPECT_THAT(model.outputs().back().shape, ElementsAre(1, 32));
}

TEST(PublicModel, RunsAPlanFile) {
  TemporaryDirectory directory;
  Subject subject;
  subject.model = *import_model(kModel, {.shapes = {{"input_ids", Shape{1, 9}}}});
  auto built = build_plan(subject.model.graph, default_recipe(1));
  ASSERT_TRUE(built) << built.error().message;
  attach_model(built->plan, subject);
  ASSERT_TRUE(save_plan(built->plan, directory / "plan.rung"));
  api::Model model = opened(directory / "plan.rung", {});
  expect_known_outputs(model);
  EXPECT_THAT(model.open(directory / "plan.rung", {.threads = 3}).message(), HasSubstr("built for 1 threads, got 3"));
  expect_known_outputs(model);  // what was open stays
}

TEST(PublicModel, OpensOnTheDeviceAskedForAndOnNoOther) {
  for (const char* device : {"", "cpu"}) {
    api::Model model = opened(kModel, {.device = device, .threads = 1, .shapes = kOptions.shapes});
    expect_known_outputs(model);
    EXPECT_EQ(model.open(kModel, {.device = "tpu"}).message(), "device: got 'tpu', wanted cpu, cuda or cuda:NUMBER");
    expect_known_outputs(model);  // what was open stays
  }
  TemporaryDirectory directory;
  auto built = build_plan(graph_of("y = neg(x:f32[4])\nreturn y=y"), {});
  ASSERT_TRUE(built && save_plan(built->plan, directory / "plan.rung"));
  opened(directory / "plan.rung", {.device = "cpu"});
  EXPECT_THAT(api::Model().open(directory / "plan.rung", {.device = "cuda"}).message(),
              HasSubstr("built for '" + cpu_target().fingerprint + "', got the device 'cuda'"));
}

TEST(PublicModel, IsOneOfSeveralAtOnceEachOnItsThread) {
  api::Model first = opened();
  api::Tensors alone;
  ASSERT_TRUE(first.run(known_inputs(), alone));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      api::Model model = opened();
      std::thread([&] {  // which did not open it
        api::Tensors outputs;
        for (int run = 0; run < 20; ++run) {
          ASSERT_TRUE(model.run(known_inputs(), outputs));
          for (const auto& [name, tensor] : alone) ASSERT_EQ(outputs.find(name)->second.bytes, tensor.bytes) << name;
        }
      })
          .join();
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(PublicModel, EncodesTextsByTheModelsOwnTokenizer) {
  TemporaryDirectory directory;
  make_encoder(directory);
  api::Tensors inputs;
  api::Status status = opened(directory.path()).encode("B a?", inputs);
  ASSERT_TRUE(status) << status.message();
  EXPECT_THAT(inputs.at("input_ids").values<int64_t>(), ElementsAre(2, 6, 5, 1, 3, 0, 0, 0, 0));
  EXPECT_THAT(opened().encode("a", inputs).message(), HasSubstr("no tokenizer"));
}

TEST(PublicModel, NamesABadInput) {
  api::Model model = opened();
  api::Tensors outputs, inputs = known_inputs();
  auto message = [&](const api::Tensors& given) { return model.run(given, outputs).message(); };
  const std::vector<float> floats(9);
  EXPECT_THAT(message({{"ids", inputs.at("input_ids")}}), HasSubstr("no input 'ids'"));
  EXPECT_THAT(message({}), HasSubstr("input_ids"));
  inputs["input_ids"] = api::Tensor::of<float>({1, 9}, floats);
  EXPECT_THAT(message(inputs), HasSubstr("input 'input_ids': got f32[1,9], wanted i64[1,9]"));
  inputs["input_ids"] = {api::DType::i64, {1, 9}, {}};
  EXPECT_THAT(message(inputs), HasSubstr("got 0 bytes, wanted 72"));
  inputs["input_ids"] = {api::DType::i64, {-1, 9}, {}};
  EXPECT_THAT(message(inputs), HasSubstr("dimension of -1"));
  EXPECT_TRUE(outputs.empty());
}

TEST(PublicModel, RefusesThreadsThatNoTeamHas) {
  for (int threads : {-1, 1025, 100000}) {
    api::Model model;
    api::Status status = model.open(kModel, {.threads = threads, .shapes = kOptions.shapes});
    EXPECT_EQ(status.message(),
              "threads: got " + std::to_string(threads) + ", wanted at most 1024, or 0 for as many as there are cores");
    EXPECT_TRUE(model.inputs().empty());
  }
}

TEST(PublicModel, LeavesTheTensorsItWasToFillOnAnError) {
  TemporaryDirectory directory;
  make_encoder(directory);
  api::Model model = opened(directory.path());
  api::Tensors inputs, outputs;
  ASSERT_TRUE(model.encode("a", inputs));
  ASSERT_TRUE(model.run(inputs, outputs));
  const auto ids = inputs.at("input_ids").bytes, embedding = outputs.at("sentence_embedding").bytes;
  EXPECT_FALSE(model.run({}, outputs));
  EXPECT_EQ(outputs.at("sentence_embedding").bytes, embedding);
  EXPECT_FALSE(opened().encode("b", inputs));  // it has no tokenizer
  EXPECT_EQ(inputs.at("input_ids").bytes, ids);
  outputs["old"] = {};
  ASSERT_TRUE(model.run(inputs, outputs));
  EXPECT_EQ(outputs.count("old"), 0u) << "it holds the model's outputs alone";
}

TEST(PublicModel, NamesWhatCannotBeOpened) {
  api::Model model;
  EXPECT_THAT(model.open("/nowhere").message(), HasSubstr("/nowhere"));
  api::Tensors outputs;
  EXPECT_EQ(model.run({}, outputs).message(), "no model is open");
  EXPECT_EQ(model.encode("a", outputs).message(), "no model is open");
  EXPECT_TRUE(model.inputs().empty());
}

}  // namespace
}  // namespace rung
