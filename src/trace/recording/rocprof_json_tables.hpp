// Facts that rocprofv3's JSON stores once for many records: agents, kernels, names of operations, texts of ranges.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/recording/recording_builder.hpp"

namespace rung::trace {

// The tables of one process. Entries beyond a limit are not found; each is counted once.
class RocprofTables {
 public:
  struct Agent {
    uint64_t handle = 0;
    int64_t node = 0;  // among the agents of the machine
    bool gpu = false;
  };
  struct Kernel {
    uint32_t name = 0;  // in the builder's pool
    uint32_t registers = 0;
  };
  // A kind of record: its domain and the names of its operations, with their numbers in the pool once requested.
  struct Kind {
    std::string domain;
    std::vector<std::pair<std::string, uint32_t>> operations;
  };

  explicit RocprofTables(RecordingBuilder& builder) : builder_(builder) {}

  // Take an element of "agents", "kernel_symbols", strings' "buffer_records" and strings' "marker_api".
  void take_agent(std::string_view json);
  void take_kernel(std::string_view json);
  void take_kind(std::string_view json);
  void take_message(std::string_view json);

  const Agent* agent(uint64_t handle) const;
  // Returns a kernel; one without a symbol is named "kernel 17".
  Kernel kernel(uint64_t id);
  std::string_view domain(uint64_t kind) const;
  // Returns the number of the operation's name in the pool; 0: unknown.
  uint32_t operation(uint64_t kind, uint64_t number);
  std::string_view operation_text(uint64_t kind, uint64_t number) const;
  // Returns the number of a range's text; 0: none.
  uint32_t message(uint64_t correlation) const;

 private:
  RecordingBuilder& builder_;
  std::vector<Agent> agents_;
  std::unordered_map<uint64_t, Kernel> kernels_;
  std::vector<Kind> kinds_;
  size_t operations_ = 0;
  std::unordered_map<uint64_t, uint32_t> messages_;
};

}  // namespace rung::trace
