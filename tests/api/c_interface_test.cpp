// The C interface by itself: arguments that cannot be meant, errors per thread, structs of other versions.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <thread>

#include "api/support.hpp"
#include "base/version.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

void expect_usage(rung_status status, const char* words) {
  EXPECT_EQ(status, RUNG_USAGE);
  EXPECT_THAT(rung_error(), HasSubstr(words));
}

TEST(CInterface, TellsItsVersions) {
  EXPECT_EQ(rung_interface_version(), static_cast<uint32_t>(RUNG_INTERFACE_VERSION));
  EXPECT_EQ(rung_version(), kRungVersion);
}

TEST(CInterface, NamesEveryStatus) {
  struct Named {
    rung_status status;
    api::Kind kind;
    const char* name;
  };
  for (auto [status, kind, name] : {Named{RUNG_OK, api::Kind::ok, "ok"},
                                    {RUNG_FAILED, api::Kind::failed, "failed"},
                                    {RUNG_USAGE, api::Kind::usage, "usage"},
                                    {RUNG_FILE, api::Kind::file, "file"},
                                    {RUNG_DEVICE, api::Kind::device, "device"},
                                    {RUNG_MEMORY, api::Kind::memory, "memory"},
                                    {RUNG_MISMATCH, api::Kind::mismatch, "mismatch"},
                                    {RUNG_INTERRUPTED, api::Kind::interrupted, "interrupted"}}) {
    EXPECT_STREQ(rung_status_name(status), name);
    EXPECT_STREQ(api::name_of(kind), name);
  }
}

TEST(CInterface, RefusesNull) {
  rung_model* model = nullptr;
  rung_session* session = nullptr;
  rung_tensor tensor{};
  rung_port port{};
  size_t index = 0;
  expect_usage(rung_model_open(nullptr, nullptr, &model), "'path'");
  expect_usage(rung_model_open("x", nullptr, nullptr), "'model'");
  expect_usage(rung_model_input(nullptr, 0, &port), "'model'");
  expect_usage(rung_model_find_input(nullptr, "x", &index), "'model'");
  expect_usage(rung_session_open(nullptr, &session), "'model'");
  expect_usage(rung_session_run(nullptr), "'session'");
  expect_usage(rung_session_wait(nullptr), "'session'");
  expect_usage(rung_session_run_async(nullptr, nullptr), "'session'");
  expect_usage(rung_session_input(nullptr, 0, RUNG_CPU, &tensor), "'session'");
  expect_usage(rung_session_bind_input(nullptr, 0, &tensor), "'session'");
  EXPECT_EQ(rung_model_input_count(nullptr), 0u);
  EXPECT_EQ(rung_tensors_name(nullptr, 0), nullptr);
}

TEST(CInterface, FreesNull) {
  rung_model_close(nullptr);
  rung_session_close(nullptr);
  rung_tensors_free(nullptr);
  rung_climb_free(nullptr);
  rung_free(nullptr);
}

TEST(CInterface, RefusesIndicesBeyondTheLast) {
  api::Session session = session_of(kModel, kOptions);
  rung_port port{};
  rung_tensor tensor{};
  expect_usage(rung_model_input(session.model().handle(), 3, &port), "got index 3, wanted less than 3");
  expect_usage(rung_session_input(session.handle(), 3, RUNG_CPU, &tensor), "got input 3, wanted less than 3");
  expect_usage(rung_session_bind_output(session.handle(), 2, &tensor), "got output 2, wanted less than 2");
}

TEST(CInterface, KeepsEachThreadsErrorApart) {
  rung_model* model = nullptr;
  ASSERT_EQ(rung_model_open("/nowhere", nullptr, &model), RUNG_FILE);
  const std::string here = rung_error();
  std::thread([] {
    EXPECT_STREQ(rung_error(), "");
    expect_usage(rung_model_open(nullptr, nullptr, nullptr), "'path'");
  }).join();
  EXPECT_EQ(rung_error(), here);
  EXPECT_EQ(model, nullptr) << "a failed call leaves what it was to fill";
}

TEST(CInterface, RefusesANameThatIsGivenTwice) {
  std::vector<int64_t> values(9), shape{1, 9};
  const rung_tensor tensor = api::detail::over(values.data(), api::DType::i64, shape);
  const rung_named_tensor inputs[] = {{"input_ids", &tensor}, {"input_ids", &tensor}};
  rung_task_options task RUNG_TASK_OPTIONS_INIT;
  task.inputs = inputs;
  task.input_count = 2;
  char* json = nullptr;
  expect_usage(rung_bench(kModel.c_str(), &task, &json), "input 'input_ids' is given twice");
  EXPECT_EQ(json, nullptr);
  const rung_named_shape shapes[] = {{"input_ids", shape.data(), 2}, {"input_ids", shape.data(), 2}};
  rung_options options RUNG_OPTIONS_INIT;
  options.shapes = shapes;
  options.shape_count = 2;
  rung_model* model = nullptr;
  expect_usage(rung_model_open(kModel.c_str(), &options, &model), "shapes: 'input_ids' is given twice");
  EXPECT_EQ(model, nullptr);
}

TEST(CInterface, RefusesMemoryOfDevicesThatItsSessionLacks) {
  api::Session session = session_of(kModel, kOptions);
  rung_tensor tensor{};
  for (int type : {RUNG_CUDA, RUNG_CUDA_HOST, RUNG_ROCM}) {
    EXPECT_EQ(rung_session_input(session.handle(), 0, static_cast<rung_device_type>(type), &tensor), RUNG_MISMATCH);
    EXPECT_THAT(rung_error(), HasSubstr("device type " + std::to_string(type)));
  }
  EXPECT_EQ(tensor.data, nullptr);
}

// A caller that was compiled with an older or a newer header.
TEST(CInterface, TakesStructsOfItsOwnVersion) {
  rung_model* model = nullptr;
  rung_options small RUNG_OPTIONS_INIT;
  small.size = offsetof(rung_options, drop_head) - sizeof(void*);
  expect_usage(rung_model_open(kModel.c_str(), &small, &model), "start from its initialiser");
  struct Newer {
    rung_options known;
    const char* later;
  } newer{RUNG_OPTIONS_INIT, nullptr};
  const std::vector<int64_t> shape{1, 9};
  const rung_named_shape named{"input_ids", shape.data(), 2};
  newer.known.size = sizeof newer;
  newer.known.shapes = &named;
  newer.known.shape_count = 1;
  ASSERT_EQ(rung_model_open(kModel.c_str(), &newer.known, &model), RUNG_OK) << rung_error();
  rung_model_close(model);
  newer.later = "meant for another version";
  expect_usage(rung_model_open(kModel.c_str(), &newer.known, &model), "does not know");
}

TEST(CInterface, NamesShapesThatCannotBeMeant) {
  const int64_t zero[] = {1, 0};
  for (const rung_named_shape& named : {rung_named_shape{nullptr, zero, 2},
                                        {"input_ids", nullptr, 2},
                                        {"input_ids", zero, 2},
                                        {"input_ids", zero, 99}}) {
    rung_options options RUNG_OPTIONS_INIT;
    options.shapes = &named;
    options.shape_count = 1;
    rung_model* model = nullptr;
    expect_usage(rung_model_open(kModel.c_str(), &options, &model), "shape");
  }
}

}  // namespace
}  // namespace rung
