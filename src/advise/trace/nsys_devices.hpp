// The GPUs of a Nsight Systems database: a process numbers those that it sees from 0, the machine has one number each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "advise/trace/recording_builder.hpp"
#include "advise/trace/sqlite_file.hpp"
#include "base/status.hpp"

namespace rung::advise {

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

}  // namespace rung::advise
