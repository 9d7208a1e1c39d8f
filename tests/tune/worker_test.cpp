// Candidates run in a worker process: crashes, hangs and wrong results cost themselves only.
// SPDX-License-Identifier: Apache-2.0
#include "tune/worker.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "support.hpp"
#include "support/scripted_clock.hpp"
#include "tune/child_process.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;
constexpr int64_t kElements = 64;

Verdict always(const Problem&, const Machine&) { return accept(); }

void scale(const cpu::Call& call, float factor) {
  if (call.part != 0) return;
  for (int64_t i = 0; i < kElements; ++i) call.out<float>()[i] = factor * call.in<float>(0)[i];
}
void copy(const cpu::Call& call) { scale(call, 1); }
void twice(const cpu::Call& call) { scale(call, 2); }
void not_numbers(const cpu::Call& call) { scale(call, NAN); }
void abort_quietly(const cpu::Call&) {
  signal(SIGABRT, SIG_DFL);
  raise(SIGABRT);
}
void segfault(const cpu::Call&) {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}
void segfault_as_it_comes(const cpu::Call&) { raise(SIGSEGV); }
void leave(const cpu::Call&) { _exit(0); }
void hang(const cpu::Call&) {
  while (true) pause();
}

void throw_bad_alloc(const cpu::Call& call) {
  if (call.part == 0) throw std::bad_alloc();
}
void signalled(const cpu::Call& call) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) kill(getpid(), signal);
  copy(call);
}

const Kernel kThrow{"throw", "unary", always, throw_bad_alloc}, kSignalled{"signalled", "unary", always, signalled};
const Kernel kCopy{"copy", "unary", always, copy}, kTwice{"twice", "unary", always, twice},
    kNaN{"nan", "unary", always, not_numbers}, kAbort{"abort", "unary", always, abort_quietly},
    kSegfault{"segfault", "unary", always, segfault}, kAsItComes{"as_it_comes", "unary", always, segfault_as_it_comes},
    kLeave{"leave", "unary", always, leave}, kHang{"hang", "unary", always, hang};

std::vector<Measured> measure(const std::vector<const Kernel*>& kernels,
                              const std::function<bool()>& out_of_time = {}) {
  Problem problem{.op = Unary{}, .inputs = {dense(DType::f32, {kElements})}, .output = dense(DType::f32, {kElements})};
  std::vector<KernelCandidate> candidates;
  for (const auto* kernel : kernels) candidates.push_back({kernel, {}});
  return measure_in_worker({&cpu_target(), problem, candidates, 0, 0.001, 0.3, out_of_time});
}

TEST(Worker, TimesEveryCandidate) {
  for (const Measured& measured : measure({&kCopy, &kCopy})) {
    EXPECT_GT(measured.time.us, 0);
    EXPECT_EQ(measured.failure, "");
  }
}

TEST(Worker, ACrashCostsTheCrashedCandidateOnly) {
  auto results = measure({&kCopy, &kAbort, &kCopy, &kSegfault, &kCopy});
  EXPECT_THAT(results[1].failure, HasSubstr("crashed: Aborted"));
  EXPECT_THAT(results[3].failure, HasSubstr("crashed: Segmentation fault"));
  for (size_t i : {0, 2, 4}) EXPECT_GT(results[i].time.us, 0) << results[i].failure;
}

TEST(Worker, CrashesWithoutCallingTheClimbingProgramsHandler) {
  struct sigaction handler {};
  handler.sa_handler = [](int) { _exit(7); };
  struct sigaction before {};
  sigaction(SIGSEGV, &handler, &before);
  auto results = measure({&kCopy, &kAsItComes});
  sigaction(SIGSEGV, &before, nullptr);
  EXPECT_THAT(results[1].failure, HasSubstr("crashed: Segmentation fault"));
  EXPECT_GT(results[0].time.us, 0);
}

TEST(Worker, AnExceptionStaysInItsProcess) {
  const pid_t test = getpid();
  std::vector<Measured> results;
  try {
    results = measure({&kCopy, &kThrow, &kCopy});
  } catch (const std::exception&) {
    EXPECT_NE(getpid(), test) << "the climb was thrown at";
  }
  if (getpid() != test) _exit(99);  // the child, gone on as if it were the climb
  EXPECT_EQ(results[1].failure, "worker exited with 1");
  EXPECT_GT(results[0].time.us, 0);
  EXPECT_GT(results[2].time.us, 0);
}

TEST(Worker, IgnoresSignalsThatTheClimbDecidesOn) {
  for (const Measured& measured : measure({&kSignalled, &kCopy})) EXPECT_EQ(measured.failure, "");
}

TEST(Worker, AHangCostsTheHungCandidateOnly) {
  auto results = measure({&kCopy, &kHang, &kCopy});
  EXPECT_THAT(results[1].failure, HasSubstr("hung for 0.3 s"));
  EXPECT_GT(results[0].time.us, 0);
  EXPECT_GT(results[2].time.us, 0);
}

TEST(Worker, MeasuresTheOthersAfterADefaultCrashes) {
  auto results = measure({&kSegfault, &kCopy, &kCopy});
  EXPECT_THAT(results[0].failure, HasSubstr("crashed"));
  EXPECT_GT(results[1].time.us, 0) << results[1].failure;
  EXPECT_GT(results[2].time.us, 0) << results[2].failure;
}

TEST(Worker, ACandidateThatEndsTheProcessIsMarked) {
  auto results = measure({&kCopy, &kLeave, &kCopy});
  EXPECT_EQ(results[1].failure, "ended early");
  EXPECT_GT(results[2].time.us, 0) << results[2].failure;
}

