// The captured replay loop allocates nothing: this program's own malloc counts.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "plan/support.hpp"
#include "support/fake_target.hpp"

namespace {

std::atomic<long> g_allocations{0};

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their own malloc must stay
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) noexcept { return ++g_allocations, __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) noexcept { return ++g_allocations, __libc_calloc(count, bytes); }
void* realloc(void* block, size_t bytes) noexcept { return ++g_allocations, __libc_realloc(block, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return ++g_allocations, __libc_memalign(alignment, bytes);
}
void* memalign(size_t alignment, size_t bytes) noexcept { return ++g_allocations, __libc_memalign(alignment, bytes); }
int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  ++g_allocations;
  *block = __libc_memalign(alignment, bytes);
  return *block ? 0 : ENOMEM;
}
}
#endif

namespace rung {
namespace {

constexpr const char* kWideProducts =
    "table: f32[9,64] = constant(name=\"table\")\n"
    "w: f32[64,64] = constant(name=\"w\")\n"
    "g: f32[64] = constant(name=\"g\")\n"
    "ids: i64[1,8] = input()\n"
    "h: f32[1,8,64] = gather(table, ids, axis=0)\n"
    "q: f32[1,8,4,16] = reshape(linear(h, w), shape=[1,8,4,16])\n"
    "a: f32[1,8,64] = reshape(attention(q, q, q), shape=[1,8,64])\n"
    "y: f32[1,8,64] = layer_norm(gelu(linear(a, w)), g, g)\n"
    "return y=y";

long allocations_in_replays(const Recipe& recipe) {
  Session session = session_over(plan_of(kWideProducts, recipe));
  outputs_of(session, {{"ids", Tensor::of<int64_t>({1, 8}, {0, 1, 2, 3, 4, 5, 6, 7})}});
  long before = g_allocations;
  bool ran = true;
  for (int i = 0; i < 100; ++i) ran = session.run().has_value() && ran;
  long after = g_allocations;
  EXPECT_TRUE(ran);
  return after - before;
}

class Replays : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    long before = g_allocations;
    void* volatile block = std::malloc(1);
    std::free(block);
    if (g_allocations == before) GTEST_SKIP() << "a sanitizer's malloc cannot be counted";
  }
};

TEST_P(Replays, OfACapturedPlanAllocateNothing) {
  Recipe recipe = all_passes();
  recipe.threads = GetParam();
  EXPECT_EQ(allocations_in_replays(recipe), 0);
}

Recipe with_linear_kernel(const char* kernel, int threads) {
  Recipe recipe = all_passes();
  recipe.threads = threads;
  for (const Step& step : plan_of(kWideProducts, recipe).steps)
    if (as<Linear>(step.op)) recipe.choices[step.problem] = {kernel, {}};
  EXPECT_THAT(kernels_of(plan_of(kWideProducts, recipe)), ::testing::Contains(kernel));
  return recipe;
}

TEST_P(Replays, ThroughOpenBlasAllocateNothing) {
  EXPECT_EQ(allocations_in_replays(with_linear_kernel("linear_openblas", GetParam())), 0);
}

// oneDNN's execute call makes a table of its arguments each time; scratch space is ours, made once.
TEST_P(Replays, ThroughOneDnnAllocateOnlyCallTables) {
  constexpr long kReplays = 100, kLaunches = 2, kBlocksPerCall = 8;
  EXPECT_LE(allocations_in_replays(with_linear_kernel("linear_onednn", GetParam())),
            kReplays * kLaunches * kBlocksPerCall * GetParam());
}

// Own memory and the caller's, a mask with -inf among it; the first run makes what is missing.
long allocations_in_bound_runs(Session& session) {
  Tensor mask = Tensor::of<float>({1, 8}, {0, 0, 0, 0, 0, 0, 0, -INFINITY});
  std::vector<int64_t> ids{0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<float> y(8);
  EXPECT_TRUE(session.own_input(0, Place::host));
  EXPECT_TRUE(session.bind_input(1, Place::host, mask.data()));
  EXPECT_TRUE(session.bind_input(2, Place::host, ids.data()));
  EXPECT_TRUE(session.bind_output(0, Place::host, y.data()));
  EXPECT_TRUE(session.own_output(1, Place::host));
  bool ran = session.run().has_value();
  const long before = g_allocations;
  for (int i = 0; i < 100; ++i) {
    ran = session.bind_input(2, Place::host, ids.data()).has_value() && ran;
    ran = session.run().has_value() && ran;
  }
  const long after = g_allocations;
  EXPECT_TRUE(ran);
  return after - before;
}
constexpr const char* kBoundText =
    "x: f32[1,8] = input()\n"
    "mask: f32[1,8] = input()\n"
    "ids: i64[8] = input()\n"
    "table: f32[9,8] = constant(name=\"table\")\n"
    "y: f32[1,8] = softmax(add(x, mask))\n"
    "z: f32[8,8] = gather(table, ids, axis=0)\n"
    "return y=y, z=z";

TEST_P(Replays, WithBoundMemoryAllocateNothing) {
  Recipe recipe = all_passes();
  recipe.threads = GetParam();
  Plan plan = plan_of(kBoundText, recipe);
  plan.inputs[2].first = 0, plan.inputs[2].last = 8;
  Session session = session_over(std::move(plan));
  EXPECT_EQ(allocations_in_bound_runs(session), 0);
}

// A kernel that does nothing: what is counted is the session's.
Status launch_nothing(const gpu::Call& call) {
  return call.gpu.check(testing::fake::submit(call.stream, {}), "nothing");
}

TEST_P(Replays, WithBoundMemoryOnADeviceAllocateNothing) {
  Target target = testing::fake_target();
  std::vector<Kernel> rows;
  for (const Kernel* row : target.kernels) rows.emplace_back(*row).enqueue = launch_nothing;
  std::vector<const Kernel*> all;
  for (const Kernel& row : rows) all.push_back(&row);
  target.kernels = all;
  for (bool capture : {false, true}) {
    auto built = build_plan(graph_of(kBoundText), {.capture = capture, .threads = 0}, {.target = &target});
    ASSERT_TRUE(built) << built.error().message;
    auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_EQ(allocations_in_bound_runs(*session), 0) << capture;
  }
}

TEST_P(Replays, OfAnEagerPlanAreSeenToAllocate) { EXPECT_GT(allocations_in_replays({.threads = GetParam()}), 100); }

INSTANTIATE_TEST_SUITE_P(Threads, Replays, ::testing::Values(1, 2));

}  // namespace
}  // namespace rung
