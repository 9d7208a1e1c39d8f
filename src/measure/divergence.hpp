// How far the distributions over tokens that two sets of scores give are apart.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/tensor.hpp"

namespace rung {

// Returns the mean over rows of the Kullback-Leibler divergence KL(want || got), in nats, of the softmax of f32 scores
// [...,classes]; computed in f64. A score of -inf gives its class no probability. Infinity: `got` gives none to a class
// that has some, or a row has no distribution (NaN, +inf, -inf alone) in one and not alike in the other; such rows of
// both alike differ by nothing. The two must be of one type, f32[...,classes] (asserted).
double mean_divergence(const Tensor& got, const Tensor& want);

}  // namespace rung
