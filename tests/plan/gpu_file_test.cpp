// Plan files of a GPU that is not there: their weights are read, never touched where they are mapped.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/atomic_file.hpp"
#include "plan/file.hpp"
#include "support.hpp"
#include "support/fake_target.hpp"
#include "support/temporary_directory.hpp"

namespace rung {
namespace {

// Of a device that is not there: its weights stay in the file until they are uploaded.
class GpuPlanFile : public ::testing::Test {
 protected:
  Target target = testing::fake_target();
  TemporaryDirectory directory;
  std::string path = directory / "plan.rung";

  GpuPlanFile() {
    auto built = build_plan(graph_of("c: f32[3] = constant(name=\"c\")\ny = add(x:f32[2,3], c)"), {.threads = 0},
                            {.target = &target});
    EXPECT_TRUE(built && save_plan(built->plan, path));
  }
  Result<Session> opened() {
    auto plan = load_plan(path, target);
    if (!plan) return tl::unexpected(plan.error());
    return Session::create(std::make_shared<const Plan>(std::move(*plan)), nullptr);
  }
};

TEST_F(GpuPlanFile, RunsAsItWasBuilt) {
  auto session = opened();
  ASSERT_TRUE(session) << session.error().message;
  auto outputs = session->infer({{"x", Tensor({DType::f32, {2, 3}})}});
  ASSERT_TRUE(outputs) << outputs.error().message;
  Tensor c = random_tensor("c", {DType::f32, {3}});
  EXPECT_EQ(std::memcmp((*outputs)[0].second.data(), c.data(), c.bytes()), 0);
}

TEST_F(GpuPlanFile, FailsWhereTruncatedBeforeItsUpload) {
  auto plan = load_plan(path, target);
  ASSERT_TRUE(plan) << plan.error().message;
  std::filesystem::resize_file(path, 100);
  auto session = Session::create(std::make_shared<const Plan>(std::move(*plan)), nullptr);
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error().message, ::testing::HasSubstr("plan.rung' was cut short: wanted 12 bytes from"));
}

TEST_F(GpuPlanFile, IsSummedAsAProcessorsIs) {
  auto text = *read_text_file(path);
  text.back() = static_cast<char>(text.back() ^ 1);
  directory.write("plan.rung", text);
  auto session = opened();
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error().message, ::testing::HasSubstr("damaged"));
}

}  // namespace
}  // namespace rung
