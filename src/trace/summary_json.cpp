// A recording's figures and findings as JSON.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "trace/summary.hpp"

namespace rung::trace {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostKernels = 100;  // other kernels are counted in the categories

template <class Range, class F>
Json array_of(const Range& range, const F& f) {
  Json array = Json::array();
  for (const auto& item : range) array.push_back(f(item));
  return array;
}

Json finding_json(const TraceFinding& finding) {
  return {{"id", finding.id},
          {"title", finding.title},
          {"evidence", array_of(finding.evidence,
                                [](const Evidence& e) {
                                  return Json{{"event", e.event}, {"count", e.count}, {"ms", e.ms}};
                                })},
          {"bound_ms", finding.bound_ms},
          {"loaded_bound_ms", finding.loaded_bound_ms > 0 ? finding.loaded_bound_ms : finding.bound_ms},
          {"bound_from", finding.bound_from},
          {"remedy", finding.remedy},
          {"changes", array_of(finding.changes,
                               [](const Change& c) {
                                 return Json{{"stack", c.stack}, {"what", c.what}};
                               })},
          {"traps", finding.traps},
          {"confirm", finding.confirm}};
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

Json figures_json(const Figures& figures) {
  return {{"wall_ms", figures.wall_ms},
          {"busy_ms", figures.busy_ms},
          {"host_ms", figures.host_ms},
          {"kernels", figures.kernels},
          {"gaps", array_of(figures.gaps,
                            [](const GapTotal& g) {
                              return Json{{"cause", name_of(g.cause)}, {"ms", g.ms}, {"count", g.count}};
                            })},
          {"categories",
           array_of(figures.categories,
                    [](const CategoryTotal& c) {
                      return Json{{"name", name_of(c.category)}, {"ms", c.ms}, {"share", c.share}, {"count", c.count}};
                    })},
          {"libraries", array_of(figures.libraries,
                                 [](const auto& l) {
                                   return Json{{"name", l.first}, {"ms", l.second}};
                                 })},
          {"by_kernel", kernels_json(figures.by_kernel)},
          {"unclassified_share", figures.unclassified_share}};
}

Json launches_json(const Launches& launches) {
  return {{"all", launches.all},
          {"lost", launches.lost},
          {"graphs", launches.all_graphs},
          {"lost_graphs", launches.lost_graphs},
          {"captured", launches.captured}};
}

// Returns work outside steps, and steps that do not count.
Json left_out_json(const Summary& summary) {
  return {{"outliers", array_of(summary.outliers,
                                [](const Steps::Outlier& o) {
                                  return Json{{"step", o.number}, {"ms", double(o.span.length_ns()) / 1e6}};
                                })},
          {"empty_steps", summary.empty_steps},
          {"between_ms", summary.between_ms},
          {"outside", summary.outside},
          {"outside_ms", summary.outside_ms}};
}

}  // namespace

Json to_json(const Summary& summary) {
  Json object = figures_json(summary.all);
  object.update({{"file", summary.file},
                 {"format", summary.format},
                 {"device", summary.device},
                 {"complete", summary.is_complete()},
                 {"notes", array_of(summary.notes,
                                    [](const Note& n) {
                                      return Json{{"id", n.id}, {"text", n.text}, {"grave", n.is_grave}};
                                    })},
                 {"steps", summary.steps},
                 {"steps_from", summary.steps_from},
                 {"step_ms", summary.step_ms()},
                 {"step", figures_json(summary.step)},
                 {"left_out", left_out_json(summary)},
                 {"launches", launches_json(summary.launches)},
                 {"capture_breaks",
                  array_of(summary.capture_breaks,
                           [](const CaptureBreak& b) {
                             return Json{{"call", b.call}, {"place", b.place}, {"count", b.count}, {"ms", b.ms}};
                           })},
                 {"findings", array_of(summary.findings, finding_json)},
                 {"skipped", summary.skipped}});
  return object;
}

}  // namespace rung::trace
