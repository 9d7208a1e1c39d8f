// The states of a set of plans: memory that outlives runs, shared by the plans that name it, and a note whether each
// state holds a value.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <string>

#include "device/gpu/gpu.hpp"
#include "device/gpu/queue.hpp"
#include "plan/plan_set.hpp"
#include "plan/state_use.hpp"

namespace rung {

class States {
 public:
  // Makes the states on the plans' device, with initial values. Errors: no memory, naming the amount; the device
  // failed.
  static Result<std::shared_ptr<States>> make(const PlanSet& plans);

  // Returns the address of a plan's buffer, in host memory or on the device; 0: the buffer holds no state.
  gpu::Address address(const Plan& plan, uint32_t buffer) const;
  // Restores the initial values; a state without one holds nothing.
  Status reset();

  // Copies the values of the states of a set of the same plans. Errors: the device failed.
  Status copy(const States& from);

  // Called before a run: checks that each state the plan reads holds a value. Errors (mismatch) name one that does not.
  Status check_readable(const Plan& plan) const;
  // Called after a run: the states that the plan writes hold a value if the run succeeded, and nothing if it failed.
  void ran(const Plan& plan, bool well);
  // Gives a state another value. Errors: no such state, another type (mismatch); the device failed.
  Status set(std::string_view name, const Tensor& value);
  // Returns a copy of the value. Errors: no such state, or one that holds nothing (mismatch).
  Result<Tensor> value(std::string_view name) const;
  // Returns copies of all values that there are, by name. Errors: the device failed.
  Result<NamedTensors> values() const;

 private:
  struct Held {
    const PlanState* state = nullptr;
    std::shared_ptr<std::byte> host;     // on a processor
    std::shared_ptr<gpu::Block> device;  // on a GPU
    bool has_value = false;
  };
  using Uses = std::map<std::string_view, StateUse>;  // by state

  explicit States(PlanSet plans) : plans_(std::move(plans)) {}
  Status add(const PlanState& state);
  Status fill(Held& held);

  PlanSet plans_;
  std::unique_ptr<gpu::Queue> queue_;  // on a GPU, if there are states
  std::map<std::string_view, Held> held_;
  std::map<const Plan*, Uses> uses_;
};

}  // namespace rung
