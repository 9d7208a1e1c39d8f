// The memory that a session's inputs and outputs are bound to, and the copies that a run makes for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "session/recorder.hpp"

namespace rung {

// Indices are those of plan.inputs and plan.outputs. Where a GPU runs the plan, the caller's host memory goes by way of
// the port's own, but for what is said to be pinned.
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

  // For a run: refuses missing inputs, makes sure that the caller's host memory may be copied, and says what the run is
  // to copy; on a processor, all that is done. Nothing may be owed. On an error nothing is to run.
  Result<const RunCopies*> before_run();
  // The values in host memory that the run reads: what is staged where it is staged, so that no one changes what was
  // checked.
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
    // Its values in host memory, which the run's copies read; null: there are none.
    const std::byte* values() const {
      const bool runs_read = from == From::own || from == From::caller;
      if (!runs_read || place == Place::device) return nullptr;
      return place == Place::pinned ? static_cast<const std::byte*>(memory) : on_host;
    }
    bool is_staged() const { return from == From::caller && place == Place::host; }
  };
  enum class To : uint8_t { nowhere, own, caller };
  struct Out {
    To to = To::nowhere;
    Place place = Place::host;
    void* memory = nullptr;
    std::byte* on_host = nullptr;
    bool fills_own() const { return to != To::nowhere && place == Place::host; }
  };
  struct Owed {
    void* to = nullptr;  // the caller's
    const std::byte* from = nullptr;
    size_t bytes = 0;
  };

  Place here(Place place) const { return gpu_ ? place : Place::host; }
  Place of_own(Place place) const { return gpu_ && place == Place::device ? place : Place::host; }
  Status check_input(size_t index) const;
  Status check_output(size_t index) const;
  Status fill_own(size_t index, const Tensor* value);
  Status take_from_caller();
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
