// The public interface: opening, describing, running, and what it says when something is wrong.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <optional>
#include <thread>

#include "api/support.hpp"
#include "base/atomic_file.hpp"
#include "import/model.hpp"
#include "import/npz.hpp"
#include "open/recipe.hpp"
#include "open/subject.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"
#include "rung/rung.hpp"
#include "support/graphs.hpp"
#include "tasks/build.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void expect_known_outputs(api::Session& session) {
  api::Tensors outputs;
  api::Status status = session.run(known_inputs(), outputs);
  ASSERT_TRUE(status) << status.message();
  auto expected = read_npz(kModel + "/outputs.npz");
  for (const char* name : {"last_hidden_state", "sentence_embedding"}) {
    Tensor want = expected->at(name);
    EXPECT_LT(relative_l2(Tensor::of(want.shape(), outputs.at(name).values<float>()), want), 1e-5) << name;
  }
}

TEST(PublicModel, AnswersAsPyTorchDoes) {
  api::Session session = session_of(kModel, kOptions);
  expect_known_outputs(session);
}

TEST(PublicModel, SaysWhatItReadsAndGives) {
  const auto model = api::Model::open(kModel, kOptions);
  ASSERT_TRUE(model) << model.error().message();
  std::vector<std::string> names, required;
  for (const auto& port : model->inputs()) {
    names.push_back(port.name);
    if (port.required) required.push_back(port.name);
    EXPECT_EQ(port.dtype, api::DType::i64);
    EXPECT_THAT(port.shape, ElementsAre(1, 9));
    EXPECT_EQ(port.bytes, 72u);
  }
  EXPECT_THAT(names, ElementsAre("input_ids", "attention_mask", "token_type_ids"));
  EXPECT_THAT(required, ElementsAre("input_ids"));
  EXPECT_EQ(model->outputs().back().name, "sentence_embedding");
  EXPECT_THAT(model->outputs().back().shape, ElementsAre(1, 32));
  EXPECT_EQ(model->device().type, RUNG_CPU);
}

TEST(PublicModel, RunsAPlanFile) {
  TemporaryDirectory directory;
  Subject subject;
  subject.model = *import_model(kModel, {.shapes = {{"input_ids", Shape{1, 9}}}});
  auto built = build_plan(subject.model.graph, default_recipe(1));
  ASSERT_TRUE(built) << built.error().message;
  attach_model(built->plan, subject);
  ASSERT_TRUE(save_plan(built->plan, directory / "plan.rung"));
  api::Session session = session_of(directory / "plan.rung");
  expect_known_outputs(session);
  EXPECT_THAT(refusal(directory / "plan.rung", {.threads = 3}), HasSubstr("built for 1 threads, got 3"));
}

TEST(PublicModel, OpensOnTheDeviceAskedForOnly) {
  for (const char* device : {"", "cpu"}) {
    api::Session session = session_of(kModel, {.device = device, .threads = 1, .shapes = kOptions.shapes});
    expect_known_outputs(session);
  }
  EXPECT_EQ(refusal(kModel, {.device = "tpu"}),
            "device: got 'tpu', wanted cpu, cuda, cuda:NUMBER, hip, hip:NUMBER or one of emu:gfx942, emu:gfx950");
  TemporaryDirectory directory;
  auto built = build_plan(graph_of("y = neg(x:f32[4])\nreturn y=y"), {});
  ASSERT_TRUE(built && save_plan(built->plan, directory / "plan.rung"));
  session_of(directory / "plan.rung", {.device = "cpu"});
  EXPECT_THAT(refusal(directory / "plan.rung", {.device = "cuda"}),
              HasSubstr("built for '" + cpu_target().fingerprint + "', got the device 'cuda'"));
}

TEST(PublicModel, TakesDtypesThatItKnows) {
  for (const char* dtype : {"", "model", "f32", "bf16"}) {
    const auto model = api::Model::open(kModel, {.threads = 1, .dtype = dtype, .shapes = kOptions.shapes});
    EXPECT_TRUE(model) << dtype << ": " << model.error().message();
  }
  EXPECT_EQ(refusal(kModel, {.dtype = "f64"}), "dtype: got 'f64', wanted model, f32 or bf16");
}

