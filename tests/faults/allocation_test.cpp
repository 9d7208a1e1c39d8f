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
#include "ladder/rungs.hpp"
#include "open/open_model.hpp"
#include "open/recipe.hpp"
#include "open/subject.hpp"
#include "plan/build.hpp"
#include "plan/file.hpp"
#include "rung/rung.hpp"
#include "text/tokenizer.hpp"

namespace rung {
namespace {

using testing::HasSubstr;
using testing::Not;

using Work = std::function<rung_status()>;  // calls of the C interface, in which the library alone asks for memory

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
  const rung_status done = work();
  long asked = allocations_asked();
  EXPECT_EQ(done, RUNG_OK) << rung_error();
  return asked;
}

// With the n-th allocation refused. What is not vital may be done without it: then there is no error.
void refuse(const Work& work, long n) {
  const long alive = allocations_alive();
  {
    refuse_allocation(n);
    const rung_status done = work();
    refuse_allocation(0);
    if (done != RUNG_OK) {
      EXPECT_EQ(done, RUNG_MEMORY) << "allocation " << n << ": " << rung_error();
      EXPECT_THAT(rung_error(), HasSubstr("memory")) << "allocation " << n;
      EXPECT_THAT(rung_error(), Not(HasSubstr("\n"))) << "allocation " << n;
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
  EXPECT_EQ(work(), RUNG_OK) << rung_error();
}

rung_status open_and_close(const std::string& path, const rung_options& options) {
  rung_model* model = nullptr;
  rung_session* session = nullptr;
  rung_status status = rung_model_open(path.c_str(), &options, &model);
  if (status == RUNG_OK) status = rung_session_open(model, &session);
  rung_session_close(session);
  rung_model_close(model);
  return status;
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
  const api::detail::COptions c(options);
  refuse_each([&] { return open_and_close(folder_.path(), c.options); });
}

TEST_F(RefusedMemory, IsOneErrorOfOpeningARobotsModel) {
  const std::string directory = kData + "/pi0_tiny";
  rung_options options RUNG_OPTIONS_INIT;
  options.threads = 1;
  refuse_each([&] { return open_and_close(directory, options); });
}

TEST_F(RefusedMemory, IsOneErrorOfOpeningAPlan) {
  const std::string path = plan_of(folder_.path());
  refuse_each([&] { return open_and_close(path, RUNG_OPTIONS_INIT); });
}

TEST_F(RefusedMemory, IsOfTheKindMemory) {
  const std::string path = plan_of(folder_.path());
  const auto open = [&]() -> Status {
    return guarded([&]() -> Status {
      RUNG_TRY(Opened opened, open_model({.path = path}));
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
  const api::Session session = session_of(plan_of(folder_.path()));
  refuse_each([&] {
    rung_tensors* inputs = nullptr;
    const rung_status status = rung_model_encode(session.model().handle(), "a b", &inputs);
    rung_tensors_free(inputs);
    return status;
  });
}

TEST_F(RefusedMemory, FailsOneRunAndLeavesTheNextRight) {
  api::Session session = session_of(plan_of(kData + "/pi0_tiny"));
  const NamedTensors arrays = *read_npz(kData + "/pi0_tiny/inputs.npz");
  api::Tensors inputs, outputs;
  for (const auto& [name, tensor] : arrays)
    for (const auto& port : session.model().inputs())
      if (port.name == name) inputs[name] = {port.dtype, port.shape, {tensor.data(), tensor.data() + tensor.bytes()}};
  const api::Status first = session.run(inputs, outputs);
  ASSERT_TRUE(first) << first.message();
  const api::detail::CTensors given(inputs);
  api::Tensors again = outputs;
  again.begin()->second.bytes.assign(again.begin()->second.bytes.size(), std::byte{0});
  const api::detail::CTensors taken(again);
  refuse_each([&] {
    rung_status status = RUNG_OK;
    for (const rung_named_tensor& named : given.named) {
      size_t index = 0;
      if (status == RUNG_OK) status = rung_model_find_input(session.model().handle(), named.name, &index);
      if (status == RUNG_OK) status = rung_session_bind_input(session.handle(), index, named.tensor);
    }
    if (status == RUNG_OK) status = rung_session_bind_output(session.handle(), 0, taken.named[0].tensor);
    return status == RUNG_OK ? rung_session_run(session.handle()) : status;
  });
  EXPECT_EQ(again.begin()->second.bytes, outputs.begin()->second.bytes);
}

}  // namespace
}  // namespace rung
