// Turns events of a Perfetto trace of rocprofv3 or rocprof-sys into a recording.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "trace/recording/inner_calls.hpp"
#include "trace/recording/link_numbers.hpp"
#include "trace/recording/perfetto_event.hpp"
#include "trace/recording/perfetto_lanes.hpp"
#include "trace/recording/perfetto_pairs.hpp"
#include "trace/recording/perfetto_tracks.hpp"
#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

class PerfettoRecorder {
 public:
  // The sequence, process and time of an event's packet.
  struct Stamp {
    uint32_t sequence = 0;
    int64_t process = 0;  // its writer's
    std::optional<int64_t> time_ns;
  };

  PerfettoRecorder() : builder_("rocprofv3"), lanes_(builder_) {}
  RecordingBuilder& builder() { return builder_; }
  PerfettoTracks& tracks() { return tracks_; }
  void take(const PerfettoEvent& event, const Stamp& stamp);
  // Called when packets of the sequence were lost.
  void lose(uint32_t sequence);
  // Errors: there are events, but none of a known tool.
  Result<Recording> finish();

 private:
  void take_begin(const PerfettoEvent& event, const Stamp& stamp);
  void keep(const PerfettoPairs::Slice& slice);
  PerfettoMeaning meaning_of(const PerfettoEvent& event) const;
  PerfettoPairs::Slice slice_of(const PerfettoEvent& event, const Stamp& stamp);
  uint32_t link_of(const PerfettoEvent& event, const Stamp& stamp);
  uint32_t launch_of(const PerfettoEvent& event);

  RecordingBuilder builder_;
  PerfettoTracks tracks_;
  PerfettoLanes lanes_;
  PerfettoPairs pairs_;
  LinkNumbers links_;
  InnerCalls inner_;
  int64_t events_ = 0;
  std::array<int64_t, 2> of_tool_{};  // events, by PerfettoTool
};

}  // namespace rung::trace
