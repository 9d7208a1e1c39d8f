// What tests of findings share: programs of three steps, and the finding of one kind in them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "support/scripted_recording.hpp"
#include "trace/findings/all_findings.hpp"
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

// The finding of one kind in a recording, which it keeps.
class Found {
 public:
  using Find = std::optional<TraceFinding> (*)(const Analysis&);
  Found(Find find, Recording recording) : recording_(std::move(recording)), finding_(find(analyse(recording_))) {}

  explicit operator bool() const { return finding_.has_value(); }
  const TraceFinding* operator->() const { return &*finding_; }
  const TraceFinding& operator*() const { return *finding_; }

 private:
  Recording recording_;
  std::optional<TraceFinding> finding_;
};

}  // namespace rung::trace
