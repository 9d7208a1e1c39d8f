// A second thread in one session is refused, whatever it asks for, and the first goes on.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>

#include "plan/support.hpp"
#include "support/fake_target.hpp"

namespace rung {
namespace {

// A device whose kernel calls back while the session runs.
class Exclusive : public ::testing::TestWithParam<bool> {
 protected:
  static Status enqueue(const gpu::Call& call) {
    return call.gpu.check(testing::fake::submit(call.stream,
                                                [] {
                                                  if (meanwhile) meanwhile();
                                                }),
                          "calling");
  }
  Session open() {
    target_.kernels = rows_;
    auto built = build_plan(graph_of("x: f32[4] = input()\ny = neg(x)\nreturn y=y"),
                            {.capture = GetParam(), .threads = 0}, {.target = &target_});
    EXPECT_TRUE(built) << built.error().message;
    auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }
  void TearDown() override { meanwhile = nullptr; }
  static inline std::function<void()> meanwhile;
  std::array<float, 4> x_{1, 2, 3, 4};

 private:
  Kernel kernel_{.name = "calling",
                 .op = "unary",
                 .supports = [](const Problem&, const Machine&) { return accept(); },
                 .enqueue = enqueue};
  std::vector<const Kernel*> rows_{&kernel_};
  Target target_ = testing::fake_target();
};

template <class T>
void expect_refused(const Result<T>& result) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  EXPECT_EQ(result.error().message, "this session is in use by another thread: give each thread a session of its own");
}

TEST_P(Exclusive, TheSecondThreadIsRefusedWhateverItAsks) {
  Session session = open();
  const NamedTensors inputs{{"x", Tensor::of<float>({4}, {1, 2, 3, 4})}};
  ASSERT_TRUE(session.set_inputs(inputs));
  int asked = 0;
  meanwhile = [&] {
    ++asked;
    expect_refused(session.run());
    expect_refused(session.run_async(nullptr));
    expect_refused(session.wait());
    expect_refused(session.own_input(0, Place::host));
    expect_refused(session.own_output(0, Place::host));
    expect_refused(session.bind_input(0, Place::host, x_.data()));
    expect_refused(session.bind_output(0, Place::host, x_.data()));
    expect_refused(session.unbind_input(0));
    expect_refused(session.unbind_output(0));
    expect_refused(session.set_inputs(inputs));
    expect_refused(session.outputs());
    expect_refused(session.infer(inputs));
  };
  EXPECT_TRUE(session.run());
  EXPECT_EQ(asked, 1);
  meanwhile = nullptr;
  EXPECT_TRUE(session.run()) << "what was refused has changed nothing";
}

TEST_P(Exclusive, NobodyIsInsideAfterAnError) {
  Session session = open();
  for (int i = 0; i < 2; ++i) {
    Status missing = session.run();
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message, "input 'x' (f32[4]) is missing and has no default");
  }
  EXPECT_FALSE(session.infer({}));
  EXPECT_FALSE(session.own_input(9, Place::host));
  EXPECT_TRUE(session.bind_input(0, Place::host, x_.data()));
  EXPECT_TRUE(session.run());
}

TEST_P(Exclusive, ASessionThatMovedIsTheSame) {
  Session first = open();
  ASSERT_TRUE(first.bind_input(0, Place::host, x_.data()));
  Session second = std::move(first);
  EXPECT_TRUE(second.run());
  second = open();
  EXPECT_FALSE(second.run()) << "a new one, without an input";
}

INSTANTIATE_TEST_SUITE_P(Captured, Exclusive, ::testing::Bool());

}  // namespace
}  // namespace rung
