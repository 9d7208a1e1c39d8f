// The solver of the precision rung: one option for each part of a model, so that the parts together take the least time
// within a stated error. Pure arithmetic over tables; it knows no model and no device.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace rung {

// One form of a part: the microseconds that it takes in a run, and the square of the relative error that it adds.
struct PartOption {
  double us = 0, squared_error = 0;
};

// The options of one part, of which a choice takes exactly one.
struct PartOptions {
  std::string name;  // for errors
  std::vector<PartOption> options;
};

// A choice for all parts. Errors of parts are taken as independent, so their squares add up.
struct PrecisionChoice {
  double us = 0, squared_error = 0;  // sums over the parts
  std::vector<size_t> options;       // by part
};

// Returns every choice that no other one beats in both time and error, by growing error and so by falling time; of
// equal choices the one whose options come first. The order of parts and options alone decides the result. It is exact
// as long as no more than `most_states` partial choices remain for any number of parts; beyond that it cuts
// the error into `most_states` steps of equal ratios, and keeps the fastest of each and the one of least error. Errors:
// a part without options; a time or an error that is negative, infinite or no number (mismatch).
Result<std::vector<PrecisionChoice>> precision_frontier(const std::vector<PartOptions>& parts,
                                                        size_t most_states = size_t{1} << 15);

// Returns the index of the fastest choice of a frontier whose squared error is at most `limit`. Errors: none is; the
// message names the least error (mismatch).
Result<size_t> fastest_within(const std::vector<PrecisionChoice>& frontier, double limit);

// Returns the indices of at most `count` choices of a frontier, in its order: both ends, and between them those of
// least error at equally spaced times.
std::vector<size_t> spread_over(const std::vector<PrecisionChoice>& frontier, size_t count);

}  // namespace rung
