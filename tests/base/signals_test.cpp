// Threads that handle no signals.
// SPDX-License-Identifier: Apache-2.0
#include "base/signals.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/cores.hpp"
#include "base/parallel.hpp"
#include "support/signal_masks.hpp"

namespace rung {
namespace {

TEST(SignalsHeld, AreAllButThoseOfFaults) {
  const SignalsHeld held;
  for (int signal : {SIGALRM, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPROF, SIGUSR1, SIGPIPE, SIGRTMIN})
    EXPECT_TRUE(is_held(signal)) << signal;
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) EXPECT_FALSE(is_held(fault)) << fault;
}

TEST(SignalsHeld, AreHeldUntilTheOutermostEnds) {
  {
    const SignalsHeld outer;
    { const SignalsHeld inner; }
    EXPECT_TRUE(is_held(SIGALRM));
  }
  EXPECT_FALSE(is_held(SIGALRM));
}

TEST(SignalsHeld, LeaveWhatTheThreadHeldBefore) {
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &own, nullptr);
  { const SignalsHeld held; }
  EXPECT_TRUE(is_held(SIGUSR2));
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
}

std::atomic<int> g_handled{0};

TEST(SignalsHeld, ComeWhenTheyAreNoLongerHeld) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { ++g_handled; };
  sigaction(SIGUSR1, &action, &before);
  {
    const SignalsHeld held;
    raise(SIGUSR1);
    EXPECT_EQ(g_handled, 0);
  }
  EXPECT_EQ(g_handled, 1);
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(SignalsHeld, AreHeldForGoodOnThreadsStartedMeanwhile) {
  std::atomic<bool> held_there{false};
  std::thread thread;
  {
    const SignalsHeld held;
    thread = std::thread([&] {
      { const SignalsHeld inner; }
      held_there = is_held(SIGALRM);
    });
  }
  thread.join();
  EXPECT_TRUE(held_there);
}

TEST(ParallelFor, HandlesNoSignalsOnThreadsOfItsOwn) {
  if (usable_cores() < 2) GTEST_SKIP() << "one core: there is no other thread";
  const auto caller = std::this_thread::get_id();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::atomic<bool> other{false}, handling{false};
  parallel_for(2, [&](size_t) {
    if (std::this_thread::get_id() != caller) handling = !is_held(SIGALRM), other = true;
    while (!other && std::chrono::steady_clock::now() < end) std::this_thread::yield();  // leaves it the other index
  });
  EXPECT_TRUE(other);
  EXPECT_FALSE(handling);
  EXPECT_FALSE(is_held(SIGALRM));
}

}  // namespace
}  // namespace rung