TEST(Worker, MarksWrongResults) {
  auto results = measure({&kCopy, &kTwice, &kNaN});
  EXPECT_THAT(results[1].failure, HasSubstr("wrong result: relative L2 1"));
  EXPECT_THAT(results[2].failure, HasSubstr("wrong result"));
  EXPECT_EQ(results[1].time.us, 0);
}

void slightly_off(const cpu::Call& call) { scale(call, 1.00005f); }
void off(const cpu::Call& call) { scale(call, 1.001f); }
const Kernel kSlightlyOff{"slightly_off", "unary", always, slightly_off}, kOff{"off", "unary", always, off};

TEST(Worker, AllowsWhatRoundingMayAddAndNoMore) {
  auto results = measure({&kCopy, &kSlightlyOff, &kOff});
  EXPECT_EQ(results[1].failure, "");
  EXPECT_THAT(results[2].failure, HasSubstr("wrong result: relative L2 0.001"));
}

template <int Percent>
void scale_narrow(const cpu::Call& call) {
  for (int64_t i = 0; i < kElements; ++i)
    call.out<bf16>()[i] = bf16(static_cast<float>(call.in<bf16>(0)[i]) * (1 + Percent * 0.01f));
}

TEST(Worker, AllowsMoreWhereResultsAreNarrow) {
  const Kernel exact{"exact", "unary", always, scale_narrow<0>}, near{"near", "unary", always, scale_narrow<1>},
      far{"far", "unary", always, scale_narrow<4>};
  Problem problem{
      .op = Unary{}, .inputs = {dense(DType::bf16, {kElements})}, .output = dense(DType::bf16, {kElements})};
  std::vector<KernelCandidate> candidates{{&exact, {}}, {&near, {}}, {&far, {}}};
  auto results = measure_in_worker({&cpu_target(), problem, candidates, 0, 0.001, 0.3, {}});
  EXPECT_EQ(results[1].failure, "");
  EXPECT_THAT(results[2].failure, HasSubstr("wrong result: relative L2 0.04"));
}

// The fallback, but for a result that a norm's readers take, whose bf16 values are multiplied.
template <int Percent>
void scale_further_result(const cpu::Call& call) {
  cpu_target().kernel_named("linear_fallback")->run(call);
  const ResultPlace place = results_of(call.problem)[1];
  auto* values = reinterpret_cast<bf16*>(call.out<std::byte>() + place.offset);
  for (int64_t i = 0; i < place.type.elements(); ++i)
    values[i] = bf16(static_cast<float>(values[i]) * (1 + Percent * 0.01f));
}

TEST(Worker, ComparesEveryResultAndLoosensForNarrowOnes) {
  const Kernel exact{"exact", "linear", always, scale_further_result<0>},
      near{"near", "linear", always, scale_further_result<1>}, far{"far", "linear", always, scale_further_result<4>};
  Problem problem = linear_problem(2, 32, 8);
  auto& op = std::get<Linear>(problem.op);
  op.slots.put(problem.inputs, LinearSlot::norm_weight, dense(DType::f32, {32}, true));
  op.epilogue.norm_run = 32;
  auto results =
      measure_in_worker({&cpu_target(), problem, {{&exact, {}}, {&near, {}}, {&far, {}}}, 0, 0.001, 0.3, {}});
  EXPECT_EQ(results[1].failure, "");
  EXPECT_THAT(results[2].failure, HasSubstr("wrong result: relative L2 0.04"));
}

// Microseconds by process that calls it; the count is shared by all of them.
int* processes = nullptr;
std::vector<int> us_by_process;
void by_process(const cpu::Call& call) {
  static pid_t last = 0;
  if (std::exchange(last, getpid()) != getpid()) ++*processes;
  scale(call, 1);
  scripted::Clock::pass_us(us_by_process[static_cast<size_t>(*processes - 1)]);
}

TEST(Worker, KeepsTheBetterOfTwoRounds) {
  scripted::Clock clock;
  void* shared = mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  processes = static_cast<int*>(shared);
  const Kernel kernel{"by_process", "unary", always, by_process};
  for (const auto& rounds : {std::vector{300, 100}, std::vector{100, 300}}) {
    *processes = 0;
    us_by_process = rounds;
    auto results = measure({&kernel});
    EXPECT_EQ(*processes, 2);
    EXPECT_NEAR(results[0].time.us, 100, 1e-6);
  }
  munmap(shared, sizeof(int));
}

TEST(Distance, OfSeveralResultsIsThatOfTheWorst) {
  const Tensor one = Tensor::of<float>({1}, {1}), two = Tensor::of<float>({1}, {2}),
               none = Tensor::of<float>({1}, {NAN});
  EXPECT_EQ(distance(std::vector{one, two, one}, {one, one, one}), 1);
  EXPECT_TRUE(std::isnan(distance(std::vector{one, none, two}, {one, one, one})));
}
TEST(Distance, IsRelativeToTheWanted) {
  EXPECT_DOUBLE_EQ(distance(Tensor::of<float>({2}, {3, 5}), Tensor::of<float>({2}, {3, 4})), 0.2);
  EXPECT_EQ(distance(Tensor::of<float>({2}, {0, 0}), Tensor::of<float>({2}, {0, 0})), 0);
  EXPECT_GT(distance(Tensor::of<float>({1}, {1e-3f}), Tensor::of<float>({1}, {0})), 1);
  EXPECT_TRUE(std::isnan(distance(Tensor::of<float>({1}, {NAN}), Tensor::of<float>({1}, {1}))));
}

TEST(Worker, StopsBetweenCandidatesWhenTimeIsUp) {
  int asked = 0;
  auto results = measure({&kCopy, &kCopy, &kCopy}, [&] { return ++asked > 1; });
  EXPECT_GT(results[0].time.us, 0);
  EXPECT_EQ(results[2].failure, "no time left");
}

}  // namespace
}  // namespace rung
