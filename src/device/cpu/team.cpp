// All threads wait for the open section's word, first spinning, then asleep; whoever does its last part opens the next.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/team.hpp"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/signals.hpp"
#include "device/cpu/cpu_info.hpp"
#include "device/cpu/start_team.hpp"

namespace rung::cpu {
namespace {

// Spinning lasts longer than the gaps between the runs of one inference, and than threads of a quiet machine wait for
// each other in a run. It is short enough to free the core for others, maybe for the thread that is waited for.
constexpr double kSpinUs = 50;

// Returns how many pause instructions pass in a microsecond (each takes 10 to 70 ns, by processor), so that spinning
// needs no clock.
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

// The runs that this thread is inside, the innermost first.
struct Inside {
  const Team* team = nullptr;
  int thread = 0;
  const Inside* outer = nullptr;
};
thread_local const Inside* inside = nullptr;

class Enter {
 public:
  Enter(const Team* team, int thread) : run_{team, thread, inside} { inside = &run_; }
  ~Enter() { inside = run_.outer; }
  Enter(const Enter&) = delete;
  Enter& operator=(const Enter&) = delete;

 private:
  const Inside run_;
};

const Inside* run_around(const Team* team) {
  const Inside* run = inside;
  while (run && run->team != team) run = run->outer;
  return run;
}

// Pins worker i to the i-th core of the process's mask.
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

// Throws whatever starting a thread throws.
Team::Team(int threads, Pinning pinning, BeforeClaims before_claims)
    : size_(std::max(1, threads)),
      before_claims_(before_claims),
      lanes_(std::make_unique<Lane[]>(static_cast<size_t>(size_))) {
  bool fits = size_ <= cpu_info().cores;
  spins_ = fits ? static_cast<int>(kSpinUs) * pauses_per_us() : 16;
  bool pinned = pinning == Pinning::cores && fits;
  workers_.reserve(static_cast<size_t>(size_));
  const SignalsHeld held;  // also held on the workers, from their first instruction on
  try {
    for (int thread = 1; thread < size_; ++thread)
      workers_.emplace_back([this, thread, pinned] {
        const SignalsHeld always;  // so that kernels need not hold them
        if (pinned) pin(thread);
        live(thread);
      });
  } catch (...) {
    stop();
    throw;
  }
}

// A child has no workers to join, and destroying an std::thread that was not joined ends the process: the workers are
// moved to where nothing destroys them.
Team::~Team() {
  if (made_in_.another_process()) {
    using Workers = decltype(workers_);
    alignas(Workers) std::byte nowhere[sizeof(Workers)];
    new (nowhere) Workers(std::move(workers_));
  } else {
    stop();
  }
}

void Team::stop() {
  stopping_.store(true);
  open_.store(EpochWord(open().epoch() + 1, 0).bits());
  workers_bell_.ring();
  for (auto& worker : workers_) worker.join();
}

void Team::run_work(Work work) {
  if (const Inside* around = run_around(this)) return run_alone(work, around->thread);
  const Enter entered(this, 0);
  if (size_ == 1) return run_alone(work, 0);
  work.first_epoch = open().epoch() + 1;
  work_ = work;
  open_next(work.first_epoch);
  for (EpochWord seen = open(); seen.epoch() < work.end(); seen = wait_for_change(seen, callers_bell_))
    take_part(seen, 0);
  if (threw_.load(std::memory_order_relaxed)) {
    threw_.store(false, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(thrown_, nullptr));
  }
}

void Team::run_alone(const Work& work, int thread) {
  for (size_t section = 0; section < work.parts.size(); ++section)
    for (int part = 0; part < work.parts[section]; ++part) work.body(work.data, section, part, thread);
}

void Team::live(int thread) {
  const Enter entered(this, thread);
  for (EpochWord seen;;) {
    seen = wait_for_change(seen, workers_bell_);
    if (stopping_.load(std::memory_order_relaxed)) return;
    if (before_claims_) before_claims_(thread);
    take_part(seen, thread);
  }
}

// Opens the first section from that epoch on that has parts, or states that there is none, and wakes waiting threads.
// After the store that says so the caller may be gone: nothing of the run is touched any more.
void Team::open_next(uint64_t epoch) {
  const auto parts = [&] { return work_.parts[epoch - work_.first_epoch]; };
  while (epoch < work_.end() && parts() == 0) ++epoch;
  const bool ended = epoch == work_.end();
  open_.store(EpochWord(epoch, ended ? 0 : parts()).bits());
  if (!ended) workers_bell_.ring();
  callers_bell_.ring();
}

// A thread reports the work of its own lane once, and work that it takes from others each time, as all wait for it.
// Undisturbed threads finish together: looking at another lane too early takes its word away from its thread (a section
// then costs 140 ns instead of 115, on two cores of an AMD EPYC).
void Team::take_part(EpochWord seen, int thread) {
  constexpr int kPatience = 8;  // pauses
  int done = 0;
  while (do_next(seen, thread, thread)) ++done;
  count_done(seen, done);
  for (int i = 0; i < kPatience && open() == seen; ++i) _mm_pause();
  for (int i = 1; i < size_ && open() == seen; ++i)
    while (do_next(seen, (thread + i) % size_, thread)) count_done(seen, 1);
}

// Claims one part of the lane and does it; returns false if none is left.
bool Team::do_next(EpochWord seen, int lane, int thread) {
  const Range parts = lane_parts(seen.count(), lane, size_);
  auto& word = lanes_[static_cast<size_t>(lane)].word;
  uint64_t bits = word.load(std::memory_order_relaxed);
  for (;;) {
    const auto claim = next_claim(EpochWord::of_bits(bits), seen, parts);
    if (!claim) return false;
    if (!word.compare_exchange_weak(bits, claim->word.bits(), std::memory_order_acq_rel, std::memory_order_relaxed))
      continue;
    do_part(seen.epoch(), claim->part, thread);
    return true;
  }
}

void Team::do_part(uint64_t epoch, int part, int thread) {
  if (threw_.load(std::memory_order_relaxed)) return;
  try {
    work_.body(work_.data, epoch - work_.first_epoch, part, thread);
  } catch (...) {
    if (!threw_.exchange(true)) thrown_ = std::current_exception();
  }
}

// The thread that counts the last part has seen all others done.
void Team::count_done(EpochWord seen, int parts) {
  if (parts == 0 || done_.fetch_add(parts, std::memory_order_acq_rel) + parts < seen.count()) return;
  done_.store(0, std::memory_order_relaxed);
  open_next(seen.epoch() + 1);
}

EpochWord Team::wait_for_change(EpochWord seen, Bell& bell) {
  for (int i = 0; i < spins_; ++i) {
    if (open() != seen) return open();
    _mm_pause();
  }
  bell.sleep_while([&] { return open_.load() == seen.bits(); });
  return open();
}

// Waits until all threads are here, each at a part that no other can take from it.
void Team::meet(std::atomic<int>& here) const {
  here.fetch_add(1);
  for (int i = 0; here.load() < size_; ++i) i < spins_ ? _mm_pause() : static_cast<void>(sched_yield());
}

}  // namespace rung::cpu
