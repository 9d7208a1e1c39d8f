// Every instruction of the ALU that is executed has a test of what it computes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "alu_fixture.hpp"
#include "alu_names.hpp"

namespace rung::amdgpu {
namespace {

// The words of the tests here, but for those that list what has no test.
std::set<std::string> words_of_tests() {
  std::set<std::string> words;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(RUNG_SOURCE "/tests/amdgpu")) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("alu_") && name != "seeded_faults_test.cpp") continue;
    if (name == "alu_lanes_test.cpp" || name == "alu_coverage_test.cpp") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (size_t at = 0; at < text.size();) {
      size_t end = at;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
      if (end > at) words.insert(text.substr(at, end - at));
      at = end + 1;
    }
  }
  return words;
}

// Tests that go through a family by its names look for all of them.
bool is_of_a_family(std::string_view name) {
  return is_vector_comparison(name) || is_scalar_comparison(name) || is_scaled_conversion(name);
}

TEST(AluCoverage, HasATestOrFamilyForEveryInstruction) {
  const std::set<std::string> words = words_of_tests();
  ASSERT_TRUE(words.contains("v_add_f32"));
  int executed = 0;
  for (const std::string_view name : opcode_names()) {
    const Row& row = row_of(opcode_named(name));
    Instruction i = instruction(row.opcode, v(2, row.destination.registers), {});
    i.source_count = row.source_count;
    for (int k = 0; k < row.source_count; ++k) i.sources[k] = v(static_cast<uint16_t>(8 * k), row.sources[k].registers);
    if (!alu_handler(i, Isa::gfx950)) continue;
    ++executed;
    EXPECT_TRUE(is_of_a_family(name) || words.contains(std::string(name))) << name;
  }
  EXPECT_GT(executed, 700);
}

}  // namespace
}  // namespace rung::amdgpu
