// The tool with memory refused, once at each allocation of a command: done, or one error line and nothing half-written.
// SPDX-License-Identifier: Apache-2.0
#include "cli/tool.hpp"
#include "faults/every.hpp"
#include "faults/refusing_malloc.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

class RefusedMemoryOfTheTool : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer's malloc cannot be made to refuse";
#endif
  }
  // With its n-th allocation refused; 0: none.
  Ran run(const std::vector<std::string>& arguments, long n) {
    setenv("LD_PRELOAD", RUNG_REFUSING_MALLOC, 1);
    setenv("RUNG_REFUSE_ALLOCATION", std::to_string(n).c_str(), 1);
    setenv("RUNG_ALLOCATIONS", count_.c_str(), 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    auto process = tool_.start(arguments);
    for (const char* name : {"LD_PRELOAD", "RUNG_REFUSE_ALLOCATION", "RUNG_ALLOCATIONS", "OPENBLAS_NUM_THREADS"})
      unsetenv(name);
    return Tool::wait(process);
  }
  // Of a command that writes `file`.
  void refuse_each(const std::vector<std::string>& arguments, const std::string& file) {
    Ran whole = run(arguments, 0);
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    const std::string wanted = *read_text_file(file);
    const long allocations = std::atol(read_text_file(count_)->c_str());
    ASSERT_GT(allocations, 1000);
    for (long n : sampled(allocations, 20)) {
      std::filesystem::remove(file);
      Ran ran = run(arguments, n);
      SCOPED_TRACE("allocation " + std::to_string(n) + " of " + arguments[0]);
      if (ran.exit_code == 0) {
        EXPECT_TRUE(*read_text_file(file) == wanted);
        continue;
      }
      expect_error(ran, 1, "memory");
      EXPECT_FALSE(std::filesystem::exists(file));
      for (const auto& entry : std::filesystem::directory_iterator(tool_.folder().path()))
        EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
    }
  }
  Tool tool_;
  const std::string count_ = tool_ / "allocations";
};

TEST_F(RefusedMemoryOfTheTool, IsOneErrorLineOfBuild) {
  std::string recipe = tool_.folder().write("recipe.json", R"({"version": 1, "threads": 1, "capture": true})");
  refuse_each({"build", bert_tiny(), "--shape", kShape, "--recipe", recipe, "--out", tool_ / "plan.rung"},
              tool_ / "plan.rung");
}

TEST_F(RefusedMemoryOfTheTool, IsOneErrorLineOfRun) {
  refuse_each({"run", bert_tiny(), "--shape", kShape, "--threads", "2", "--inputs", bert_tiny() + "/inputs.npz",
               "--outputs", tool_ / "outputs.npz"},
              tool_ / "outputs.npz");
}

}  // namespace
}  // namespace rung
