// The example programs, as a user would run them.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdio>

#include "api/program.hpp"
#include "api/support.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

Ran run_example(const std::string& arguments) { return run_program_text(RUNG_EXAMPLE, arguments); }

TEST(EmbedSentences, PrintsHowAlikeSentencesAre) {
  TemporaryDirectory directory;
  make_encoder(directory);
  Ran ran = run_example(directory.path() + " 'a b c' 'x y z' 'a b c'");
  EXPECT_EQ(ran.exit_code, 0) << ran.out;
  double m[3][3];
  ASSERT_EQ(std::sscanf(ran.out.c_str(), "%lf %lf %lf %lf %lf %lf %lf %lf %lf", &m[0][0], &m[0][1], &m[0][2], &m[1][0],
                        &m[1][1], &m[1][2], &m[2][0], &m[2][1], &m[2][2]),
            9)
      << ran.out;
  EXPECT_EQ(m[0][0], 1.0);
  EXPECT_EQ(m[0][2], 1.0);  // the same sentence
  EXPECT_LT(m[0][1], 0.999);
  EXPECT_EQ(m[0][1], m[1][0]);
}

TEST(EmbedSentences, FailsInOneLine) {
  Ran ran = run_example("/nowhere hello");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, HasSubstr("/nowhere"));
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1);
}

TEST(ContinueText, WritesTextsThatBeginAlike) {
  TemporaryDirectory directory;
  for (const char* from : {"/checkpoints/llama", "/letters"})
    std::filesystem::copy(RUNG_TEST_DATA + std::string(from), directory.path(),
                          std::filesystem::copy_options::recursive);
  const Ran ran = run_program_text(RUNG_CONTINUE_TEXT, directory.path() + " abcabc 2");
  EXPECT_EQ(ran.exit_code, 0) << ran.out;
  const size_t end = ran.out.find('\n');
  ASSERT_NE(end, std::string::npos);
  EXPECT_GT(end, 0u);
  EXPECT_EQ(ran.out, ran.out.substr(0, end + 1) + ran.out.substr(0, end + 1)) << "the model does not sample";
}

}  // namespace
}  // namespace rung
