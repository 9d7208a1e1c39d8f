// What is found in the recorded traces, held against what was planted in them and what is there besides.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "advise/advice/advice.hpp"
#include "advise/trace/read.hpp"

namespace rung::advise {
namespace {

TEST(Dump, All) {
  const auto truth = nlohmann::json::parse(std::ifstream(std::string(RUNG_TEST_DATA) + "/traces/truth.json"));
  for (const auto& [name, facts] : truth["scenarios"].items()) {
    const auto recording = read_recording(std::string(RUNG_TEST_DATA) + "/traces/" + name + ".json.gz");
    ASSERT_TRUE(recording) << recording.error().message;
    const Analysis analysis = analyse(*recording);
    std::map<std::string_view, double> gaps;
    for (const Gap& gap : analysis.accounting.gaps)
      gaps[name_of(gap.cause)] += gap.span.length_ns() / 1e6 / analysis.step_count();
    printf("%s: step %.3f busy %.3f |", name.c_str(),
           analysis.accounting.wall.length_ns() / 1e6 / analysis.step_count(),
           analysis.accounting.busy_ns / 1e6 / analysis.step_count());
    for (auto& [k, v] : gaps) printf(" %s %.3f", std::string(k).c_str(), v);
    printf("\n   planted %s present %s cures %s\n", facts["planted"].dump().c_str(), facts["present"].dump().c_str(),
           facts["cures"].dump().c_str());
    for (const Advice& a : advise_on(analysis)) {
      printf("   * %s %.4f %s\n", std::string(a.id).c_str(), a.bound_ms, a.title.c_str());
      for (const Evidence& e : a.evidence)
        printf("        %s %ld %.3f\n", e.event.substr(0, 90).c_str(), e.count, e.ms);
    }
  }
}

}  // namespace
}  // namespace rung::advise
