// Models by name: what is found in the cache of Hugging Face's libraries, and what is never looked for.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/local_cache.hpp"

#include <cstdlib>

#include "huggingface_support.hpp"

namespace rung {
namespace {

using huggingface::cached_directory;
using testing::HasSubstr;

// A cache with one model in two commits; "main" is the first, and the tag "v2" the second.
class LocalCache : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"})
      if (const char* value = std::getenv(name)) before_[name] = value;
    setenv("HF_HUB_CACHE", dir_.path().c_str(), 1);
    for (const char* folder : {"refs/pr", "snapshots/aaa", "snapshots/bbb"})
      std::filesystem::create_directories(dir_ / ("models--org--tiny/" + std::string(folder)));
    std::filesystem::create_directories(dir_ / "models--alone/snapshots/main");
    dir_.write("models--org--tiny/refs/main", "aaa");
    dir_.write("models--org--tiny/refs/v2", "bbb\n");
    dir_.write("models--org--tiny/refs/pr/1", "bbb");
  }
  void TearDown() override {
    for (const char* name : {"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"}) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  std::string snapshot(const std::string& commit) { return dir_ / ("models--org--tiny/snapshots/" + commit); }

  TemporaryDirectory dir_;
  std::map<std::string, std::string> before_;
};

TEST_F(LocalCache, FindsBranchesTagsAndCommits) {
  EXPECT_EQ(cached_directory("org/tiny"), snapshot("aaa"));
  EXPECT_EQ(cached_directory("org/tiny@v2"), snapshot("bbb"));
  EXPECT_EQ(cached_directory("org/tiny@pr/1"), snapshot("bbb"));
  EXPECT_EQ(cached_directory("org/tiny@bbb"), snapshot("bbb"));
  EXPECT_EQ(cached_directory("alone"), dir_ / "models--alone/snapshots/main");
}

TEST_F(LocalCache, NeverLeavesItsFolder) {
  for (const char* name : {"", "/", "..", "../tiny", "org/..", "org/tiny/more", "/org/tiny", "org/tiny@", "org/tiny@v3",
                           "org/tiny@../snapshots", "org/tiny@pr/", "org/tiny@pr/../main", "org/ti\ny", "other/tiny"})
    EXPECT_EQ(cached_directory(name), std::nullopt) << name;
  dir_.write("models--org--tiny/refs/main", "../../models--alone/snapshots/main");
  EXPECT_EQ(cached_directory("org/tiny"), std::nullopt);
}

TEST_F(LocalCache, StandsWhereTheLibrariesLook) {
  setenv("HOME", "/home/user", 1);
  for (const char* name : {"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"}) unsetenv(name);
  EXPECT_EQ(huggingface::cache_folder(), "/home/user/.cache/huggingface/hub");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(huggingface::cache_folder(), "/cache/huggingface/hub");
  setenv("HF_HOME", "/models", 1);
  EXPECT_EQ(huggingface::cache_folder(), "/models/hub");
  setenv("HF_HUB_CACHE", "/hub", 1);
  EXPECT_EQ(huggingface::cache_folder(), "/hub");
}

TEST_F(LocalCache, OpensModelsByTheirNames) {
  for (const auto& file : std::filesystem::directory_iterator(test_data("bert_tiny")))
    std::filesystem::create_symlink(std::filesystem::absolute(file),
                                    snapshot("aaa") + "/" + file.path().filename().string());
  auto model = import_model("org/tiny", {.shapes = {{"input_ids", Shape{1, 9}}}});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->name, "tiny");
  EXPECT_EQ(model->directory, snapshot("aaa"));
}

TEST_F(LocalCache, IsNamedWhereItHasNoSuchModel) {
  auto model = import_model("org/none");
  ASSERT_FALSE(model.has_value());
  EXPECT_THAT(model.error().message, HasSubstr("'org/none' is not a model: got nothing that can be read"));
  EXPECT_THAT(model.error().message, HasSubstr("or the name of a model in '" + dir_.path() + "'"));
}

}  // namespace
}  // namespace rung
