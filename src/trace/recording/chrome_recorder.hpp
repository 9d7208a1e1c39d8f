// Interprets events of Chrome traces: PyTorch's profiler (Kineto) by its categories, rung's own profile by its
// arguments.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "trace/recording/chrome_devices.hpp"
#include "trace/recording/chrome_event.hpp"
#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

class ChromeRecorder {
 public:
  ChromeRecorder() : builder_("PyTorch profiler") {}
  void expect(size_t events) { builder_.expect(events); }

  void take(const ChromeEvent& event);
  // Takes the member "deviceProperties": [{"id": 0, "name": "NVIDIA H200", ...}].
  void take_devices(std::string_view json);
  // Errors: there are events, but none of a known profiler.
  Result<Recording> finish();

 private:
  // The kind of event that it becomes. Without a kind it is left out, for the given reason.
  struct Meaning {
    std::optional<EventKind> kind;
    std::string_view left_out_as;
    bool of_rung = false;
  };
  static Meaning meaning_of(const ChromeEvent& event);

  void take_whole(const ChromeEvent& event);
  void take_begin(const ChromeEvent& event);
  void take_end(const ChromeEvent& event);
  void take_thread_name(const ChromeEvent& event);
  void keep(const Event& event, const Meaning& meaning);
  Event event_of(const ChromeEvent& event, const Meaning& meaning);
  uint16_t lane_of(const ChromeEvent& event, const Meaning& meaning);
  uint32_t link_of(const ChromeEvent& event);
  uint32_t detail_of(const ChromeEvent& event, EventKind kind);
  OperandTexts operands_of(const ChromeEvent& event);
  uint32_t text_of(std::string_view json);
  int64_t number_of(std::string_view json);
  void name_lanes();

  struct Begun {
    Event event;
    Meaning meaning;
  };
  using Thread = std::pair<int64_t, int64_t>;  // process and thread
  struct ThreadHash {
    size_t operator()(const Thread& thread) const;
  };
  Thread thread_of(const ChromeEvent& event) {
    return {number_of(event[Field::process]), number_of(event[Field::thread])};
  }

  RecordingBuilder builder_;
  ChromeDevices devices_;
  std::unordered_map<Thread, std::vector<Begun>, ThreadHash> begun_;  // not ended yet
  size_t begun_count_ = 0;
  std::unordered_map<int64_t, uint32_t> far_links_;  // links of correlations above 2^31, from the greatest number down
  std::unordered_map<Thread, std::string, ThreadHash> thread_names_, stream_names_;
  int64_t events_ = 0, of_pytorch_ = 0, of_rung_ = 0;
};

}  // namespace rung::trace
