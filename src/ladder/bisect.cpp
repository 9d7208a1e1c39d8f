// Bisects over rungs and passes.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/bisect.hpp"

#include <algorithm>

#include "ir/text.hpp"
#include "ladder/rungs.hpp"
#include "passes/pipeline.hpp"
#include "plan/build.hpp"

namespace rung {
namespace {

class Bisection {
 public:
  explicit Bisection(const std::function<Result<bool>(const Recipe&)>& is_right) : is_right_(is_right) {}

  Result<Culprit> run(const Recipe& wrong) {
    culprit_.recipe = wrong;
    RUNG_TRY(bool right, judge(wrong));
    if (right) return fail("nothing to bisect: the answer is right");
    RUNG_CHECK(drop_rungs());
    RUNG_CHECK(blame_pass());
    culprit_.builds = builds_;
    return culprit_;
  }

 private:
  Result<bool> judge(const Recipe& recipe) {
    ++builds_;
    return is_right_(recipe);
  }

  // Removes every rung without which the answer stays wrong; the lowest one whose removal makes it right is to blame.
  Status drop_rungs() {
    std::vector<const Rung*> from_top;
    for (const Rung& rung : ladder()) from_top.insert(from_top.begin(), &rung);
    for (const Rung* rung : from_top) {
      Recipe without = culprit_.recipe;
      rung->remove(without);
      if (without == culprit_.recipe) continue;
      RUNG_TRY(bool right, judge(without));
      if (right)
        culprit_.rung = rung->name;  // the lowest such rung is set last
      else
        culprit_.recipe = std::move(without);
    }
    return {};
  }

  // Tries the rung's own passes, then the canonical ones.
  Status blame_pass() {
    RUNG_TRY(bool found, blame_one(pipeline(), culprit_.rung));
    if (!found && !culprit_.recipe.as_written) RUNG_CHECK(blame_one(canonical_passes(), kCanonicalRung));
    return {};
  }

  Result<bool> blame_one(std::span<const Pass> passes, std::string_view rung) {
    for (const Pass& pass : passes) {
      if (pass.rung != rung) continue;
      Recipe without = culprit_.recipe;
      without.disabled_passes.insert(std::string(pass.name));
      RUNG_TRY(bool right, judge(without));
      if (right) return culprit_.pass = pass.name, true;
    }
    return false;
  }

  const std::function<Result<bool>(const Recipe&)>& is_right_;
  Culprit culprit_;
  int builds_ = 0;
};

}  // namespace

Result<Culprit> bisect(const Recipe& wrong, const std::function<Result<bool>(const Recipe&)>& is_right) {
  return Bisection(is_right).run(wrong);
}

Result<std::string> reproducer(const Graph& graph, const Culprit& culprit) {
  Recipe before = culprit.recipe;
  bool reached = false;
  for (auto passes : {canonical_passes(), pipeline()})
    for (const Pass& pass : passes) {
      reached = reached || pass.name == culprit.pass;
      if (reached) before.disabled_passes.insert(std::string(pass.name));
    }
  RUNG_TRY(Graph stopped, apply_passes(graph, before));
  std::string head = culprit.pass.empty()
                         ? fmt::format("# wrong with rung '{}'; no single pass is to blame\n", culprit.rung)
                         : fmt::format("# wrong after pass '{}' of rung '{}'\n", culprit.pass, culprit.rung);
  return head + print(stopped);
}

}  // namespace rung
