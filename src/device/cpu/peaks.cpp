// Times the peak loops and the team itself; the best of a few trials counts.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/peaks.hpp"

#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <vector>

#include "base/big_block.hpp"
#include "device/cpu/cache_flush.hpp"
#include "device/cpu/cpu_info.hpp"
#include "device/cpu/peak_loops.hpp"

namespace rung::cpu {
namespace {

constexpr int kTrials = 15;
constexpr double kRampSeconds = 0.015;  // an idle core needs some milliseconds to reach its clock

PeakLoops loops() {
  if (cpu_info().avx512) return avx512::peak_loops();
  return cpu_info().avx2 ? avx2::peak_loops() : portable::peak_loops();
}

// `prepare` runs before each trial and is not timed.
template <class F, class P>
double best_seconds(double most_seconds, F&& f, P&& prepare) {
  using Clock = std::chrono::steady_clock;
  auto since = [](Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); };
  auto begin = Clock::now();
  double best = 1e9;
  int trial = 0;
  do {
    prepare();
    auto start = Clock::now();
    f();
    best = std::min(best, since(start));
  } while (since(begin) < (++trial < kTrials ? most_seconds : kRampSeconds));
  return best;
}

template <class F>
double best_seconds(double most_seconds, F&& f) {
  return best_seconds(most_seconds, f, [] {});
}

// The loops' results go here, so that no loop is dropped as unused.
std::atomic<float> loop_result;

// Takes about a microsecond per part if there are other threads: one thread alone would do all empty parts.
void be_busy(const Team& team) {
  for (int i = 0; i < (team.size() > 1 ? 32 : 0); ++i) _mm_pause();
}

}  // namespace

double measure_read_gbps(Team& team, double most_seconds) {
  // Each trial flushes the data first, so the last cache may be larger; at this size a hand-off does not count.
  constexpr size_t kBytes = size_t{64} << 20;
  constexpr int64_t kGrain = 1024, kCount = kBytes / sizeof(float);
  auto block = allocate_block(kBytes);
  if (!block) throw std::bad_alloc();
  auto* data = reinterpret_cast<float*>(block.get());
  team.run_on_all([&](int thread) {  // each thread first touches its own part, so that its node has the memory
    Range mine = share(kCount, thread, team.size(), kGrain);
    std::fill(data + mine.begin, data + mine.end, 1.0f);
  });
  PeakLoops peak = loops();
  auto read = [&] {
    team.run_on_all([&](int thread) {
      Range mine = share(kCount, thread, team.size(), kGrain);
      loop_result.store(peak.read(data + mine.begin, mine.end - mine.begin), std::memory_order_relaxed);
    });
  };
  double seconds = best_seconds(most_seconds, read, [&] { flush_from_caches(team, {block.get(), kBytes}); });
  return static_cast<double>(kBytes) / seconds * 1e-9;
}

double measure_fma_gflops(Team& team, double most_seconds) {
  constexpr int64_t kIterations = 1 << 19;  // some milliseconds
  PeakLoops peak = loops();
  double seconds = best_seconds(most_seconds, [&] {
    team.run_on_all([&](int) { loop_result.store(peak.multiply_add(kIterations), std::memory_order_relaxed); });
  });
  return peak.flops_per_iteration * static_cast<double>(kIterations) * team.size() / seconds * 1e-9;
}

double measure_handoff_us(Team& team, double most_seconds) {
  constexpr int kRuns = 200;
  const double busy = best_seconds(most_seconds / 2, [&] {
    for (int i = 0; i < kRuns; ++i) be_busy(team);
  });
  const double runs = best_seconds(most_seconds / 2, [&] {
    for (int i = 0; i < kRuns; ++i) team.run(team.size(), [&](int, int) { be_busy(team); });
  });
  return 1e6 / kRuns * std::max(0.0, runs - busy);
}

double measure_barrier_us(Team& team, double most_seconds) {
  const std::vector<int> parts(200, team.size());
  const double busy = best_seconds(most_seconds / 2, [&] {
    for (size_t i = 0; i < parts.size(); ++i) be_busy(team);
  });
  const double run = best_seconds(most_seconds / 2, [&] { team.run(parts, [&](size_t, int, int) { be_busy(team); }); });
  return 1e6 / static_cast<double>(parts.size()) * std::max(0.0, run - busy);
}

}  // namespace rung::cpu
