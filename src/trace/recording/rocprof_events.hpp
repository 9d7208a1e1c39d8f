// The events of rocprof (v1) of HIP, in whichever form they are written: kernels, copies, calls and ranges.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

class RocprofEvents {
 public:
  struct Times {
    std::optional<int64_t> begin_ns, end_ns;
  };
  // Where work ran. No stream: its queue; neither: one for all.
  struct Place {
    std::optional<int64_t> device, queue, stream;
  };
  struct Thread {
    int64_t process = 0, thread = 0;
  };
  RecordingBuilder& builder() { return builder_; }

  // Each false, and counted, where the event is not kept. What is kept is the builder's last event.
  bool take_kernel(const Times& times, const Place& place, std::string_view name, uint32_t link = 0);
  bool take_copy(const Times& times, const Place& place, std::string_view name, uint32_t link = 0);
  bool take_call(const Times& times, const Thread& thread, std::string_view name, uint32_t link = 0);
  bool take_range(const Times& times, const Thread& thread, std::string_view name);

 private:
  bool add(Event event, const Times& times, std::string_view name);
  uint16_t lane_of(const Place& place);

  RecordingBuilder builder_{"rocprof"};
};

}  // namespace rung::trace
