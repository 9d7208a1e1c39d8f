// What tests of detectors share: programs of three steps, and the finding of one kind in them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "support/scripted_recording.hpp"
#include "trace/findings/detector.hpp"
#include "trace/findings/evidence.hpp"

namespace rung::trace {

inline constexpr int kSteps = 3;

// The program that does `step` three times, as PyTorch's profiler records it: after each step the host waits.
template <class Step>
Recording recorded_steps(const Step& step, std::string_view device = "Test GPU") {
  ScriptedRecording script;
  script.on(device);
  for (int i = 1; i <= kSteps; ++i) {
    script.range("ProfilerStep#" + std::to_string(i), [&] {
      step(script);
      script.synchronize("cudaDeviceSynchronize");
    });
    script.host(10);
  }
  return script.finish();
}

// What a detector finds in a recording, which it keeps.
class Found {
 public:
  using Detector = std::optional<Advice> (*)(const Analysis&);
  Found(Detector detector, Recording recording)
      : recording_(std::move(recording)), advice_(detector(analyse(recording_))) {}

  explicit operator bool() const { return advice_.has_value(); }
  const Advice* operator->() const { return &*advice_; }
  const Advice& operator*() const { return *advice_; }

 private:
  Recording recording_;
  std::optional<Advice> advice_;
};

}  // namespace rung::trace
