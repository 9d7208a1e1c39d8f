// Turns rows of AMD's CSV files into a recording. The files of a process are read one after another: calls before the
// work that they start.
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

  // Starts another process, with its own correlations, for the rows read from now on.
  void next_process();
  // Errors: those of AmdTable.
  Status read(const std::string& path);
  // Reads calls that lie within calls read before.
  Status read_inner(const std::string& path);
  // Returns whether there was a list with times, even an empty one.
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
  std::optional<OuterCalls> outer_;  // set while inner calls are read
  bool any_timed_ = false;
  std::vector<Agent> agents_;
  std::vector<int64_t> far_devices_;  // numbers too large for a recording, in order of appearance
  bool gpus_counted_ = false;         // kernels name their agent "GPU 0", not its node
};

}  // namespace rung::trace
