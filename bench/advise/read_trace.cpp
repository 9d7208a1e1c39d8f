// Reads a trace, and tells what it takes: the part of `rung advise` that grows with the file.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>

#include "trace/recording/read.hpp"

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} TRACE\n", argv[0]);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto recording = rung::trace::read_recording(argv[1]);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (!recording) {
    fmt::print(stderr, "{}\n", recording.error().message);
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double megabytes = static_cast<double>(std::filesystem::file_size(argv[1])) / 1e6;
  fmt::print("{}: {} events, {} texts, {:.2f} s, {:.0f} MB/s, user {:.2f} s, system {:.2f} s, peak {:.0f} MB\n",
             recording->format, recording->events.size(), recording->strings.size(), wall.count(),
             megabytes / wall.count(), seconds(usage.ru_utime), seconds(usage.ru_stime),
             static_cast<double>(usage.ru_maxrss) * 1024e-6);
  for (const auto& [reason, events] : recording->skipped) fmt::print("  {}: {}\n", reason, events);
  return 0;
}
