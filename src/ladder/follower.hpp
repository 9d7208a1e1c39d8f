// Judges answers of a graph that rounds to integers of 8 bits from one rounding to the next.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/interrupted.hpp"
#include "ladder/condition.hpp"
#include "ladder/roundings.hpp"

namespace rung {

// The bytes of a plan beside those of a reference that goes on from the plan's own bytes each time.
struct Followed {
  size_t roundings = 0;  // tensors
  size_t bytes = 0;      // their elements
  size_t beside = 0;     // of these, a step beside the reference's, where rounding in f32 may have crossed a tie
};

// Two right plans round a value beside a tie differently. What follows makes much of a step, so that their answers may
// have little in common, and no tolerance tells them from wrong ones. But each plan goes one way, rounding by rounding,
// and every stretch of it is a graph that rounds nothing: given the bytes that the plan made before, the reference says
// what the next ones are, or which two where a tie is within the tolerance of an f32 value. If all of a plan's bytes
// are so, and its answers agree with the reference's from its last bytes, its answers are those of a right plan.
//
// The tolerance of a value is that of tolerance_for(), with the longest path since the roundings before, and with the
// sway of the reference from its own bytes, where that path explains too little: a plan has no part in either.
class Follower {
 public:
  // Errors: the graph rounds nothing, rounds in a way that is not followed, or has states. `inputs` of a run each.
  static Result<Follower> create(const Graph& reference, std::vector<NamedTensors> inputs, Interrupted interrupted);

  // Returns a graph of the model whose outputs are its own, then the bytes of every rounding. Errors: its roundings are
  // not those of the reference.
  Result<Graph> with_bytes(const Graph& model) const;

  // Returns the bytes among the outputs of a plan of that graph. Errors: there are none.
  Result<std::vector<Tensor>> bytes_in(const std::vector<std::pair<std::string, Tensor>>& outputs) const;

  struct Way {
    Followed followed;
    std::string wrong;            // why a byte cannot be right; empty: all are
    std::vector<Tensor> outputs;  // the reference's from the plan's bytes
  };
  // Follows a run on the i-th inputs, of whose roundings these are the bytes. Errors: an op's; interrupted.
  Result<Way> follow(size_t input, const std::vector<Tensor>& bytes);
  // Returns how far the outputs of follow() may be from the plan's.
  Tolerance tolerance_of_outputs() const;
  // Measures how far rounding alone moves the values of each rounding, and the outputs, from given bytes.
  Status measure_sways();
  bool has_sways() const { return !sways_.empty(); }

 private:
  struct Visit;
  class Evaluation;
  Follower(const Graph& reference, std::vector<NamedTensors> inputs, Interrupted interrupted)
      : reference_(&reference), inputs_(std::move(inputs)), interrupted_(std::move(interrupted)) {}
  Tolerance tolerance_of(size_t rounding) const;
  Result<std::string> check(const Visit& visit, const Tensor& got, Followed& followed) const;
  std::string explained(size_t rounding) const;
  Result<Way> follow_within(size_t input, const std::vector<Tensor>& bytes) const;
  Result<std::vector<Sway>> sways_on(const NamedTensors& inputs) const;

  const Graph* reference_;
  std::vector<NamedTensors> inputs_;
  Interrupted interrupted_;
  std::vector<Rounding> roundings_;
  std::vector<Tolerance> by_length_;  // by rounding, then that of the outputs
  std::vector<Sway> sways_;           // alike; empty: not measured
};

}  // namespace rung
