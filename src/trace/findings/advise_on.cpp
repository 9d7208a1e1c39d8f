// Asks every detector.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "trace/findings/detector.hpp"

namespace rung::trace {
namespace {

enum class RestsOn : uint8_t { idle, work };

struct Detector {
  std::optional<Advice> (*find)(const Analysis&);
  RestsOn rests_on;
};

const std::vector<Detector>& all_detectors() {
  static const std::vector<Detector> detectors{
#define RUNG_DETECTOR(name, rests_on) {detectors::name, RestsOn::rests_on},
#include "trace/findings/detectors.inc"
#undef RUNG_DETECTOR
  };
  return detectors;
}

}  // namespace

std::vector<Advice> advise_on(const Analysis& analysis) {
  const Analysis step = median_step(analysis);
  std::vector<Advice> found;
  for (const Detector& detector : all_detectors()) {
    if (detector.rests_on == RestsOn::idle && analysis.launches.are_lost()) continue;
    if (std::optional<Advice> advice = detector.find(step)) found.push_back(std::move(*advice));
  }
  std::ranges::stable_sort(found, std::greater{}, &Advice::bound_ms);
  return found;
}

}  // namespace rung::trace
