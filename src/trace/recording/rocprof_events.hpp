// Takes HIP events of rocprof (v1) from any of its forms: kernels, copies, calls and ranges.
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
  // The place where work ran. Without a stream its queue counts; without both, one place for all.
  struct Place {
    std::optional<int64_t> device, queue, stream;
  };
  struct Thread {
    int64_t process = 0, thread = 0;
  };
  RecordingBuilder& builder() { return builder_; }

  // Each returns false, and counts the event, if it is not kept. A kept event is the builder's last one.
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
