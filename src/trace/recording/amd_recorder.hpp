// Rows of AMD's CSV files -> a recording. The files of one process are read one after another: calls before the work
// that they start.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "trace/recording/amd_table.hpp"
#include "trace/recording/link_numbers.hpp"
#include "trace/recording/outer_calls.hpp"
#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

class AmdRecorder {
 public:
  explicit AmdRecorder(std::string format) : builder_(std::move(format)) {}

  // Rows that are read from now on are of another process, whose correlations are its own.
  void next_process();
  // Errors: those of AmdTable.
  Status read(const std::string& path);
  // Calls within calls that were read before.
  Status read_inner(const std::string& path);
  // Was there a list with times, be it empty?
  bool any_timed() const { return any_timed_; }
  Recording finish();

 private:
  void take(const AmdTable& table);
  void take_kernel(const AmdTable& table);
  void take_copy(const AmdTable& table);
  void take_call(const AmdTable& table);
  void take_agent(const AmdTable& table);
  bool set_times(const AmdTable& table, Event& event);
  void add_dispatch(const AmdTable& table, Event& kernel);
  uint32_t launch_of(const AmdTable& table);
  std::optional<int64_t> device_of(std::string_view agent);

  struct Agent {
    int64_t node, gpu;  // gpu: counted among the GPUs of its file
    std::string name;
  };
  RecordingBuilder builder_;
  LinkNumbers links_;
  int64_t process_ = 0, dispatches_ = 0;
  size_t first_of_process_ = 0;      // among the builder's events
  std::optional<OuterCalls> outer_;  // while inner calls are read
  bool any_timed_ = false;
  std::vector<Agent> agents_;
  std::vector<int64_t> far_devices_;  // numbers too great for a recording, in the order in which they came
  bool gpus_counted_ = false;         // kernels name their agent "GPU 0", not by its node
};

}  // namespace rung::trace
