// Gives every value of a body a place: a register over its live range, or a slot on the stack.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/generated/primitives.hpp"

namespace rung::generated {

struct Place {
  enum class Kind : uint8_t { none, constant, slot, vector_register, mask_register };
  Kind kind = Kind::none;
  int index = 0;
};

// One step for one of the vectors in flight.
struct Placed {
  int step = 0, copy = 0;
};

// The registers that values may have: vectors from 0 on, masks from `first_mask` on.
struct RegisterFile {
  int vectors = 0;
  int first_mask = 0, masks = 0;  // masks 0: masks are vectors
};

// The steps of a body in the order in which they are emitted. `preamble` holds the steps that are the same for all
// elements, before the loop; their results stay in slots or in registers that the loop leaves alone.
struct Schedule {
  int copies = 1;
  std::vector<Placed> preamble, loop;
  std::vector<std::vector<Place>> places;  // by copy, then by step
  int slots = 0;
  std::vector<uint32_t> constants;  // by the index of their place
  struct Kept {
    int constant = 0, reg = 0;
  };
  std::vector<Kept> kept;  // constants that registers hold, too
  const Place& place(int step, int copy) const { return places[static_cast<size_t>(copy)][static_cast<size_t>(step)]; }
};

// `same`: by operand, whether it has one value for all elements of a call. With as many vectors in flight as fit.
Schedule schedule(const Body& body, const std::vector<bool>& same, const RegisterFile& file);
// The schedule with `copies` vectors in flight.
Schedule schedule(const Body& body, const std::vector<bool>& same, const RegisterFile& file, int copies);

}  // namespace rung::generated
