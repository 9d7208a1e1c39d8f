// The public interface on a GPU: on one that is there, and on a driver without one, which shows that a plan finds its
// device.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <latch>
#include <optional>
#include <thread>

#include "api/program.hpp"
#include "api/support.hpp"
#include "import/npz.hpp"
#include "measure/compare.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "plan/file.hpp"
#include "rung/rung.hpp"
#include "support/device.hpp"
#include "support/fake_device.hpp"
#include "support/gpu_word.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

const std::map<std::string, std::vector<int64_t>> kShapes{{"input_ids", {1, 9}}};

api::Tensors answer(api::Session& session, const api::Tensors& inputs = known_inputs()) {
  api::Tensors outputs;
  api::Status ran = session.run(inputs, outputs);
  EXPECT_TRUE(ran) << ran.message();
  return outputs;
}

// The judge's comparison with what PyTorch computed, as of f32 through the whole graph.
void expect_known(const api::Tensors& outputs) {
  auto expected = read_npz(kModel + "/outputs.npz");
  ASSERT_TRUE(expected);
  for (const char* name : {"last_hidden_state", "sentence_embedding"}) {
    const Tensor& want = expected->at(name);
    ASSERT_TRUE(outputs.contains(name));
    Comparison compared = compare(name, Tensor::of(want.shape(), outputs.find(name)->second.values<float>()), want,
                                  tolerance_for(DType::f32, 16384));
    EXPECT_TRUE(compared.passed) << name << ": " << compared.reason;
  }
}

bool same(const api::Tensors& a, const api::Tensors& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
           return x.first == y.first && x.second.bytes == y.second.bytes && !x.second.bytes.empty();
         });
}

const std::string kGpu = gpu_word();

class GpuPublicModel : public testing::Test {
 protected:
  void SetUp() override {
    auto target = open_target(kGpu);
    if (!target) GTEST_SKIP() << target.error().message;
    auto opened = open_model({.path = kModel, .device = device_named(kGpu), .shapes = {{"input_ids", {1, 9}}}});
    ASSERT_TRUE(opened) << opened.error().message;
    auto plan = build_subject(*opened->subject, default_recipe(threads_for(**target, 0)), **target);
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_TRUE(save_plan(**plan, path));
  }
  api::Session opened(const std::string& device = "") const { return session_of(path, {.device = device}); }
  TemporaryDirectory folder;
  std::string path = folder / "plan.rung";
};

TEST_F(GpuPublicModel, BuildsAModelThatAgreesWithTheProcessor) {
  for (const std::string& device : {kGpu, std::string("cpu")}) {
    api::Session session = session_of(kModel, {.device = device, .shapes = kShapes});
    expect_known(answer(session));
  }
}

TEST_F(GpuPublicModel, RunsAPlanOnlyOnItsOwnDevice) {
  for (const std::string& device : {std::string(), kGpu, kGpu + ":0"}) {
    api::Session session = opened(device);
    expect_known(answer(session));
  }
  EXPECT_THAT(refusal(path, {.device = "cpu"}), HasSubstr("got the device 'cpu'"));
}

TEST_F(GpuPublicModel, TellsWhoseMemoryItHas) {
  api::Session session = opened();
  const bool amd = kGpu == "hip";
  EXPECT_EQ(session.model().device().type, amd ? RUNG_ROCM : RUNG_CUDA);
  rung_tensor tensor{};
  ASSERT_EQ(rung_session_input(session.handle(), 0, RUNG_CPU, &tensor), RUNG_OK);
  EXPECT_EQ(tensor.device.type, amd ? RUNG_ROCM_HOST : RUNG_CUDA_HOST) << "pinned";
  ASSERT_EQ(rung_session_input(session.handle(), 0, amd ? RUNG_ROCM : RUNG_CUDA, &tensor), RUNG_OK);
  EXPECT_EQ(tensor.device.type, amd ? RUNG_ROCM : RUNG_CUDA);
  EXPECT_EQ(rung_session_input(session.handle(), 0, amd ? RUNG_CUDA : RUNG_ROCM, &tensor), RUNG_MISMATCH);
}

