// A child of a process that has sessions: they are refused, end without harm, and new ones run where no device is in
// the way.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/cpu/start_team.hpp"
#include "plan/support.hpp"
#include "support/counting_gpu.hpp"
#include "support/device.hpp"
#include "support/fake_target.hpp"
#include "support/gpu_word.hpp"

namespace rung {
namespace {

template <class T>
bool is_device_error(const Result<T>& result) {
  return !result && result.error().kind == ErrorKind::device;
}

constexpr unsigned kHangsAfter = 30;  // seconds

// What a child says of itself: "" if `body` returns true.
std::string in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kHangsAfter);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return "no child";
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "said no";
}

template <class T>
bool refused(const Result<T>& result) {
  return !result && result.error().kind == ErrorKind::usage &&
         result.error().message ==
             "this session was opened before this process was forked: open the model in the child";
}

class Fork : public ::testing::TestWithParam<bool> {
 protected:
  static Plan plan(const Target& target, int threads) {
    auto built = build_plan(graph_of("x: f32[4] = input()\ny = neg(x)\nreturn y=y"),
                            {.capture = GetParam(), .threads = threads}, {.target = &target});
    EXPECT_TRUE(built) << built.error().message;
    return std::move(built->plan);
  }
  bool all_refused(Session& session) {
    return refused(session.run()) && refused(session.infer(inputs_)) && refused(session.set_inputs(inputs_)) &&
           refused(session.outputs()) && refused(session.wait()) && refused(session.run_async(nullptr)) &&
           refused(session.own_input(0, Place::host)) && refused(session.own_output(0, Place::host)) &&
           refused(session.bind_input(0, Place::host, &x_)) && refused(session.bind_output(0, Place::host, &x_)) &&
           refused(session.unbind_input(0)) && refused(session.unbind_output(0));
  }
  float x_ = 0;
  NamedTensors inputs_{{"x", Tensor::of<float>({4}, {1, 2, 3, 4})}};
};

TEST_P(Fork, LeavesTheParentsSessionsToTheParent) {
  std::optional<Session> session = session_over(plan(cpu_target(), 2));
  const Outputs before = outputs_of(*session, inputs_);
  EXPECT_EQ(in_child([&] {
              bool right = all_refused(*session);
              session.reset();
              return right;
            }),
            "");
  EXPECT_TRUE(same_bits(outputs_of(*session, inputs_)[0].second, before[0].second)) << "which still has them";
}

TEST_P(Fork, LetsTheChildOpenItsOwn) {
  Session session = session_over(plan(cpu_target(), 2));
  ASSERT_TRUE(session.infer(inputs_));
  EXPECT_EQ(in_child([&] {
              auto shared = std::make_shared<const Plan>(plan(cpu_target(), 2));
              auto own = Session::create(shared, std::make_shared<cpu::Team>(2));
              auto outputs = own->infer(inputs_);
              return outputs && (*outputs)[0].second.as<float>()[3] == -4 && all_refused(session);
            }),
            "");
}

TEST_P(Fork, FindsOutAboutAChildOfAChild) {
  EXPECT_EQ(in_child([&] {
              Session session = session_over(plan(cpu_target(), 2));
              return session.infer(inputs_) && in_child([&] { return all_refused(session); }).empty();
            }),
            "");
}

