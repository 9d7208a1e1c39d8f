// Reads the system's counters, and decides which of their differences matter.
// SPDX-License-Identifier: Apache-2.0
#include "measure/disturbance.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "base/cores.hpp"
#include "base/words.hpp"
#include "measure/clock.hpp"

namespace rung {
namespace {

constexpr double kMostOthers = 0.05, kMostStolen = 0.01, kMostThrottled = 0.01, kMostPreemptions = 20,
                 kLeastClock = 0.95;
// The system counts processor time in ticks of 10 ms and charges each to the program that runs at its end: fewer than
// five ticks count as none.
constexpr double kLeastSeconds = 0.05;

double tick_s() { return 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)); }

std::string value_of(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return line.substr(key.size());
  return "";
}

// Turns "0-3,8" into words of proc/stat: cpu0, cpu1, ...
std::set<std::string> processor_words(const std::string& list) {
  std::set<std::string> words;
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = 0, last = 0;
    std::istringstream ends(range);
    if (!(ends >> first)) continue;
    last = ends.get() == '-' && ends >> last ? last : first;
    for (int processor = first; processor <= std::min(last, first + (1 << 16)); ++processor)
      words.insert("cpu" + std::to_string(processor));
  }
  return words;
}

// Adds a line of proc/stat after its word: "user nice system idle iowait irq softirq steal ...", in ticks.
void add_processor(std::istringstream& line, MachineCounters& counters) {
  enum { idle = 3, iowait = 4, steal = 7, columns = 8 };
  double ticks = 0;
  for (int column = 0; column < columns && line >> ticks; ++column) {
    const double seconds = ticks * tick_s();
    counters.total_s += seconds;
    if (column == steal)
      counters.steal_s += seconds;
    else if (column != idle && column != iowait)
      counters.busy_s += seconds;
  }
}

void read_processors(const std::string& root, MachineCounters& counters) {
  const auto mine = processor_words(value_of(root + "/proc/self/status", "Cpus_allowed_list:"));
  std::ifstream file(root + "/proc/stat");
  for (std::string line; std::getline(file, line);) {
    std::istringstream columns(line);
    std::string word;
    columns >> word;
    if (mine.contains(word)) add_processor(columns, counters);
  }
}

// The file holds "pid (name) state ppid ...": utime, stime, cutime and cstime are the 12th to 15th after the name.
double own_seconds(const std::string& root) {
  std::ifstream file(root + "/proc/self/stat");
  std::string text;
  std::getline(file, text);
  const size_t end = text.rfind(')');
  if (end == text.npos) return 0;
  std::istringstream fields(text.substr(end + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double sum = 0, ticks = 0;
  for (int i = 0; i < 4 && fields >> ticks; ++i) sum += ticks * tick_s();
  return sum;
}

// The cpu.stat beside the quota's file holds "throttled_usec 12" (cgroup v2) or "throttled_time 12000" in ns (v1).
double throttled_seconds(const std::string& root) {
  const std::string quota = read_cores(root).quota_file;
  if (quota.empty()) return 0;
  const std::string stat = root + "/" + quota.substr(0, quota.rfind('/')) + "/cpu.stat";
  if (const std::string us = value_of(stat, "throttled_usec "); !us.empty())
    return std::strtod(us.c_str(), nullptr) * 1e-6;
  return std::strtod(value_of(stat, "throttled_time ").c_str(), nullptr) * 1e-9;
}

double mean_megahertz(const std::string& root) {
  std::ifstream file(root + "/proc/cpuinfo");
  double sum = 0;
  int count = 0;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("cpu MHz")) sum += std::strtod(line.substr(line.find(':') + 1).c_str(), nullptr), ++count;
  return count > 0 ? sum / count : 0;
}

double share(double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0; }

double above_ticks(double seconds) { return seconds < kLeastSeconds ? 0 : seconds; }

}  // namespace

MachineCounters read_machine_counters(const std::string& root) {
  MachineCounters counters;
  read_processors(root, counters);
  counters.own_s = own_seconds(root);
  counters.throttled_s = throttled_seconds(root);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  counters.preemptions = usage.ru_nivcsw;
  counters.megahertz = mean_megahertz(root);
  counters.seconds = static_cast<double>(now_ns()) * 1e-9;
  return counters;
}

Disturbance Disturbance::between(const MachineCounters& before, const MachineCounters& after) {
  const double total = after.total_s - before.total_s, seconds = after.seconds - before.seconds;
  const double others = after.busy_s - before.busy_s - (after.own_s - before.own_s);
  const auto preemptions = static_cast<double>(after.preemptions - before.preemptions);
  return {.seconds = seconds,
          .others = share(above_ticks(others), total),
          .stolen = share(above_ticks(after.steal_s - before.steal_s), total),
          .throttled = share(after.throttled_s - before.throttled_s, seconds),
          .preemptions = seconds > 0 ? preemptions / seconds : 0,
          .megahertz_before = before.megahertz,
          .megahertz_after = after.megahertz};
}

std::string Disturbance::text() const {
  std::string text;
  const auto note = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (others > kMostOthers) note(fmt::format("other programs had {} of the processors", words::percent(others)));
  if (stolen > kMostStolen) note(fmt::format("the hypervisor took {} of the processors", words::percent(stolen)));
  if (throttled > kMostThrottled)
    note(fmt::format("the quota stopped it for {} of the time", words::percent(throttled)));
  if (preemptions > kMostPreemptions && preemptions * seconds > kMostPreemptions)
    note(fmt::format("preempted {} times a second", words::count(std::lround(preemptions))));
  if (megahertz_after > 0 && megahertz_after < kLeastClock * megahertz_before)
    note(fmt::format("the clock fell from {:.0f} to {:.0f} MHz", megahertz_before, megahertz_after));
  return text;
}

std::string QuietWait::text() const {
  if (is_quiet()) return fmt::format("the machine is quiet, after {:.1f} s", waited_s);
  return fmt::format("the machine is not quiet after {:.1f} s: {}; going on all the same", waited_s, last.text());
}

QuietWait wait_until_quiet(double most_s, const Interrupted& interrupted, double window_s) {
  using std::chrono::duration;
  QuietWait wait;
  const int64_t begin = now_ns();
  do {
    const MachineCounters before = machine_counters();
    const double left_s = std::min(window_s, most_s - wait.waited_s);
    for (double slept_s = 0; slept_s < left_s && !wants_end(interrupted);) {
      const double nap_s = std::min(0.05, left_s - slept_s);
      std::this_thread::sleep_for(duration<double>(nap_s));
      slept_s += nap_s;
    }
    wait.last = Disturbance::between(before, machine_counters());
    wait.last.megahertz_after = wait.last.megahertz_before;
    wait.waited_s = static_cast<double>(now_ns() - begin) * 1e-9;
  } while (!wait.is_quiet() && wait.waited_s < most_s && !wants_end(interrupted));
  return wait;
}

}  // namespace rung
