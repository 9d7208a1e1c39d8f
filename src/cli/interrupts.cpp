// The handler of signals that end a command.
// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupts.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "cli/output.hpp"

namespace rung::cli {
namespace {

constexpr std::string_view kLine = "rung: error: interrupted\n";
constexpr std::string_view kObject = R"({"error":{"kind":"interrupted","message":"interrupted"}})"
                                     "\n";

std::atomic<int> g_interrupted{0};  // the signal
std::atomic<bool> g_awaited{false}, g_json{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);  // for the handler

// Ends the process by the signal's default action.
void end_by(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
}

// Writes without buffered streams, which a handler may not use. If it fails, the text is lost: the process ends anyway.
void say(int descriptor, std::string_view text) {
  if (write(descriptor, text.data(), text.size()) < 0) return;
}

// The handler interrupts no library's code: threads that run any hold their signals (base/signals.hpp).
void on_interrupt(int signal) {
  const bool first = g_interrupted.exchange(signal) == 0;
  if (first && g_awaited) return;
  if (first) {
    say(STDERR_FILENO, kLine);
    if (g_json && !printed_object()) say(STDOUT_FILENO, kObject);
  }
  end_by(signal);
}

}  // namespace

void catch_interrupts(bool json) {
  g_json = json;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, &action, &before);
    if (before.sa_handler == SIG_IGN) sigaction(signal, &before, nullptr);
  }
}

InterruptsAwaited::InterruptsAwaited() { g_awaited = true; }
InterruptsAwaited::~InterruptsAwaited() { g_awaited = false; }

bool interrupted() { return g_interrupted != 0; }

void end_if_interrupted() {
  const int signal = g_interrupted;
  if (signal == 0) return;
  std::fflush(stdout);  // prints what was done by then
  end_by(signal);
}

}  // namespace rung::cli
