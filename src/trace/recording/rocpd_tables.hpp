// Facts that a database of rocprofv3 (rocpd) stores once for many rows: agents, kernels, threads, and the events that
// rows refer to.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "trace/recording/amd_domains.hpp"
#include "trace/recording/link_numbers.hpp"
#include "trace/recording/recording_builder.hpp"
#include "trace/recording/sqlite_file.hpp"

namespace rung::trace {

// Calls `take` for each row; a missing table has no rows. Errors: the database's.
Status for_each_row(SqliteFile& file, const std::string& table, std::span<const std::string_view> columns,
                    const std::function<void(const SqliteRows&)>& take);

// The tables of one process, whose names have a common ending.
class RocpdTables {
 public:
  struct Agent {
    int64_t number = -1;  // among the agents of the machine
    bool gpu = false;
  };
  struct Kernel {
    uint32_t name = 0;  // in the builder's pool
    uint32_t registers = 0;
  };
  struct Event {
    int64_t id = 0;
    uint32_t link = 0;
    uint32_t message = 0;  // of a range; in the builder's pool
    const DomainRule* domain = nullptr;
  };
  // Converts correlations to the numbers of one process.
  struct Links {
    LinkNumbers& numbers;
    int64_t process;
  };

  Status read(SqliteFile& file, const std::string& ending, RecordingBuilder& builder, const Links& links);

  // Returns the agent; unknown fields keep their defaults.
  Agent agent(int64_t id) const;
  Kernel kernel(int64_t id) const;
  Event event(int64_t id) const;
  // Return the operating system's numbers.
  int64_t process(int64_t id) const;
  int64_t thread(int64_t id) const;

 private:
  Status read_numbers(SqliteFile& file, const std::string& ending);
  void take_agent(const SqliteRows& rows, RecordingBuilder& builder);
  void take_kernel(const SqliteRows& rows, RecordingBuilder& builder);
  void take_event(const SqliteRows& rows, RecordingBuilder& builder, const Links& links);

  std::unordered_map<int64_t, Agent> agents_;
  std::unordered_map<int64_t, Kernel> kernels_;
  std::unordered_map<int64_t, int64_t> processes_, threads_;
  std::unordered_map<int64_t, const DomainRule*> domains_;  // by the string's number
  std::vector<Event> events_;                               // by id
};

}  // namespace rung::trace
