// Memory that is refused, once at each allocation of opening, encoding and running: one error each time, nothing
// leaked, and what was there stays usable.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sched.h>

#include "api/support.hpp"
#include "base/guarded.hpp"
#include "faults/every.hpp"
#include "faults/refusing_malloc.hpp"
#include "import/npz.hpp"
#include "import/tokenizer.hpp"
#include "ladder/rungs.hpp"
#include "ladder/subject.hpp"
#include "open/open_model.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"
#include "rung/rung.hpp"

namespace rung {
namespace {

using testing::HasSubstr;
using testing::Not;

using Work = std::function<api::Status()>;

// One core, so that the order of allocations is the same every time.
class OneCore {
 public:
  OneCore() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  cpu_set_t before_;
};

long allocations_of(const Work& work) {
  refuse_allocation(0);
  api::Status done = work();
  long asked = allocations_asked();
  EXPECT_TRUE(done) << done.message();
  return asked;
}

// With the n-th allocation refused. What is not vital may be done without it: then there is no error.
void refuse(const Work& work, long n) {
  const long alive = allocations_alive();
  {
    refuse_allocation(n);
    api::Status done = work();
    refuse_allocation(0);
    if (!done) {
      EXPECT_THAT(done.message(), HasSubstr("memory")) << "allocation " << n;
      EXPECT_THAT(done.message(), Not(HasSubstr("\n"))) << "allocation " << n;
    }
  }
  EXPECT_EQ(allocations_alive(), alive) << "allocation " << n;
}

void refuse_each(const Work& work) {
  const OneCore pinned;
  allocations_of(work);  // what is made once in a process is there from now on
  const long allocations = allocations_of(work);
  ASSERT_GT(allocations, 0);
  for (long n : sampled(allocations)) {
    refuse(work, n);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_TRUE(work());
}

const std::string kData = RUNG_TEST_DATA;

class RefusedMemory : public testing::Test {
 protected:
  void SetUp() override {
    refuse_allocation(0);
    void* volatile block = std::malloc(1);
    std::free(block);
    if (allocations_asked() == 0) GTEST_SKIP() << "a sanitizer's malloc cannot be made to refuse";
    make_encoder(folder_);
  }
  std::string plan_of(const std::string& model, const ImportOptions& import = {}) {
    Subject subject;
    subject.model = *import_model(model, import);
    subject.attachments = *tokenizer_texts(model);
    Built built = *build_plan(subject.model.graph, default_recipe(1));
    attach_model(built.plan, subject);
    std::string path = folder_ / "plan.rung";
    EXPECT_TRUE(save_plan(built.plan, path));
    return path;
  }
  TemporaryDirectory folder_;
};

TEST_F(RefusedMemory, IsOneErrorOfOpeningAModel) {
  const api::Options options{.threads = 1, .shapes = {{"input_ids", {1, 9}}}};
  refuse_each([&] {
    api::Model model;
    return model.open(folder_.path(), options);
  });
}

TEST_F(RefusedMemory, IsOneErrorOfOpeningARobotsModel) {
  const std::string directory = kData + "/pi0_tiny";
  const api::Options options{.threads = 1, .shapes = {}};
  refuse_each([&] {
    api::Model model;
    return model.open(directory, options);
  });
}

TEST_F(RefusedMemory, IsOneErrorOfOpeningAPlan) {
  std::string path = plan_of(folder_.path());
  const api::Options options;
  refuse_each([&] {
    api::Model model;
    return model.open(path, options);
  });
}

TEST_F(RefusedMemory, IsOfTheKindMemory) {
  const std::string path = plan_of(folder_.path());
  const auto open = [&]() -> Status {
    return guarded([&]() -> Status {
      RUNG_TRY(OpenedModel opened, open_model(path));
      RUNG_TRY(Session session, open_session(opened.plan));
      return {};
    });
  };
  const OneCore pinned;
  EXPECT_TRUE(open());
  refuse_allocation(0);
  EXPECT_TRUE(open());
  for (long n : sampled(allocations_asked())) {
    refuse_allocation(n);
    const Status opened = open();
    refuse_allocation(0);
    EXPECT_EQ(opened ? ErrorKind::memory : opened.error().kind, ErrorKind::memory)
        << "allocation " << n << ": " << opened.error().message;
  }
}

TEST_F(RefusedMemory, IsOneErrorOfEncodingAText) {
  api::Model model;
  ASSERT_TRUE(model.open(plan_of(folder_.path())));
  api::Tensors inputs;
  refuse_each([&] { return model.encode("a b", inputs); });
}

TEST_F(RefusedMemory, IsOneErrorOfARunAndTheNextOneAnswersAsBefore) {
  api::Model model;
  ASSERT_TRUE(model.open(plan_of(kData + "/pi0_tiny")));
  api::Tensors inputs, outputs, again;
  const NamedTensors arrays = *read_npz(kData + "/pi0_tiny/inputs.npz");
  for (const auto& [name, tensor] : arrays)
    for (const auto& port : model.inputs())
      if (port.name == name) inputs[name] = {port.dtype, port.shape, {tensor.data(), tensor.data() + tensor.bytes()}};
  api::Status first = model.run(inputs, outputs);
  ASSERT_TRUE(first) << first.message();
  refuse_each([&] { return model.run(inputs, again); });
  ASSERT_TRUE(model.run(inputs, again));
  EXPECT_EQ(again.begin()->second.bytes, outputs.begin()->second.bytes);
}

}  // namespace
}  // namespace rung
