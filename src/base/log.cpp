// Keeps the destination of the log's lines, for the whole process.
// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <atomic>
#include <mutex>

namespace rung {
namespace {

std::atomic<int> current_level{0};
std::mutex sink_mutex;
LogSink& sink() {
  static LogSink instance;
  return instance;
}

}  // namespace

void set_log_sink(LogSink new_sink, int level) {
  std::lock_guard lock(sink_mutex);
  sink() = std::move(new_sink);
  current_level = level;
}
bool log_enabled(int level) { return level <= current_level.load(std::memory_order_relaxed); }
void log_line(int level, std::string_view line) {
  std::lock_guard lock(sink_mutex);
  if (sink()) sink()(level, line);
}

}  // namespace rung