// Sessions of one model, each on its thread; a session is used by another thread than opened it.
TEST(PublicModel, HasSeveralSessionsAtOnce) {
  const auto model = api::Model::open(kModel, kOptions);
  ASSERT_TRUE(model) << model.error().message();
  api::Tensors alone;
  ASSERT_TRUE(model->session()->run(known_inputs(), alone));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      auto session = model->session();
      ASSERT_TRUE(session) << session.error().message();
      std::thread([&] {
        api::Tensors outputs;
        for (int run = 0; run < 20; ++run) {
          ASSERT_TRUE(session->run(known_inputs(), outputs));
          for (const auto& [name, tensor] : alone) ASSERT_EQ(outputs.find(name)->second.bytes, tensor.bytes) << name;
        }
      }).join();
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(PublicModel, MayBeClosedBeforeItsSessions) {
  std::optional<api::Session> session;
  {
    const auto model = api::Model::open(kModel, kOptions);
    ASSERT_TRUE(model) << model.error().message();
    rung_session* opened = nullptr;
    ASSERT_EQ(rung_session_open(model->handle(), &opened), RUNG_OK) << rung_error();
    rung_session_close(opened);
    session = std::move(*model->session());
  }
  expect_known_outputs(*session);
}

TEST(PublicModel, EncodesTextsByTheModelsOwnTokenizer) {
  TemporaryDirectory directory;
  make_encoder(directory);
  const api::Session session = session_of(directory.path(), kOptions);
  EXPECT_THAT(encoded(session, "B a?").at("input_ids").values<int64_t>(), ElementsAre(2, 6, 5, 1, 3, 0, 0, 0, 0));
  const auto none = session_of(kModel, kOptions).model().encode("a");
  EXPECT_EQ(none.error().kind(), api::Kind::mismatch);
  EXPECT_THAT(none.error().message(), HasSubstr("no tokenizer"));
}

TEST(PublicSession, NamesABadInput) {
  api::Session session = session_of(kModel, kOptions);
  api::Tensors outputs, inputs = known_inputs();
  auto message = [&](const api::Tensors& given) {
    api::Status status = session.run(given, outputs);
    EXPECT_EQ(status.kind(), api::Kind::mismatch) << status.message();
    return status.message();
  };
  const std::vector<float> floats(9);
  EXPECT_THAT(message({{"ids", inputs.at("input_ids")}}), HasSubstr("no input 'ids'"));
  EXPECT_THAT(message({}), HasSubstr("input_ids"));
  inputs["input_ids"] = api::Tensor::of<float>({1, 9}, floats);
  EXPECT_THAT(message(inputs), HasSubstr("input 'input_ids': got f32[1,9], wanted i64[1,9]"));
  inputs["input_ids"] = {api::DType::i64, {1, 9}, {}};
  EXPECT_THAT(message(inputs), HasSubstr("got 0 bytes, wanted 72"));
  EXPECT_TRUE(outputs.empty());
  expect_known_outputs(session);  // what was refused left nothing behind
}

TEST(PublicModel, RefusesThreadsThatNoTeamHas) {
  for (int threads : {-1, 1025, 100000})
    EXPECT_EQ(refusal(kModel, {.threads = threads, .shapes = kOptions.shapes}),
              "threads: got " + std::to_string(threads) + ", wanted at most 1024, or 0 for as many as there are cores");
}

TEST(PublicSession, LeavesTheOutputTensorsAloneOnAnError) {
  TemporaryDirectory directory;
  make_encoder(directory);
  api::Session session = session_of(directory.path(), kOptions);
  api::Tensors outputs, inputs = encoded(session, "a");
  ASSERT_TRUE(session.run(inputs, outputs));
  const auto embedding = outputs.at("sentence_embedding").bytes;
  EXPECT_FALSE(session.run({}, outputs));
  EXPECT_EQ(outputs.at("sentence_embedding").bytes, embedding);
  outputs["old"] = {};
  ASSERT_TRUE(session.run(inputs, outputs));
  EXPECT_EQ(outputs.count("old"), 0u) << "it holds the model's outputs alone";
}

TEST(PublicModel, NamesWhatCannotBeOpened) {
  const auto model = api::Model::open("/nowhere");
  EXPECT_EQ(model.error().kind(), api::Kind::file);
  EXPECT_THAT(model.error().message(), HasSubstr("/nowhere"));
}

// A model of two plans, for 5 tokens and for 9.
struct TwoShapes : testing::Test {
  TemporaryDirectory directory;
  std::string path = directory / "plan.rung";
  void SetUp() override {
    std::vector<tasks::BuildTask> builds;
    for (const int64_t tokens : {5, 9})
      builds.push_back({.model = {.path = kModel, .threads = 1, .shapes = {{"input_ids", Shape{1, tokens}}}}});
    const auto built = tasks::build_set(builds);
    ASSERT_TRUE(built && save_plans(built->plans, path)) << built.error().message;
  }
};

TEST_F(TwoShapes, AreToldPlanByPlan) {
  const auto model = api::Model::open(path);
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ(model->plan_count(), 2u);
  EXPECT_THAT(model->plan(0)->inputs()[0].shape, ElementsAre(1, 5));
  EXPECT_THAT(model->plan(1)->inputs()[0].shape, ElementsAre(1, 9));
  EXPECT_EQ(model->plan(1)->plan_count(), 1u);
  EXPECT_EQ(model->plan(2).error().message(), "got plan 2, wanted less than 2");
  EXPECT_EQ(api::Model::open(path, {.shapes = {{"input_ids", {1, 9}}}})->plan_count(), 1u);
  EXPECT_THAT(refusal(path, {.shapes = {{"input_ids", {1, 7}}}}), HasSubstr("no plan is for input_ids=1,7"));
}

TEST_F(TwoShapes, AreJoinedOverSharedWeights) {
  const auto five = api::Model::open(path, {.shapes = {{"input_ids", {1, 5}}}});
  const auto nine = api::Model::open(path, {.shapes = {{"input_ids", {1, 9}}}});
  const auto joined = api::Model::join({*five, *nine});
  ASSERT_TRUE(joined) << joined.error().message();
  EXPECT_THAT(joined->plan(0)->inputs()[0].shape, ElementsAre(1, 5));
  EXPECT_THAT(joined->plan(1)->inputs()[0].shape, ElementsAre(1, 9));
  const std::string saved = directory / "joined.rung";
  ASSERT_TRUE(joined->save(saved));
  EXPECT_EQ(*read_text_file(saved), *read_text_file(path));
}

TEST_F(TwoShapes, AreNotJoinedTwiceOrWithNothing) {
  const auto model = api::Model::open(path);
  EXPECT_THAT(api::Model::join({*model, *model}).error().message(), HasSubstr("serve the same shapes"));
  EXPECT_EQ(api::Model::join({}).error().message(), "got no model, wanted at least one");
  const rung_model* handles[] = {model->handle(), nullptr};
  rung_model* joined = nullptr;
  EXPECT_EQ(rung_model_join(handles, 2, &joined), RUNG_USAGE);
  EXPECT_EQ(joined, nullptr);
}

TEST_F(TwoShapes, AreSelectedByTheInputsOfARun) {
  api::Session session = session_of(path);
  expect_known_outputs(session);
  EXPECT_EQ(rung_session_selected(session.handle()), 1u);
  api::Tensors outputs;
  const auto five = api::Tensor::of<int64_t>({1, 5}, std::vector<int64_t>{2, 7, 8, 9, 3});
  const api::Status ran = session.run({{"input_ids", five}}, outputs);
  ASSERT_TRUE(ran) << ran.message();
  EXPECT_THAT(outputs.at("last_hidden_state").shape, ElementsAre(1, 5, 32));
}

TEST_F(TwoShapes, AreSelectedByName) {
  api::Session session = session_of(path);
  EXPECT_EQ(session.input("input_ids")->port.shape, (std::vector<int64_t>{1, 5}));
  ASSERT_TRUE(session.select({{"input_ids", {1, 9}}}));
  EXPECT_EQ(session.input("input_ids")->port.shape, (std::vector<int64_t>{1, 9}));
  EXPECT_THAT(session.select({{"input_ids", {1, 7}}}).message(), HasSubstr("no plan is for input_ids=1,7"));
  EXPECT_EQ(rung_session_selected(session.handle()), 1u);
}

}  // namespace
}  // namespace rung
