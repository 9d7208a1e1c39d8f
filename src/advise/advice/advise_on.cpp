// Asks every detector.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "advise/advice/detector.hpp"

namespace rung::advise {
namespace {

using Detector = std::optional<Advice> (*)(const Analysis&);

const std::vector<Detector>& all_detectors() {
  static const std::vector<Detector> detectors{
#define RUNG_DETECTOR(name) detectors::name,
#include "advise/advice/detectors.inc"
#undef RUNG_DETECTOR
  };
  return detectors;
}

}  // namespace

std::vector<Advice> advise_on(const Analysis& analysis) {
  std::vector<Advice> found;
  for (const Detector detector : all_detectors())
    if (std::optional<Advice> advice = detector(analysis)) found.push_back(std::move(*advice));
  std::ranges::stable_sort(found, std::greater{}, &Advice::bound_ms);
  return found;
}

}  // namespace rung::advise
