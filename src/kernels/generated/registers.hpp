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
// Three more vectors are temporary. With AVX-512 k0 cannot stand for a mask in an instruction, k6 has the last
// elements, k7 is temporary.
constexpr RegisterFile registers_of(VectorSet set) {
  if (set == VectorSet::avx512) return {.vectors = 29, .first_mask = 1, .masks = 5};
  return {.vectors = 13};
}

// The frame that the bodies of one function share. Values of the row have the first slots, variables the last
// registers: one of each for every vector in flight, so that their chains are independent.
struct Frame {
  int row_values = 0;
  int variables = 0;
  int carried = 0;    // registers of variables, of all vectors in flight
  bool once = false;  // the body is no loop, so it has no preamble but for constants and values of the row
  int register_of(const RegisterFile& file, uint32_t variable, int copy) const {
    return file.vectors - 1 - copy * variables - static_cast<int>(variable);
  }
};

// The steps of a body in the order in which they are emitted. `preamble` holds the steps that are the same for all
// elements, before the loop; their results stay in slots or in registers that the loop leaves alone.
struct Schedule {
  Frame frame;
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
Schedule schedule(const Body& body, const std::vector<bool>& same, const RegisterFile& file, int copies,
                  const Frame& frame = {});
// Returns how many vectors can be in flight, with variables of their own.
int vectors_in_flight(const Body& body, const std::vector<bool>& same, const RegisterFile& file, int variables);

}  // namespace rung::generated
