// The memory to which a session's inputs and outputs are bound, and the copies that a run makes for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "ir/finite.hpp"
#include "plan/plan.hpp"
#include "session/recorder.hpp"

namespace rung {

// Indices are those of plan.inputs and plan.outputs. If a GPU runs the plan, the caller's host memory is copied through
// the port's own memory, unless it is said to be pinned.
class Ports {
 public:
  // Sets every input to its default. The plan and the recorder outlive the ports.
  Ports(const Plan& plan, Recorder& recorder);

  // These functions are documented in session.hpp.
  Result<std::byte*> own_input(size_t index, Place place);
  Result<std::byte*> own_output(size_t index, Place place);
  Status bind_input(size_t index, Place place, const void* from);
  Status bind_output(size_t index, Place place, void* to);
  Status unbind_input(size_t index);
  Status unbind_output(size_t index);
  // Sets checked values of the inputs' types, and defaults for inputs not given.
  Status set(const NamedTensors& given);

  // Prepares a run: refuses missing inputs, waits until the caller's host memory may be copied, and returns the run's
  // copies; on a CPU it makes these copies itself. Nothing may be owed. After an error the caller must not start a run.
  Result<const RunCopies*> before_run();
  // Checks the host values that the run reads. It checks staged values in their staging memory, so that no one changes
  // them after the check.
  Status check_values();
  // Called when the run is enqueued.
  void enqueued();
  // Returns whether results are still owed to the caller's host memory.
  bool owes() const { return !owed_.empty(); }
  // Called when the run is over: copies owed results if it succeeded.
  void over(bool well);

  Tolerates tolerated(size_t input);  // remembers the answer

 private:
  enum class From : uint8_t { nothing, fallback, given, own, caller };
  struct In {
    From from = From::nothing;
    Place place = Place::host;      // of own memory or the caller's
    bool default_in_place = false;  // of a fallback: the buffer already holds it
    const void* memory = nullptr;   // the caller's
    std::byte* on_host = nullptr;   // the port's own; null: not requested so far
    std::optional<Tolerates> tolerates;
    // Returns the values in host memory that the run's copies read; null: none.
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
