// Opening models and plans by path, device and threads: which device, and what is said when it is not that one.
// SPDX-License-Identifier: Apache-2.0
#include "open/open_model.hpp"

#include <gmock/gmock.h>

#include "open/recipe.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"
#include "support/bert_tiny.hpp"
#include "support/device.hpp"
#include "support/fake_target.hpp"
#include "support/graphs.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class OpenModel : public ::testing::Test {
 protected:
  // A plan of two threads that takes x, said to be built for that device.
  std::string plan_for(const std::string& device, const std::string& x = "f32[4]") {
    auto built = build_plan(graph_of(fmt::format("y = neg(x:{})\nreturn y=y", x)), {.threads = 2});
    EXPECT_TRUE(built) << built.error().message;
    built->plan.device = device;
    EXPECT_TRUE(save_plan(built->plan, folder_ / "plan.rung"));
    return folder_ / "plan.rung";
  }
  // Opens such a plan with a value for x, which takes the type.
  Result<Opened> with_input(const std::string& type, const Tensor& x) {
    return open_model({.path = plan_for(here_, type), .inputs = given_arrays({{"x", x}})});
  }
  static Error error_of(const OpenOptions& options) {
    auto opened = open_model(options);
    EXPECT_FALSE(opened) << options.path;
    return opened ? Error{} : opened.error();
  }
  const std::string here_ = cpu_target().fingerprint;
  TemporaryDirectory folder_;
};

TEST_F(OpenModel, TakesF32ForInputsOf16Bits) {
  const auto opened = [&](const Tensor& x) { return with_input("bf16[3]", x); };
  auto exact = opened(Tensor::of<float>({3}, {1.5f, -INFINITY, NAN}));
  ASSERT_TRUE(exact) << exact.error().message;
  EXPECT_EQ(exact->given.at("x").dtype(), DType::bf16);
  EXPECT_EQ(convert(exact->given.at("x"), DType::f32).as<float>()[0], 1.5f);
  auto rounded = opened(Tensor::of<float>({3}, {1, 0.1f, 2}));
  ASSERT_FALSE(rounded);
  EXPECT_THAT(rounded.error().message, HasSubstr("input 'x': got 0.1, which bf16 does not hold"));
  EXPECT_FALSE(opened(Tensor::of<float>({1, 3}, {1, 2, 3})));
  EXPECT_FALSE(opened(Tensor::of<int64_t>({3}, {1, 2, 3})));
}

