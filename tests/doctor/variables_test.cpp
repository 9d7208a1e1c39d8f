// Findings name no environment variable that nothing reads, unless to say so.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "doctor/knob.hpp"

namespace rung::doctor {
namespace {

constexpr std::string_view kOtherWords[] = {"TRITON_ATTN"};  // an attention backend of vLLM

std::set<std::string> variables_in_findings() {
  const std::regex word("[A-Z][A-Z0-9]*_[A-Z0-9_]+");
  const auto folder = std::filesystem::path(RUNG_TEST_DATA).parent_path().parent_path() / "src/trace/findings";
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at)
      if (has_known_prefix(at->str())) found.insert(at->str());
  }
  for (const std::string_view other : kOtherWords) found.erase(std::string(other));
  return found;
}

TEST(VariablesOfFindings, AreReadBySomething) {
  const std::set<std::string> variables = variables_in_findings();
  EXPECT_GT(variables.size(), 10u);
  for (const std::string& name : variables) {
    const Knob* knob = find_knob(name);
    EXPECT_TRUE(is_read_somewhere(name) || (knob && knob->ratings.others == Rating::no_op)) << name;
  }
}

}  // namespace
}  // namespace rung::doctor
