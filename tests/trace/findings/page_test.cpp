// docs/advise_findings.md has a section for each finding, and names no setting that its finding does not.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "trace/findings/all_findings.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;

constexpr std::string_view kFindings[] = {
#define RUNG_FINDING(name, rests_on) #name,
#include "trace/findings/findings.inc"
#undef RUNG_FINDING
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::filesystem::path kRoot = std::filesystem::path(RUNG_TEST_DATA).parent_path().parent_path();

// By the word in the heading "### `word`", up to the next heading.
std::map<std::string, std::string> sections() {
  std::map<std::string, std::string> found;
  std::istringstream page(text_of(kRoot / "docs/advise_findings.md"));
  std::string* section = nullptr;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("### `"))
      section = &found[line.substr(5, line.size() - 6)];
    else if (line.starts_with("#"))
      section = nullptr;
    else if (section)
      *section += line + "\n";
  }
  return found;
}

TEST(FindingsPage, HasASectionForEach) {
  std::vector<std::string> ids;
  for (const auto& [id, text] : sections()) ids.push_back(id);
  EXPECT_THAT(ids, testing::UnorderedElementsAreArray(kFindings));
  for (const auto& [id, text] : sections())
    for (const char* part : {"- **Shown by**: ", "- **Bound**: ", "- **Remedy**: ", "- **Traps**: "})
      EXPECT_THAT(text, HasSubstr(part)) << id;
}

// Names of operations, calls and settings are in the finding's own words too, or in those of the trace's analysis.
TEST(FindingsPage, NamesWhatTheFindingNames) {
  const std::regex quoted("`([^`]+)`");
  const std::string shared = text_of(kRoot / "src/trace/analysis/host_time.inc") +
                             text_of(kRoot / "tests/trace/findings/recorded_traces_test.cpp");
  for (const auto& [id, text] : sections()) {
    const std::string own = text_of(kRoot / "src/trace/findings" / (id + ".cpp")) + shared;
    for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at)
      EXPECT_NE(own.find((*at)[1].str()), std::string::npos) << id << ": no `" << (*at)[1].str() << "` in its sources";
  }
}

}  // namespace
}  // namespace rung::trace
