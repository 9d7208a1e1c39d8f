// Turns records of rocprofv3's JSON into a recording, one process after another.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "trace/recording/inner_calls.hpp"
#include "trace/recording/link_numbers.hpp"
#include "trace/recording/recording_builder.hpp"
#include "trace/recording/rocprof_json_record.hpp"
#include "trace/recording/rocprof_json_tables.hpp"

namespace rung::trace {

class RocprofJsonRecorder {
 public:
  RocprofJsonRecorder() : builder_("rocprofv3") { tables_.emplace(builder_); }
  void expect(size_t events) { builder_.expect(events); }

  // Starts a process, which has its own tables and correlations.
  void begin_process();
  void end_process() { inner_.link(builder_, first_of_process_); }
  RocprofTables& tables() { return *tables_; }
  void take_metadata(std::string_view json);

  // Begins a list of "buffer_records", until the next such call. True: take its records; false: skip them.
  bool begin_records(std::string_view list);
  void take(const RocprofRecord& record) { (this->*list_->take)(record); }
  void skip_record() { builder_.skip(list_->left_out_as); }
  void skip_counter() { builder_.skip("counters"); }
  // Errors: there is no list with times.
  Result<Recording> finish();

 private:
  using Take = void (RocprofJsonRecorder::*)(const RocprofRecord&);
  struct List {
    std::string_view name;
    Take take;
    std::string_view left_out_as;  // if nothing takes its records
  };
  static const List& list_of(std::string_view name);

  void take_kernel(const RocprofRecord& record);
  void take_copy(const RocprofRecord& record);
  void take_call(const RocprofRecord& record);
  bool set_times(const RocprofRecord& record, Event& event);
  bool set_lane(const RocprofTables::Agent* agent, const RocprofRecord& record, Event& event);
  uint32_t link_of(const RocprofRecord& record);
  uint32_t launch_of(const RocprofRecord& record, uint32_t registers);

  RecordingBuilder builder_;
  std::optional<RocprofTables> tables_;
  LinkNumbers links_;
  int64_t process_ = 0, pid_ = 0;
  size_t first_of_process_ = 0;  // among the builder's events
  const List* list_ = nullptr;
  InnerCalls inner_;
  bool any_timed_ = false;
};

}  // namespace rung::trace
