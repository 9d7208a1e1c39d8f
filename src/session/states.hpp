// The states of a set of plans: memory that outlives runs, shared by the plans that name it, and which of it holds a
// value.
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
  // Memory on the plans' device, with initial values. Errors: no memory, naming the amount; the device failed.
  static Result<std::shared_ptr<States>> make(const PlanSet& plans);

  // Where a plan's buffer lies, in host memory or on the device; 0: it is no state's.
  gpu::Address address(const Plan& plan, uint32_t buffer) const;
  // Initial values again; a state without one holds nothing.
  Status reset();

  // Before a run: does every state that the plan reads hold a value? Errors (mismatch) name the one that does not.
  Status check_readable(const Plan& plan) const;
  // After a run: the states that the plan writes hold a value if the run went well, and nothing if it failed.
  void ran(const Plan& plan, bool well);
  // A copy of the value. Errors: no such state, or one that holds nothing (mismatch).
  Result<Tensor> value(std::string_view name) const;

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
  std::unique_ptr<gpu::Queue> queue_;  // of a GPU, where there are states
  std::map<std::string_view, Held> held_;
  std::map<const Plan*, Uses> uses_;
};

}  // namespace rung
