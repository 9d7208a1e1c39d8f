// Memory that is bound to a session: its own, and the caller's.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "api/support.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"
#include "support/graphs.hpp"

namespace rung {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// y = -x
class BoundMemory : public testing::Test {
 protected:
  void SetUp() override {
    auto built = build_plan(graph_of("y = neg(x:f32[2,3])\nreturn y=y"), {});
    ASSERT_TRUE(built && save_plan(built->plan, path));
  }
  TemporaryDirectory folder;
  std::string path = folder / "plan.rung";
};

template <class T>
T take(api::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return std::move(*result);
}

TEST_F(BoundMemory, OfTheSessionIsWrittenRunAndRead) {
  api::Session session = session_of(path);
  const api::Memory x = take(session.input("x")), y = take(session.output("y"));
  ASSERT_EQ(x.values<float>().size(), 6u);
  EXPECT_THAT(x.values<float>(), Each(0.0f));
  for (float first : {1.0f, 2.0f}) {
    for (size_t i = 0; i < 6; ++i) x.values<float>()[i] = first + static_cast<float>(i);
    ASSERT_TRUE(session.run());
    EXPECT_THAT(y.values<float>(), ElementsAre(-first, -first - 1, -first - 2, -first - 3, -first - 4, -first - 5));
  }
  EXPECT_EQ(take(session.input("x")).data, x.data) << "the same at every call";
  EXPECT_TRUE(x.values<int32_t>().empty()) << "of another type";
}

TEST_F(BoundMemory, OfTheCallerIsUsedByEveryRun) {
  api::Session session = session_of(path);
  std::vector<float> x(6, 3), y(6);
  ASSERT_TRUE(session.bind_input("x", std::span<const float>(x)));
  ASSERT_TRUE(session.bind_output("y", std::span<float>(y)));
  for (float value : {3.0f, 5.0f}) {
    x.assign(6, value);
    ASSERT_TRUE(session.run());
    EXPECT_THAT(y, Each(-value));
  }
  ASSERT_TRUE(session.unbind_output("y"));
  x.assign(6, 7);
  ASSERT_TRUE(session.run());
  EXPECT_THAT(y, Each(-5.0f)) << "it is bound no more";
  ASSERT_TRUE(session.unbind_input("x"));
  const api::Status missing = session.run();
  EXPECT_EQ(missing.kind(), api::Kind::mismatch);
  EXPECT_THAT(missing.message(), HasSubstr("'x'"));
}

// A run from copies to copies ends what was bound: nothing is read or written of it by the next run.
TEST_F(BoundMemory, IsUnboundByARunOfCopies) {
  api::Session session = session_of(path);
  const std::vector<float> x(6, 3), copied(6, 5);
  std::vector<float> y(6);
  ASSERT_TRUE(session.bind_input("x", std::span<const float>(x)));
  ASSERT_TRUE(session.bind_output("y", std::span<float>(y)));
  api::Tensors outputs;
  ASSERT_TRUE(session.run({{"x", api::Tensor::of<float>({2, 3}, copied)}}, outputs));
  EXPECT_THAT(y, Each(0.0f));
  EXPECT_EQ(session.run().kind(), api::Kind::mismatch) << "the copy of x is bound no more";
  const std::vector<float> later(6, 7);
  ASSERT_TRUE(session.bind_input("x", std::span<const float>(later)));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(outputs.at("y").values<float>(), Each(-5.0f)) << "a later run writes into outputs that were given back";
}

struct Refused {
  const char* what;
  rung_tensor tensor;
  api::Kind kind;
  const char* words;
};

TEST_F(BoundMemory, IsRefusedWhereThePortWantsAnother) {
  api::Session session = session_of(path);
  float values[12] = {};
  int64_t shape[] = {2, 3}, other[] = {3, 2}, negative[] = {-2, -3}, gaps[] = {4, 1}, turned[] = {1, 2};
  const rung_device host{RUNG_CPU, 0};
  const rung_dtype f32{RUNG_FLOAT, 32, 1};
  const Refused cases[] = {
      {"dtype", {values, host, 2, {RUNG_INT, 32, 1}, shape, nullptr, 0}, api::Kind::mismatch, "got i32[2,3]"},
      {"no dtype", {values, host, 2, {RUNG_FLOAT, 64, 1}, shape, nullptr, 0}, api::Kind::mismatch, "code 2, 64 bits"},
      {"lanes", {values, host, 2, {RUNG_FLOAT, 32, 4}, shape, nullptr, 0}, api::Kind::mismatch, "4 lanes"},
      {"shape", {values, host, 2, f32, other, nullptr, 0}, api::Kind::mismatch, "got f32[3,2], wanted f32[2,3]"},
      {"extent", {values, host, 2, f32, negative, nullptr, 0}, api::Kind::mismatch, "extent of -2"},
      {"rank", {values, host, 99, f32, shape, nullptr, 0}, api::Kind::mismatch, "99 dimensions"},
      {"gaps", {values, host, 2, f32, shape, gaps, 0}, api::Kind::mismatch, "strides [4,1]"},
      {"order", {values, host, 2, f32, shape, turned, 0}, api::Kind::mismatch, "make it contiguous"},
      {"device", {values, {RUNG_CUDA, 0}, 2, f32, shape, nullptr, 0}, api::Kind::mismatch, "memory of cuda:0"},
      {"no data", {nullptr, host, 2, f32, shape, nullptr, 0}, api::Kind::usage, "without data"},
      {"no shape", {values, host, 2, f32, nullptr, nullptr, 0}, api::Kind::usage, "no shape"},
  };
  for (const Refused& refused : cases) {
    const api::Status status = session.bind_input("x", refused.tensor);
    EXPECT_EQ(status.kind(), refused.kind) << refused.what;
    EXPECT_THAT(status.message(), HasSubstr(refused.words)) << refused.what;
    EXPECT_THAT(status.message(), HasSubstr("input 'x'")) << refused.what;
  }
  EXPECT_THAT(session.bind_input("z", std::span<const float>(values, 6)).message(),
              HasSubstr("no input 'z'; the inputs are: x"));
  EXPECT_THAT(session.bind_output("y", std::span<float>(values, 5)).message(), HasSubstr("got f32[5]"));
}

// Extents of 1 have any stride, and an offset counts.
TEST_F(BoundMemory, MayHaveMeaninglessStridesAndAnOffset) {
  auto built = build_plan(graph_of("y = neg(x:f32[1,2])\nreturn y=y"), {});
  ASSERT_TRUE(built && save_plan(built->plan, path));
  api::Session session = session_of(path);
  float values[3] = {9, 1, 2}, y[2] = {};
  int64_t shape[] = {1, 2}, strides[] = {77, 1};
  ASSERT_TRUE(session.bind_input("x", {values, {RUNG_CPU, 0}, 2, {RUNG_FLOAT, 32, 1}, shape, strides, sizeof(float)}));
  ASSERT_TRUE(session.bind_output("y", std::span<float>(y)));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(y, ElementsAre(-1, -2));
}

TEST_F(BoundMemory, IsCheckedAtEveryRun) {
  api::Session session = session_of(path);
  const api::Memory x = take(session.input("x"));
  x.values<float>()[4] = std::numeric_limits<float>::quiet_NaN();
  const api::Status status = session.run();
  EXPECT_EQ(status.kind(), api::Kind::mismatch);
  EXPECT_THAT(status.message(), HasSubstr("input 'x'"));
  EXPECT_THAT(status.message(), HasSubstr("1 NaN"));
  x.values<float>()[4] = 0;
  EXPECT_TRUE(session.run());
}

TEST_F(BoundMemory, TakesNoStreamOnTheProcessor) {
  api::Session session = session_of(path);
  ASSERT_TRUE(session.input("x"));
  EXPECT_EQ(session.run_async(nullptr).kind(), api::Kind::usage);
  EXPECT_TRUE(session.wait());
}

TEST_F(BoundMemory, IsRefusedInAForkedChildOnly) {
  api::Session session = session_of(path);
  ASSERT_TRUE(session.input("x"));
  ASSERT_TRUE(session.run());
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const api::Status status = session.run();
    const bool refused = status.kind() == api::Kind::usage && status.message().find("fork") != std::string::npos;
    rung_session_close(session.handle());  // ends without its threads
    const bool opens_its_own = static_cast<bool>(api::Model::open(path)) && session_of(path).input("x");
    _exit(refused && opens_its_own ? 0 : 1);
  }
  int ended = 0;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 0) << ended;
  EXPECT_TRUE(session.run());
}

// Runs of one session at once from two threads: each is refused or right, never both at work.
TEST_F(BoundMemory, IsForOneThreadAtATime) {
  api::Session session = session_of(kModel, {.threads = 1, .shapes = {{"input_ids", {1, 9}}}});
  ASSERT_TRUE(session.input("input_ids"));
  std::atomic<bool> refused = false;
  std::atomic<int> started = 0;
  auto work = [&] {
    ++started;
    while (started < 2) std::this_thread::yield();
    for (int run = 0; run < 20000 && !refused; ++run) {
      const api::Status status = session.run();
      if (status) continue;
      EXPECT_EQ(status.kind(), api::Kind::usage);
      EXPECT_THAT(status.message(), HasSubstr("another thread"));
      refused = true;
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_TRUE(refused);
  EXPECT_TRUE(session.run());
}

}  // namespace
}  // namespace rung