TEST_F(OpenModel, TakesI32ForIntegersOf64Bits) {
  const auto opened = [&](const Tensor& x) { return with_input("i64[3]", x); };
  auto exact = opened(Tensor::of<int32_t>({3}, {-1, 16'777'217, 2'147'483'647}));
  ASSERT_TRUE(exact) << exact.error().message;
  ASSERT_EQ(exact->given.at("x").dtype(), DType::i64);
  EXPECT_EQ(exact->given.at("x").as<int64_t>()[0], -1);
  EXPECT_EQ(exact->given.at("x").as<int64_t>()[1], 16'777'217);
  EXPECT_EQ(exact->given.at("x").as<int64_t>()[2], 2'147'483'647);
  EXPECT_FALSE(opened(Tensor::of<int32_t>({1, 3}, {1, 2, 3})));
  EXPECT_FALSE(opened(Tensor::of<float>({3}, {1, 2, 3})));
}

TEST_F(OpenModel, TakesAPlansDeviceWhereNoneIsAsked) {
  for (const char* device : {"", "cpu"}) {
    auto opened = open_model({.path = plan_for(here_), .device = asked_device(device).value()});
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(opened->target, &cpu_target());
    EXPECT_FALSE(opened->subject);
    auto session = open_session(opened->plan);
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_EQ(session->team().size(), 2);
    EXPECT_TRUE(session->infer({{"x", Tensor({DType::f32, {4}})}}));
  }
}

// On a machine without a GPU, too: no device is opened only to be found the wrong one.
TEST_F(OpenModel, RefusesAnotherDeviceThanAPlansOwn) {
  std::string path = plan_for(here_);
  EXPECT_EQ(error_of({.path = path, .device = device_named("cuda:1")}).message,
            "'" + path + "': built for '" + here_ +
                "', got the device 'cuda:1': name no device, or climb or build again for that device");
  EXPECT_THAT(
      error_of({.path = plan_for("cuda NVIDIA H100 sm_90 driver 13000"), .device = device_named("cpu")}).message,
      HasSubstr("built for 'cuda NVIDIA H100 sm_90 driver 13000', got the device 'cpu'"));
}

TEST_F(OpenModel, RefusesAnotherDeviceOfAPlansKind) {
  EXPECT_THAT(error_of({.path = plan_for("cpu of another kind")}).message,
              HasSubstr("built for 'cpu of another kind', this is '" + here_ + "'"));
}

TEST_F(OpenModel, LooksForTheDeviceOfAGpusPlan) {
  auto opened = open_model({.path = plan_for("cuda NVIDIA H100 sm_90 driver 1")});
  ASSERT_FALSE(opened);
  auto target = open_target("cuda");
  EXPECT_THAT(opened.error().message, HasSubstr(target ? "this is 'cuda " : target.error().message));
}

TEST_F(OpenModel, NamesADeviceThatNobodyKnows) {
  for (const char* device : {"tpu v9", "", "cuda:0 x", " cpu"})
    EXPECT_THAT(error_of({.path = plan_for(device)}).message,
                HasSubstr("built for '" + std::string(device) + "', which is no device that rung knows"));
}

TEST(AskedDevice, IsNoneOrAWordThatRungKnows) {
  EXPECT_EQ(asked_device("").value(), std::nullopt);
  EXPECT_EQ(asked_device("cuda:1").value(), (DeviceWord{"cuda:1", "cuda", 1}));
  for (const std::string dashes : {"", "--"}) {
    const auto asked = asked_device("tpu", dashes);
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().message, dashes +
                                         "device: got 'tpu', wanted cpu, cuda, cuda:NUMBER, hip, hip:NUMBER or "
                                         "one of emu:gfx942, emu:gfx950");
    EXPECT_EQ(asked.error().kind, ErrorKind::usage);
  }
}

TEST_F(OpenModel, RefusesOtherThreadsAndShapesThanAPlans) {
  EXPECT_TRUE(open_model({.path = plan_for(here_), .threads = 2}));
  for (int threads : {1, 3, 1024})
    EXPECT_THAT(error_of({.path = plan_for(here_), .threads = threads}).message,
                HasSubstr("was built for 2 threads, got " + std::to_string(threads)));
  for (int threads : {-1, 1025})
    EXPECT_THAT(error_of({.path = plan_for(here_), .threads = threads}).message, HasSubstr("wanted at most 1024"));
  EXPECT_TRUE(open_model({.path = plan_for(here_), .shapes = {{"x", {4}}}}));
  EXPECT_THAT(error_of({.path = plan_for(here_), .shapes = {{"x", {5}}}}).message,
              HasSubstr("no plan is for x=5; there is one for: x=4"));
  EXPECT_THAT(
      error_of({.path = plan_for(here_), .drop_head = true}).message,
      HasSubstr(
          "is a plan: freeze, observe, dtype, random-weights, drop-head, cache and scored-chunk were fixed when"));
}

TEST_F(OpenModel, MakesASubjectOfADirectory) {
  auto opened = open_model({.path = kBert, .shapes = {{"input_ids", {1, 9}}}});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->target, &cpu_target());
  EXPECT_FALSE(opened->plan);
  auto plan = build_subject(*opened->subject, default_recipe(threads_for(*opened->target, 2)), *opened->target);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ((*plan)->recipe.threads, 2);
  EXPECT_EQ((*plan)->model, "bert_tiny") << "what its graph does not say is there, too";
  EXPECT_TRUE((*plan)->inputs[1].value);
}

TEST_F(OpenModel, BuildsForADeviceWithoutStartingATeam) {
  auto opened = open_model({.path = kBert, .threads = 3, .shapes = {{"input_ids", {1, 9}}}});
  ASSERT_TRUE(opened) << opened.error().message;
  const Target target = testing::fake_target();
  EXPECT_EQ(threads_for(target, 3), 0) << "its threads are not the processor's";
  auto plan = build_subject(*opened->subject, default_recipe(threads_for(target, 3)), target);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ((*plan)->device, "fake");
  auto session = open_session(*plan);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_TRUE(session->infer({{"input_ids", Tensor({DType::i64, {1, 9}})}}));
}

}  // namespace
}  // namespace rung
