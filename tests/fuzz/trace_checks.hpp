// What holds of every reader of traces, whatever it reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "seeds.hpp"
#include "trace/recording/reader.hpp"
#include "trace/recording/recording.hpp"
#include "trace/recording/recording_builder.hpp"

namespace rung {

// A folder for one input after another, which goes with the program: in memory where the machine has a place for that.
class InputFolder {
 public:
  InputFolder() {
    const char* memory = "/dev/shm";
    const auto root =
        std::filesystem::is_directory(memory) ? std::filesystem::path(memory) : std::filesystem::temp_directory_path();
    path_ = root / ("rung_fuzz_" + std::to_string(getpid()));
    std::filesystem::create_directories(path_);
  }
  ~InputFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  InputFolder(const InputFolder&) = delete;
  InputFolder& operator=(const InputFolder&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

inline const InputFolder& folder() {
  static const InputFolder made;
  return made;
}

inline void check_event(const trace::Recording& r, const trace::Event& event) {
  using trace::EventKind;
  require(event.start_ns >= 0 && event.duration_ns >= 0 && event.duration_ns <= trace::kLongestNs, "times are sane");
  require(event.name < r.strings.size(), "a name is in the pool");
  require(event.lane < r.lanes.size(), "a lane is in the table");
  require(r.lanes[event.lane].on_device == trace::is_on_device(event.kind), "device work is on a device");
  const size_t details = event.kind == EventKind::kernel    ? r.launches.size()
                         : event.kind == EventKind::copy    ? r.copies.size()
                         : event.kind == EventKind::host_op ? r.operands.size()
                                                            : 1;
  require(event.detail < details, "a detail is in its table");
}

inline void check_recording(const Result<trace::Recording>& result) {
  if (!result) {
    const std::string& message = result.error().message;
    require(!message.empty() && message.size() < 1000, "an error is told, and short");
    require(std::all_of(message.begin(), message.end(), [](char c) { return static_cast<unsigned char>(c) >= ' '; }),
            "an error is one line");
    return;
  }
  for (const trace::Event& event : result->events) check_event(*result, event);
  require(std::is_sorted(result->events.begin(), result->events.end(),
                         [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; }),
          "events are in order");
  for (const auto& [reason, count] : result->skipped) require(!reason.empty() && count > 0, "skips are counted");
}

// What a reader makes of an input that is one file.
inline void check_reader(const trace::TraceReader& reader, const std::string& file, std::string_view input) {
  check_recording(reader.read(folder().write(file, input)));
}

}  // namespace rung
