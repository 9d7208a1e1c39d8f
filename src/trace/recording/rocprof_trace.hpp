// Turns events of the JSON of `rocprof --hip-trace` into a recording: the names of processes identify rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "trace/recording/chrome_event.hpp"
#include "trace/recording/rocprof_events.hpp"

namespace rung::trace {

class RocprofTrace {
 public:
  void expect(size_t events) { events_.builder().expect(events); }
  void take(const ChromeEvent& event);
  void take_devices(std::string_view) {}
  // Errors: there are events, but no known lists.
  Result<Recording> finish();

 private:
  enum class Row : uint8_t { kernels, copies, calls, hsa, ranges, other };
  struct Process {
    Row row = Row::other;
    int64_t device = 0;
  };
  // The place of the builder's event or an arrow's end, in microseconds of the file's own clock.
  struct Point {
    int64_t row = 0, thread = 0, us = 0, until_us = 0;
    size_t event = 0;
  };
  struct Arrow {
    Point from, to;
    bool begun = false, ended = false;
  };
  static Process process_of(std::string_view name);
  void take_name(const ChromeEvent& event);
  void take_whole(const ChromeEvent& event);
  void take_arrow(const ChromeEvent& event, bool begins);
  bool keep(const ChromeEvent& event, const Process& process);
  using Points = std::map<std::pair<int64_t, int64_t>, std::vector<Point>>;  // by row and thread, in order
  static Points in_order(const std::vector<Point>& points, bool by_thread);
  const Point* work_at(const std::vector<Point>& row, int64_t us);
  void link();

  RocprofEvents events_;
  std::unordered_map<int64_t, Process> processes_;  // by the row's number
  std::vector<Point> calls_, work_;
  std::map<int64_t, Arrow> arrows_;  // by id
  int64_t taken_ = 0, known_ = 0;
};

}  // namespace rung::trace
