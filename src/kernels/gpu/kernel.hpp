// A call of a GPU kernel row, and the table of all GPU rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/queue.hpp"
#include "ir/fault.hpp"
#include "kernels/kernel.hpp"

namespace rung::gpu {

// The arguments of enqueue(): device addresses, and the queue into whose stream its launches go, with the device's
// context current. A launch must not synchronise, allocate or touch the host: the same call is recorded into a graph.
struct Call {
  const Problem& problem;
  const Address* inputs;  // by operand, at multiples of Kernel::alignment; a packed one points to the result of pack()
  Address output;         // at a multiple of kBufferAlignment; results_of(problem) gives each result's place in it
  Address scratch;        // scratch_bytes() at a multiple of kBufferAlignment; contents undefined
  const void* state;      // the result of prepare()
  Address fault;          // of a Fault, which is set if operands' values cannot be used
  Queue& queue;
  Gpu& gpu = queue.gpu();
  Stream stream = queue.stream();

  // Launches `function` of `module` with one argument, a plain struct passed by value. Errors: an empty `function`,
  // which stands for a variant that is not compiled.
  template <class Arguments>
  Status launch(std::string_view module, std::string_view function, const Launch& shape,
                const Arguments& arguments) const {
    void* parameters[] = {const_cast<Arguments*>(&arguments)};
    return launch_raw(module, function, shape, parameters);
  }
  // Returns the error for a problem for which `module` has no compiled variant.
  Status no_kernel(std::string_view module) const;
  Status launch_raw(std::string_view module, std::string_view function, const Launch& shape, void** parameters) const;
};

// Puts the row's launches into the call's stream; there is no other way to call a row. Errors: an address without the
// alignment that the row or the call needs; the row's own errors.
Status enqueue(const Kernel& kernel, const Call& call);

// Puts the one launch of these calls of the row into their stream, which Joining::count() allows. Errors: as above.
Status enqueue_joined(const Kernel& kernel, std::span<const Call> calls, Address barriers, uint32_t beside);

std::span<const Kernel* const> all_kernels();

}  // namespace rung::gpu
