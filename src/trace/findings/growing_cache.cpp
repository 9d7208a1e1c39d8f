// Keys and values that are copied whole in every step, to append the rows of one more token.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "trace/findings/all_findings.hpp"
#include "trace/findings/evidence.hpp"
#include "trace/findings/kernels.hpp"
#include "trace/findings/saving.hpp"
#include "trace/findings/sequence.hpp"

namespace rung::trace::findings {
namespace {

using Dimensions = std::vector<int64_t>;

// A concatenation of rows behind others.
struct Append {
  uint32_t event = kNone;  // of the device work
  uint32_t op = kNone;
  Dimensions before, result;
};

// Returns the shape of two tensors one behind the other; empty: they differ in no dimension, or in several.
Dimensions appended(const Dimensions& first, const Dimensions& second) {
  if (first.size() != second.size()) return {};
  Dimensions whole = first;
  size_t others = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] == second[i]) continue;
    whole[i] += second[i];
    ++others;
  }
  return others == 1 ? whole : Dimensions{};
}

// Returns the appends of each step, in order.
std::vector<std::vector<Append>> appends_by_step(const Analysis& all) {
  std::vector<std::vector<Append>> steps(std::max<size_t>(1, all.steps.spans.size()));
  for (const Work& work : all.work) {
    const uint32_t op = op_around(all, work, "aten::cat");
    const auto step = step_at(all, all.event(work).start_ns);
    if (op == kNone || !step) continue;
    const auto shapes = listed_shapes(all.recording, all.recording.events[op]);
    if (shapes.size() != 2) continue;
    Dimensions whole = appended(shapes[0], shapes[1]);
    if (whole.empty() || elements_of({{}, shapes[1], {}}) >= elements_of({{}, shapes[0], {}})) continue;
    steps[*step].push_back({work.event, op, shapes[0], std::move(whole)});
  }
  return steps;
}

// Returns the device work of appends whose result the next step appends to. Where a step appends other numbers of
// tensors than the next one, nothing tells which of them are the same.
std::unordered_set<uint32_t> growing_appends(const Analysis& all) {
  std::unordered_set<uint32_t> growing;
  const auto steps = appends_by_step(all);
  for (size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].size() != steps[i - 1].size()) continue;
    for (size_t k = 0; k < steps[i].size(); ++k) {
      if (steps[i][k].before != steps[i - 1][k].result) continue;
      growing.insert({steps[i - 1][k].event, steps[i][k].event});
    }
  }
  return growing;
}

}  // namespace

std::optional<TraceFinding> growing_cache(const Analysis& analysis) {
  const std::unordered_set<uint32_t> growing = growing_appends(analysis.whole());
  if (growing.empty()) return std::nullopt;
  Saving saving(analysis);
  Tally tally;
  for (size_t i = 0; i < analysis.work.size(); ++i) {
    const Work& work = analysis.work[i];
    if (!growing.contains(work.event)) continue;
    const uint32_t op = op_around(analysis, work, "aten::cat");
    const auto shapes = listed_shapes(analysis.recording, analysis.recording.events[op]);
    tally.add(fmt::format("aten::cat {} + {}", shape_text(shapes[0]), shape_text(shapes[1])),
              analysis.event(work).duration_ns);
    saving.remove(i);
  }
  if (tally.empty() || !is_worthwhile(analysis, saving.bound_ms())) return std::nullopt;
  TraceFinding finding;
  finding.id = "growing_cache";
  finding.title =
      fmt::format("{} caches are copied whole in a step to grow by its tokens, {} in all",
                  count_in_words(per_step(analysis, tally.count())), duration_ms(ms_per_step(analysis, tally.ns())));
  finding.evidence = tally.rows();
  saving.give_bound(finding, "time of the copies, at the length recorded: a longer text takes more");
  finding.remedy =
      "Keep keys and values in tensors of the longest text's length, and write each token's rows in place.";
  finding.changes = {
      {"PyTorch",
       "allocate the cache once and write cache[:, :, position] = k, or index_copy_ with the position on the device; "
       "attend to a view of the rows so far, or to all of them with a mask, which a graph can record"},
      {"Transformers",
       "generate(cache_implementation='static') or a StaticCache in place of DynamicCache; with it "
       "model.forward = torch.compile(model.forward, mode='reduce-overhead') can record the step"},
      {"vLLM", "its paged cache is written in place; a model of your own must use its attention layer"},
  };
  finding.traps =
      "Attention over a cache of fixed length reads its empty rows, too, unless the kernel knows the length: make it "
      "as long as needed, not as the model allows. A mask may disable flash. Each new length of a growing cache is a "
      "new shape, so that no graph of the step can be replayed and compilers may compile again.";
  finding.confirm = "No aten::cat of keys and values in a new trace; the time of a token no longer grows by copies.";
  return finding;
}

}  // namespace rung::trace::findings
