// Handles that were closed, never were handles, or are closed while somebody uses them: refused, never followed.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <thread>

#include "api/handle_table.hpp"
#include "api/support.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

void expect_closed(rung_status status, const char* word) {
  EXPECT_EQ(status, RUNG_USAGE);
  EXPECT_THAT(rung_error(), HasSubstr(std::string("'") + word + "' is closed, or was never opened"));
}

rung_model* opened_model(const std::string& path = kModel) {
  const std::vector<int64_t> extents{1, 9};
  const rung_named_shape shape{"input_ids", extents.data(), 2};
  rung_options options RUNG_OPTIONS_INIT;
  options.threads = 1;
  options.shapes = &shape;
  options.shape_count = 1;
  rung_model* model = nullptr;
  EXPECT_EQ(rung_model_open(path.c_str(), &options, &model), RUNG_OK) << rung_error();
  return model;
}

void expect_closed_model(const rung_model* model) {
  rung_port port{};
  rung_session* session = nullptr;
  rung_tensors* inputs = nullptr;
  size_t index = 0;
  expect_closed(rung_model_input(model, 0, &port), "model");
  expect_closed(rung_model_find_output(model, "y", &index), "model");
  expect_closed(rung_session_open(model, &session), "model");
  expect_closed(rung_model_encode(model, "a", &inputs), "model");
  rung_text decoded{};
  expect_closed(rung_model_decode(model, nullptr, 0, nullptr, &decoded), "model");
  expect_closed(rung_model_save(model, "/nowhere/at/all.rung"), "model");
  EXPECT_EQ(rung_model_input_count(model), 0u);
  EXPECT_EQ(rung_model_device(model).type, 0);
  EXPECT_FALSE(rung_model_is_frozen(model, "x"));
}

void expect_closed_session(rung_session* session) {
  rung_tensor tensor{};
  expect_closed(rung_session_run(session), "session");
  expect_closed(rung_session_wait(session), "session");
  expect_closed(rung_session_run_async(session, nullptr), "session");
  expect_closed(rung_session_input(session, 0, RUNG_CPU, &tensor), "session");
  expect_closed(rung_session_bind_output(session, 0, &tensor), "session");
}

TEST(ClosedHandle, IsRefusedEvenWhenAnotherTakesItsPlace) {
  rung_model* model = opened_model();
  rung_session* session = nullptr;
  ASSERT_EQ(rung_session_open(model, &session), RUNG_OK) << rung_error();
  rung_session_close(session);
  rung_model_close(model);
  for (int turn = 0; turn < 2; ++turn) {
    expect_closed_model(model);
    expect_closed_session(session);
    rung_model_close(model);
    rung_session_close(session);
    rung_model* other = opened_model();
    rung_session* running = nullptr;
    ASSERT_EQ(rung_session_open(other, &running), RUNG_OK) << rung_error();
    expect_closed_model(model);
    expect_closed_session(session);
    rung_session_close(session);
    rung_model_close(model);
    rung_tensor tensor{};
    EXPECT_EQ(rung_session_input(running, 0, RUNG_CPU, &tensor), RUNG_OK) << rung_error();
    rung_session_close(running);
    rung_model_close(other);
  }
}

TEST(ClosedHandle, OfTensorsHoldsNone) {
  TemporaryDirectory directory;
  make_encoder(directory);
  rung_model* model = opened_model(directory.path());
  rung_tensors* inputs = nullptr;
  ASSERT_EQ(rung_model_encode(model, "a b", &inputs), RUNG_OK) << rung_error();
  EXPECT_EQ(rung_tensors_text_tokens(inputs), 4);
  rung_tensors_free(inputs);
  EXPECT_EQ(rung_tensors_count(inputs), 0u);
  EXPECT_EQ(rung_tensors_name(inputs, 0), nullptr);
  EXPECT_EQ(rung_tensors_get(inputs, 0).data, nullptr);
  rung_tensors_free(inputs);
  rung_model_close(model);
}

TEST(NoHandle, IsRefused) {
  int somewhere = 0;
  expect_closed_session(reinterpret_cast<rung_session*>(&somewhere));
  expect_closed_model(reinterpret_cast<rung_model*>(0x10));
  rung_climb_free(reinterpret_cast<rung_climb*>(&somewhere));
  EXPECT_EQ(rung_climb_text(nullptr, RUNG_CLIMB_REPORT), nullptr);
  rung_speedup speedup;
  EXPECT_EQ(rung_climb_speedup(nullptr, RUNG_AGAINST_BASELINE, &speedup), RUNG_USAGE);
}

struct Counted {
  explicit Counted(std::atomic<int>& alive) : count(alive) { ++count; }
  ~Counted() { --count; }
  std::atomic<int>& count;
};
struct Handle;

TEST(HandleTable, ClosesWhenNobodyIsInsideAnyMore) {
  static HandleTable<Handle, Counted> table;
  std::atomic<int> alive{0};
  std::atomic<bool> inside{false}, leaves{false}, closed{false};
  Handle* handle = table.open(std::make_unique<Counted>(alive));
  std::thread user([&] {
    const auto use = table.use(handle);
    ASSERT_TRUE(use);
    inside = true;
    while (!leaves) std::this_thread::yield();
    EXPECT_FALSE(closed);
    EXPECT_EQ(use->count, 1);
  });
  while (!inside) std::this_thread::yield();
  std::thread closer([&] {
    table.close(handle);
    closed = true;
  });
  while (table.use(handle)) std::this_thread::yield();  // closing has begun
  leaves = true;
  user.join();
  closer.join();
  EXPECT_EQ(alive, 0);
}

TEST(HandleTable, NeverGivesOneHandleTwice) {
  static HandleTable<Handle, Counted> table;
  std::atomic<int> alive{0};
  std::vector<Handle*> all;
  for (int i = 0; i < 600; ++i) all.push_back(table.open(std::make_unique<Counted>(alive)));  // beyond one chunk
  for (size_t i = 0; i < all.size(); i += 2) table.close(all[i]);
  const std::vector<Handle*> before = all;
  for (int i = 0; i < 300; ++i) all.push_back(table.open(std::make_unique<Counted>(alive)));
  EXPECT_EQ(std::set<Handle*>(all.begin(), all.end()).size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(static_cast<bool>(table.use(all[i])), i % 2 == 1 || i >= 600);
  for (Handle* handle : all) table.close(handle);
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace rung
