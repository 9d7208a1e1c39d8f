// What a Python says of its PyTorch, and what is said where it says nothing.
// SPDX-License-Identifier: Apache-2.0
#include "stacks/pytorch.hpp"

#include <gmock/gmock.h>

#include "support/program.hpp"
#include "support/temporary_directory.hpp"

namespace rung::stacks {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(PyTorchAnswer, IsFoundAmongWarnings) {
  const PyTorch found = parse_answer(
      "UserWarning: something\nrung-answer validator PT_VERSION=2.14.0\nmore\n"
      "rung-answer validator HIPBLASLT_VERSION=100001-a=b\nrung-answer takes cublaslt\nrung-answer validator "
      "nothing\n");
  EXPECT_THAT(found.validators,
              UnorderedElementsAre(Pair("PT_VERSION", "2.14.0"), Pair("HIPBLASLT_VERSION", "100001-a=b")));
  EXPECT_TRUE(found.takes_cublaslt);
  EXPECT_FALSE(parse_answer("rung-answer validator PT_VERSION=2.11.0\n").takes_cublaslt);
}

TEST(PyTorchAnswer, OfTheVersionAloneTellsWhatItTakes) {
  for (const char* version : {"2.14.0", "2.14.0a0", "2.20.1", "3.0.0"})
    EXPECT_TRUE(pytorch_of({{"PT_VERSION", version}}).takes_cublaslt) << version;
  for (const char* version : {"2.11.0", "2.9.1", "1.14.0", "", "two", "2", "2."})
    EXPECT_FALSE(pytorch_of({{"PT_VERSION", version}}).takes_cublaslt) << version;
  EXPECT_FALSE(pytorch_of({}).takes_cublaslt);
}

TEST(PyTorch, IsAskedOfAPython) {
  const TemporaryDirectory folder;
  const std::string python =
      write_program(folder, "python", "[ \"$1\" = -c ] && echo 'rung-answer validator PT_VERSION=2.11.0' >&2");
  const auto found = ask_pytorch(python);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->validators, UnorderedElementsAre(Pair("PT_VERSION", "2.11.0")));
}

TEST(PyTorch, IsReportedMissingInPythonsWords) {
  const TemporaryDirectory folder;
  const std::string without =
      write_program(folder, "without", "printf 'Traceback:\\nModuleNotFoundError: no torch\\n\\n' >&2; exit 1");
  EXPECT_EQ(ask_pytorch(without).error().message,
            "'" + without + "' does not give the validators of its PyTorch: ModuleNotFoundError: no torch");
  const std::string silent = write_program(folder, "silent", "exit 3");
  EXPECT_THAT(ask_pytorch(silent).error().message, HasSubstr(": exited with 3"));
  EXPECT_THAT(ask_pytorch(folder / "nothing").error().message, HasSubstr("cannot start"));
  EXPECT_THAT(ask_pytorch("no-such-python").error().message, HasSubstr("no-such-python"));
}

}  // namespace
}  // namespace rung::stacks
