// Workers spin for a ticket, then sleep on it; arrivals are counted and the last one turns the phase.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/team.hpp"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/signals.hpp"
#include "device/cpu/cpu_info.hpp"
#include "device/cpu/start_team.hpp"

namespace rung::cpu {
namespace {

constexpr double kIdleSpinUs =
    100;  // longer than the gaps between runs of one inference, short enough to free the core

// How many pause instructions pass in a microsecond (they take 10 to 70 ns, by processor); so that spinning needs no
// clock.
int pauses_per_us() {
  using Clock = std::chrono::steady_clock;
  static const int rate = [] {
    constexpr int kPauses = 500;
    double best_us = 1e9;
    for (int trial = 0; trial < 5; ++trial) {
      auto start = Clock::now();
      for (int i = 0; i < kPauses; ++i) _mm_pause();
      best_us = std::min(best_us, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    return std::max(1, static_cast<int>(kPauses / std::max(best_us, 1.0)));
  }();
  return rate;
}

// Waits for `done()`, giving the core away now and then once it lasts, so that more threads than cores still progress.
template <class Done>
void spin_until(int spins, Done&& done) {
  for (int i = 0; i < spins; ++i) {
    if (done()) return;
    _mm_pause();
  }
  while (!done()) {
    sched_yield();
    for (int i = 0; i < 64 && !done(); ++i) _mm_pause();
  }
}

// Worker i takes the i-th core of the process's mask.
void pin(int thread) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed) != 0) return;
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || seen++ != thread) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
}

// Wakes them all for the last time.
void stop(std::atomic<bool>& stopping, std::atomic<uint32_t>& ticket, std::vector<std::thread>& workers) {
  stopping.store(true, std::memory_order_relaxed);
  ticket.fetch_add(1);
  ticket.notify_all();
  for (auto& worker : workers) worker.join();
}

}  // namespace

Status check_threads(int threads) {
  if (threads >= 1 && threads <= kMostThreads) return {};
  return fail("got {} threads, wanted 1 to {}", threads, kMostThreads);
}

Result<std::shared_ptr<Team>> start_team(int threads, Pinning pinning) {
  RUNG_CHECK(check_threads(threads));
  try {
    return std::make_shared<Team>(threads, pinning);
  } catch (const std::system_error& error) {
    return fail("cannot start {} threads: {}", threads, error.what());
  }
}

// Throws what starting a thread throws.
Team::Team(int threads, Pinning pinning) : size_(std::max(1, threads)) {
  bool fits = size_ <= cpu_info().cores;
  spins_ = fits ? static_cast<int>(kIdleSpinUs) * pauses_per_us() : 16;
  bool pinned = pinning == Pinning::cores && fits;
  workers_.reserve(static_cast<size_t>(size_));
  const SignalsHeld held;  // on the workers, too, from their first instruction on
  try {
    for (int thread = 1; thread < size_; ++thread)
      workers_.emplace_back([this, thread, pinned] {
        const SignalsHeld always;  // so that kernels need not ask for it
        if (pinned) pin(thread);
        work(thread);
      });
  } catch (...) {
    stop(stopping_, ticket_, workers_);
    throw;
  }
}

// A child has no workers that could be joined, and an std::thread that was not joined ends the process: they are moved
// to where nothing ends them.
Team::~Team() {
  if (made_in_.another_process()) {
    using Workers = decltype(workers_);
    alignas(Workers) std::byte nowhere[sizeof(Workers)];
    new (nowhere) Workers(std::move(workers_));
  } else {
    stop(stopping_, ticket_, workers_);
  }
}

// The bump is a read-modify-write, so it is ordered before notify_all's look at the sleepers: none is missed.
void Team::run_erased(Body body, void* data) {
  if (size_ == 1) return body(data, 0);
  body_ = body;
  data_ = data;
  ticket_.fetch_add(1);
  ticket_.notify_all();
  body(data, 0);
  barrier();
}

bool Team::arrive() {
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < size_) return false;
  arrived_.store(0, std::memory_order_relaxed);
  phase_.fetch_add(1, std::memory_order_release);
  return true;
}

void Team::barrier() {
  if (size_ == 1) return;
  uint32_t seen = phase_.load(std::memory_order_relaxed);
  if (!arrive()) spin_until(spins_, [&] { return phase_.load(std::memory_order_acquire) != seen; });
}

// At the end of a run a worker only arrives: the next ticket cannot come before all have.
void Team::work(int thread) {
  for (uint32_t seen = 0;; ++seen) {
    wait_for_ticket(seen);
    if (stopping_.load(std::memory_order_relaxed)) return;
    body_(data_, thread);
    arrive();
  }
}

void Team::wait_for_ticket(uint32_t seen) {
  for (int i = 0; i < spins_; ++i) {
    if (ticket_.load(std::memory_order_acquire) != seen) return;
    _mm_pause();
  }
  while (ticket_.load(std::memory_order_acquire) == seen) ticket_.wait(seen, std::memory_order_acquire);
}

}  // namespace rung::cpu
