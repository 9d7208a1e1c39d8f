// What a session's inputs and outputs are bound to, and what a run copies for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "session/recorder.hpp"

namespace rung {

// Indices are those of plan.inputs and plan.outputs. Where a GPU runs the plan, the caller's host memory, which may not
// be pinned, goes by way of the port's own.
class Ports {
 public:
  // Every input at its default. Both outlive it.
  Ports(const Plan& plan, Recorder& recorder);

  // As session.hpp says.
  Result<std::byte*> own_input(size_t index, Place place);
  Result<std::byte*> own_output(size_t index, Place place);
  Status bind_input(size_t index, Place place, const void* from);
  Status bind_output(size_t index, Place place, void* to);
  Status unbind_input(size_t index);
  Status unbind_output(size_t index);
  // Values of the inputs' types, which were checked; defaults for those left out.
  Status set(const NamedTensors& given);

  // For a run: refuses missing inputs, copies the caller's host memory, and says what is left to copy; nothing may be
  // owed. On an error nothing is to run.
  Result<const RunCopies*> before_run();
  // The values in host memory that the run reads: the copies of the caller's, so that no one changes what was checked.
  Status check_values();
  // The run is enqueued.
  void enqueued();
  // Does it owe the caller's host memory its results?
  bool owes() const { return !owed_.empty(); }
  // The run is over: what is owed is copied if it went well.
  void over(bool well);

  bool leads_to_mask(size_t input);  // remembers the answer

 private:
  enum class From : uint8_t { nothing, fallback, given, own, caller };
  struct In {
    From from = From::nothing;
    Place place = Place::host;      // of own memory or the caller's
    bool default_in_place = false;  // of a fallback: the buffer holds it
    const void* memory = nullptr;   // the caller's
    std::byte* on_host = nullptr;   // the port's own; null: not asked for so far
    std::optional<bool> is_mask;
    bool read_from_host() const { return (from == From::own || from == From::caller) && place == Place::host; }
  };
  enum class To : uint8_t { nowhere, own, caller };
  struct Out {
    To to = To::nowhere;
    Place place = Place::host;
    void* memory = nullptr;
    std::byte* on_host = nullptr;
    bool fills_host() const { return to != To::nowhere && place == Place::host; }
  };
  struct Owed {
    void* to = nullptr;  // the caller's
    const std::byte* from = nullptr;
    size_t bytes = 0;
  };

  Place here(Place place) const { return gpu_ ? place : Place::host; }
  Status check_input(size_t index) const;
  Status check_output(size_t index) const;
  Status fill_own(size_t index, const Tensor& value);
  Status copy_from_caller();
  Status add_copy_in(size_t index);
  Status add_copy_out(size_t index);

  const Plan& plan_;
  Recorder& recorder_;
  const bool gpu_;
  std::vector<In> in_;
  std::vector<Out> out_;
  RunCopies copies_;
  std::vector<Owed> owed_;
};

}  // namespace rung
