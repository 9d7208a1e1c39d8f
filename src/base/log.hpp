// The library's log: it never prints by itself; the command line says where its lines go.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace rung {

// Levels: 0 notices a person must see, 1 device and totals, 2 per-step time and bytes, a climb's attempts and
// comparisons, 3 passes and verdicts, 4 graph text, 5 kernel choices and addresses.
using LogSink = std::function<void(int level, std::string_view line)>;
void set_log_sink(LogSink sink, int level);
bool log_enabled(int level);
void log_line(int level, std::string_view line);

template <class... Args>
void log(int level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace rung
