// A timeline in Chrome's trace format, which Perfetto and chrome://tracing open.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rung {

using TraceArgument = std::variant<double, std::string>;

// An event is something that took time. Events of one thread must nest or be apart.
struct TraceEvent {
  std::string name, category;
  double start_us = 0, duration_us = 0;
  int process = 1, thread = 0;
  std::vector<std::pair<std::string, TraceArgument>> args;  // shown when the event is selected
};

class Trace {
 public:
  void name_process(int process, std::string name);
  void name_thread(int process, int thread, std::string name);
  void add(TraceEvent event) { events_.push_back(std::move(event)); }
  std::string to_json() const;

 private:
  struct Name {
    int process, thread;  // thread -1: the process itself
    std::string name;
  };
  std::vector<Name> names_;
  std::vector<TraceEvent> events_;
};

}  // namespace rung