// Whatever the parent was doing: the thread that is inside is not in the child.
TEST_P(Fork, IsSaidBeforeThatAnotherThreadIsInside) {
  Session session = session_over(plan(cpu_target(), 1));
  ASSERT_TRUE(session.set_inputs(inputs_));
  std::atomic<bool> enough = false;
  std::thread other([&] {
    while (!enough) (void)session.run();
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(in_child([&] { return all_refused(session); }), "");
  enough = true;
  other.join();
}

TEST_P(Fork, LeavesTheDeviceToTheParent) {
  Target target{.kind = "fake", .name = "fake", .fingerprint = "fake", .machine = Machine(cpu::cpu_info())};
  target.kernels = testing::fake_rows();
  target.gpu = testing::counting_gpu();
  auto shared = std::make_shared<const Plan>(plan(target, 0));
  auto made = Session::create(shared, nullptr);
  ASSERT_TRUE(made) << made.error().message;
  std::optional<Session> session = std::move(*made);
  ASSERT_TRUE(session->infer(inputs_));
  const auto held = testing::ledger().held;
  EXPECT_EQ(in_child([&] {
              testing::ledger().calls.clear();
              bool right = all_refused(*session);
              session.reset();
              auto another = Session::create(shared, nullptr);
              return right && is_device_error(another) && testing::ledger().held == held &&
                     testing::ledger().calls.empty();
            }),
            "");
  EXPECT_TRUE(session->infer(inputs_));
}

INSTANTIATE_TEST_SUITE_P(Captured, Fork, ::testing::Bool());

#ifdef RUNG_FAKE_DRIVER
// A driver that is opened before the one of this machine is looked for; in a child, to leave this process without one.
bool has_a_driver() { return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr; }

TEST(ForkAfterTheDriverStarted, IsToldByTheDevice) {
  if (has_a_driver()) GTEST_SKIP() << "this process has started a driver";
  EXPECT_EQ(in_child([] {
              if (!dlopen(RUNG_FAKE_DRIVER, RTLD_NOW | RTLD_GLOBAL)) return false;
              if (!gpu::cuda_runtime()) return false;
              return in_child([] {
                       auto runtime = gpu::cuda_runtime();
                       return is_device_error(runtime) && runtime.error().message.starts_with(
                                                              "the CUDA driver was started before this process was "
                                                              "forked");
                     }).empty() &&
                     gpu::cuda_runtime().has_value();
            }),
            "");
}

TEST(ForkAfterTheHipRuntimeStarted, IsToldByTheDevice) {
  if (dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD)) GTEST_SKIP() << "this process has started a runtime";
  EXPECT_EQ(in_child([] {
              if (!dlopen(RUNG_FAKE_HIP, RTLD_NOW | RTLD_GLOBAL)) return false;
              if (!gpu::hip_runtime()) return false;
              return in_child([] {
                       auto runtime = gpu::hip_runtime();
                       return is_device_error(runtime) && runtime.error().message.starts_with(
                                                              "the HIP runtime was started before this process was "
                                                              "forked");
                     }).empty() &&
                     gpu::hip_runtime().has_value();
            }),
            "");
}

TEST(ForkAfterTheDeviceWasOpened, IsToldByTheDevice) {
  if (has_a_driver()) GTEST_SKIP() << "this process has started a driver";
  EXPECT_EQ(in_child([] {
              if (!dlopen(RUNG_FAKE_DRIVER, RTLD_NOW | RTLD_GLOBAL)) return false;
              auto target = open_target("cuda");
              if (!target) return target.error().message.starts_with("no GPU kernels");
              return in_child([] { return is_device_error(open_target("cuda")); }).empty() &&
                     open_target("cuda").has_value();
            }),
            "");
}
#endif

TEST(ForkGpu, LeavesTheDeviceToTheParent) {
  auto opened = open_target(gpu_word());
  if (!opened) GTEST_SKIP() << opened.error().message;
  Graph graph = graph_of("x: f32[4] = input()\ny = neg(x)\nreturn y=y");
  auto built = build_plan(graph, {.capture = true, .threads = 0}, {.target = *opened});
  ASSERT_TRUE(built) << built.error().message;
  auto made = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
  ASSERT_TRUE(made) << made.error().message;
  std::optional<Session> session = std::move(*made);
  const NamedTensors inputs = random_inputs(graph);
  const Outputs before = outputs_of(*session, inputs);
  EXPECT_EQ(in_child([&] {
              bool right = refused(session->run()) && is_device_error(open_target(gpu_word()));
              session.reset();
              return right;
            }),
            "");
  EXPECT_TRUE(same_bits(outputs_of(*session, inputs)[0].second, before[0].second));
}

}  // namespace
}  // namespace rung
