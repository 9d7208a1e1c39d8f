// A disturbance of a measurement: one noun, and one rule that decides when it is reported.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "base/interrupted.hpp"

namespace rung {

// Counters that only grow, except megahertz; only their differences matter. Times are those of the processors that
// this process may use, in seconds.
struct MachineCounters {
  double seconds = 0;       // monotonic
  double total_s = 0;       // busy or idle, all processors together
  double busy_s = 0;        // with anyone's work, without stolen time
  double steal_s = 0;       // taken by the hypervisor for others
  double own_s = 0;         // with this process's work, and its children's that have ended
  double throttled_s = 0;   // this process's control group stood still, as its quota was used up
  int64_t preemptions = 0;  // involuntary context switches of this process
  double megahertz = 0;     // mean over processors; 0 if the system does not tell
};

// Reads proc/stat, proc/self/stat, proc/self/status, proc/cpuinfo and the control group's cpu.stat below `root`, which
// is "" or a folder of that form; counters missing there are 0. Preemptions are this process's own.
MachineCounters read_machine_counters(const std::string& root);

// The source of a watch's counters: this machine, or a test.
inline MachineCounters (*machine_counters)() = [] { return read_machine_counters(""); };

// Shares are parts, from 0 to 1, of the time of the processors that this process may use.
struct Disturbance {
  double seconds = 0;      // watched
  double others = 0;       // other programs had the processors
  double stolen = 0;       // the hypervisor had them
  double throttled = 0;    // share of `seconds` in which the quota was used up
  double preemptions = 0;  // a second
  double megahertz_before = 0, megahertz_after = 0;

  // Returns the disturbance between two readings. A difference below the counters' resolution counts as none.
  static Disturbance between(const MachineCounters& before, const MachineCounters& after);
  // THE rule. Returns a text like "other programs had 48 % of the processors, preempted 1,247 times a second"; empty
  // where each is below its limit: 5 % of the processors' time for other programs, 1 % stolen, 1 % of the time
  // throttled, 20 preemptions a second and 20 in all, the clock down by 5 %.
  std::string text() const;
  bool is_quiet() const { return text().empty(); }
};

// Watches from its construction on.
class DisturbanceWatch {
 public:
  DisturbanceWatch() : before_(machine_counters()) {}
  Disturbance so_far() const { return Disturbance::between(before_, machine_counters()); }

 private:
  MachineCounters before_;
};

struct QuietWait {
  double waited_s = 0;
  Disturbance last;  // in the last window watched
  bool is_quiet() const { return last.is_quiet(); }
  std::string text() const;  // "the machine is quiet, after 3.0 s", or that it is not, and why
};

// Sleeps until the machine was quiet for `window_s` seconds, `most_s` seconds are over, or the wait is interrupted. The
// processors' clock does not count: it falls because this process sleeps.
QuietWait wait_until_quiet(double most_s, const Interrupted& interrupted = {}, double window_s = 1);

}  // namespace rung
