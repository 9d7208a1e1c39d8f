// The GPUs of a Nsight Systems database: a process numbers its visible ones from 0; the machine has a number for each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/status.hpp"
#include "trace/recording/recording_builder.hpp"
#include "trace/recording/sqlite_file.hpp"

namespace rung::trace {

class NsysDevices {
 public:
  // Errors: the database's.
  Status read(SqliteFile& file);
  int64_t number_of(int64_t process, int64_t device) const;
  void name(RecordingBuilder& builder) const;

 private:
  std::map<std::pair<int64_t, int64_t>, int64_t> of_processes_;
  std::map<int64_t, std::string> names_;
};

}  // namespace rung::trace
