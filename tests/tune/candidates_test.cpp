// Which rows are candidates, and which of them other stacks have too.
// SPDX-License-Identifier: Apache-2.0
#include "tune/candidates.hpp"

#include "support.hpp"

namespace rung {
namespace {

std::vector<std::string> kernels_of(const Candidates& candidates) {
  std::vector<std::string> names;
  for (const KernelCandidate& candidate : candidates.list)
    if (candidate.params.empty()) names.emplace_back(candidate.kernel->name);
  return names;
}

TEST(Candidates, OfLibrariesAreNoOthers) {
  const Problem problem = linear_problem(4, 64, 64);
  const Candidates all = candidates_for(cpu_target(), problem),
                   library = candidates_for(cpu_target(), problem, Rows::library);
  EXPECT_THAT(kernels_of(library), testing::UnorderedElementsAre("linear_onednn", "linear_openblas"));
  EXPECT_GT(kernels_of(all).size(), 2u);
  EXPECT_EQ(kernels_of(library).front(), kernels_of(all).front()) << "the default is the same";
}

// What a climb looks up is the winner among all rows.
TEST(Candidates, OfLibrariesAreRememberedByThemselves) {
  TemporaryDirectory directory;
  TuningDatabase database = open_database(directory / "tuning.json");
  TuneTask task = linear_task(4, 64, 64);
  task.key = library_key(task.problem), task.rows = Rows::library;
  tune({task}, database, with_seconds(30));
  EXPECT_EQ(database.find(problem_key(task.problem)), nullptr);
  const TunedProblem* entry = valid_entry(database, task);
  ASSERT_NE(entry, nullptr);
  const auto times = [&] { return database.find(task.key)->candidates[0].us; };
  const double before = times();
  for (const Candidate& candidate : entry->candidates)
    EXPECT_TRUE(candidate.choice.kernel == "linear_onednn" || candidate.choice.kernel == "linear_openblas");
  tune({task}, database, with_seconds(30));
  EXPECT_EQ(times(), before) << "it was complete, and measured again";
}

}  // namespace
}  // namespace rung
