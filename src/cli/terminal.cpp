// Shows progress and log on the command line.
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/log.hpp"
#include "measure/clock.hpp"

namespace rung::cli {

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO)), start_ns_(now_ns()) {}

Progress::~Progress() {
  if (!quiet_ && terminal_) std::fputs("\r\033[K", stderr);
}

void Progress::show(const std::string& what, double fraction) {
  if (quiet_) return;
  if (terminal_) return bar(what, std::clamp(fraction, 0.0, 1.0));
  std::string stage = what.substr(0, what.find(' '));  // plain lines: one per stage, not per step
  if (stage == last_) return;
  last_ = stage;
  fmt::print(stderr, "rung: {}\n", what);
}

void Progress::bar(const std::string& what, double fraction) {
  constexpr int kWidth = 28;
  int filled = static_cast<int>(fraction * kWidth);
  double elapsed = static_cast<double>(now_ns() - start_ns_) * 1e-9;
  std::string left = fraction > 0.05 ? fmt::format("{:.0f} s left", elapsed * (1 - fraction) / fraction) : "";
  fmt::print(stderr, "\r\033[K{:━<{}}{:╌<{}} {:3.0f} %  {:<44.44} {}", "", filled, "", kWidth - filled, fraction * 100,
             what, left);
  std::fflush(stderr);
}

void log_to_stderr(int level) {
  set_log_sink([](int, std::string_view line) { fmt::print(stderr, "rung: {}\n", line); }, level);
}

bool stdout_is_terminal() { return isatty(STDOUT_FILENO); }

}  // namespace rung::cli
