// Inputs complete enough to run: the given ones, the model's defaults, and random samples for the rest.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "open/open_model.hpp"

namespace rung {

NamedTensors sample_missing(const Subject& subject, const NamedTensors& given, uint64_t seed);
NamedTensors sample_missing(const Plan& plan, const NamedTensors& given, uint64_t seed);
// The seeds from 1 to this one are those of the samples that a directory is verified on.
inline constexpr uint64_t kFrozenSeeds = 3;
// Returns whether no input of a directory is left to be sampled.
bool gives_all_inputs(const Opened& opened);
// Returns the inputs that a directory is verified on: the sets that are given, if there are several; one, if it gives
// every input; else several samples.
std::vector<NamedTensors> verification_inputs(const Opened& opened);

}  // namespace rung