TEST_F(GpuPublicModel, IsOpenedRunAndEndedByAnyThread) {
  std::optional<api::Session> session;
  std::thread([&] { session = opened(); }).join();
  api::Tensors here = answer(*session), there;
  expect_known(here);
  std::thread([&] { there = answer(*session); }).join();
  EXPECT_TRUE(same(here, there));
  std::thread([&] { session.reset(); }).join();
  api::Session again = opened();
  EXPECT_TRUE(same(here, answer(again)));
}

TEST_F(GpuPublicModel, RunsBesideOthers) {
  constexpr size_t kThreads = 4;
  api::Session first = opened();
  const api::Tensors alone = answer(first);
  std::latch start(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i)
    threads.emplace_back([&, shares = i % 2 == 0] {
      start.arrive_and_wait();
      api::Session session = shares ? std::move(*first.model().session()) : opened();  // while others run
      for (int run = 0; run < 100; ++run) ASSERT_TRUE(same(answer(session), alone)) << run;
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(GpuPublicModel, IsWhatTheExampleRuns) {
  TemporaryDirectory directory;
  make_encoder(directory);
  auto model = open_model({.path = directory.path(), .device = device_named(kGpu)});
  ASSERT_TRUE(model) << model.error().message;
  auto plan = build_subject(*model->subject, default_recipe(0), *model->target);
  ASSERT_TRUE(plan && save_plan(**plan, path)) << plan.error().message;
  const std::string sentences = " 'a b c' 'x y z'";
  auto printed = [&](const std::string& what) {
    Ran ran = run_program_text(RUNG_EXAMPLE, what + sentences);
    std::array<double, 4> m{};
    EXPECT_EQ(std::sscanf(ran.out.c_str(), "%lf %lf %lf %lf", &m[0], &m[1], &m[2], &m[3]), 4) << ran.out;
    return m;
  };
  EXPECT_THAT(printed(path), testing::Pointwise(testing::DoubleNear(1.5e-4), printed(directory.path())));
}

// The tool and the example as processes, on a driver whose kernels do nothing.
class PlanOfADevice : public OnAFakeDevice {
 protected:
  void SetUp() override {
    OnAFakeDevice::SetUp();
    if (IsSkipped()) return;
    make_encoder(folder);
    folder.write("recipe.json", R"({"version":1,"capture":true,"threads":0,"rungs":[]})");
    Ran built = run_program_text(
        RUNG_TOOL, "build " + folder.path() + " --device cuda --recipe " + (folder / "recipe.json") + " --out " + path);
    ASSERT_EQ(built.exit_code, 0) << built.out;
  }
  TemporaryDirectory folder;
  std::string path = folder / "plan.rung";
};

TEST_F(PlanOfADevice, IsOpenedThere) {
  Ran ran = run_program_text(RUNG_EXAMPLE, path + " 'a b c' 'x y z'");
  EXPECT_EQ(ran.exit_code, 0) << ran.out;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 2) << ran.out;
}

TEST_F(PlanOfADevice, IsRefusedWhereItIsNot) {
  setenv("LD_LIBRARY_PATH", "/nowhere", 1);
  if (open_target("cuda")) GTEST_SKIP() << "this machine has one";
  Ran ran = run_program_text(RUNG_EXAMPLE, path + " 'a b c'");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("plan.rung': no CUDA driver"));
}

TEST_F(PlanOfADevice, RunsInTheToolWithoutADeviceOption) {
  const std::string run = "run " + path + " --stepwise";
  EXPECT_EQ(run_program_text(RUNG_TOOL, run).exit_code, 0);
  EXPECT_EQ(run_program_text(RUNG_TOOL, run + " --device cuda:0").exit_code, 0);
  Ran ran = run_program_text(RUNG_TOOL, run + " --device cpu");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("built for 'cuda Fake sm_80 "));
  EXPECT_THAT(ran.out, HasSubstr("got the device 'cpu'"));
}

}  // namespace
}  // namespace rung
