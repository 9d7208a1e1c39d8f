// A recording's figures and findings as JSON.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "advise/summary.hpp"

namespace rung::advise {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostKernels = 100;  // the rest is in the categories

template <class Range, class F>
Json array_of(const Range& range, const F& f) {
  Json array = Json::array();
  for (const auto& item : range) array.push_back(f(item));
  return array;
}

Json advice_json(const Advice& advice) {
  return {{"id", advice.id},
          {"title", advice.title},
          {"evidence", array_of(advice.evidence,
                                [](const Evidence& e) {
                                  return Json{{"event", e.event}, {"count", e.count}, {"ms", e.ms}};
                                })},
          {"bound_ms", advice.bound_ms},
          {"bound_from", advice.bound_from},
          {"remedy", advice.remedy},
          {"changes", array_of(advice.changes,
                               [](const Change& c) {
                                 return Json{{"stack", c.stack}, {"what", c.what}};
                               })},
          {"traps", advice.traps},
          {"confirm", advice.confirm}};
}

Json kernels_json(const std::vector<KernelTotal>& kernels) {
  const size_t shown = std::min(kernels.size(), kMostKernels);
  return array_of(std::vector<KernelTotal>(kernels.begin(), kernels.begin() + static_cast<ptrdiff_t>(shown)),
                  [](const KernelTotal& k) {
                    return Json{{"name", k.name},       {"category", name_of(k.category)},
                                {"library", k.library}, {"ms", k.ms},
                                {"share", k.share},     {"count", k.count}};
                  });
}

}  // namespace

Json to_json(const Summary& summary) {
  return {{"file", summary.file},
          {"format", summary.format},
          {"device", summary.device},
          {"wall_ms", summary.wall_ms},
          {"steps", summary.steps},
          {"steps_from", summary.steps_from},
          {"step_ms", summary.step_ms},
          {"busy_ms", summary.busy_ms},
          {"host_ms", summary.host_ms},
          {"kernels", summary.kernels},
          {"gaps", array_of(summary.gaps,
                            [](const GapTotal& g) {
                              return Json{{"cause", name_of(g.cause)}, {"ms", g.ms}, {"count", g.count}};
                            })},
          {"categories",
           array_of(summary.categories,
                    [](const CategoryTotal& c) {
                      return Json{{"name", name_of(c.category)}, {"ms", c.ms}, {"share", c.share}, {"count", c.count}};
                    })},
          {"libraries", array_of(summary.libraries,
                                 [](const auto& l) {
                                   return Json{{"name", l.first}, {"ms", l.second}};
                                 })},
          {"by_kernel", kernels_json(summary.by_kernel)},
          {"unclassified_share", summary.unclassified_share},
          {"findings", array_of(summary.findings, advice_json)},
          {"skipped", summary.skipped}};
}

}  // namespace rung::advise
