// Takes events of JAX's profiler (XLA's) from any of its forms: work on streams, calls, and the host's activity.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

class XlaEvents {
 public:
  struct Piece {
    std::string_view name;
    std::optional<int64_t> start_ns, duration_ns;
    int64_t correlation = 0;
  };
  // Texts into which the profiler packs numbers: "regs:32 grid:1,1,1 block:128,1,1"; empty: none.
  struct Details {
    std::string_view kernel, copy, fill;
  };

  RecordingBuilder& builder() { return builder_; }
  void take_work(const Piece& piece, int64_t device, int64_t stream, const Details& details);
  // Takes a host event; a step is a range that the program numbers.
  void take_host(const Piece& piece, int64_t process, int64_t thread, bool step);
  void skip_derived() { builder_.skip("lines that the profiler derives from others"); }
  int64_t taken() const { return taken_; }

  // Returns 0 for "/device:GPU:0 (pid 1)"; none: another kind of device, or none.
  static std::optional<int64_t> gpu_of(std::string_view plane);
  static bool is_host(std::string_view plane) { return plane.starts_with("/host:CPU"); }
  // Returns 13 for "Stream #13(Compute)", a line of work that is not derived from others.
  static std::optional<int64_t> stream_of(std::string_view line);

 private:
  bool add(const Piece& piece, Event event);
  uint32_t link_of(int64_t correlation);

  RecordingBuilder builder_{"JAX profiler"};
  int64_t taken_ = 0;
};

}  // namespace rung::trace
