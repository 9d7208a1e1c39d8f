// What docs/compatibility.md promises of a version is what files and interfaces say of themselves.
// SPDX-License-Identifier: Apache-2.0
#include <rung/rung.h>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "base/version.hpp"
#include "cli/tool.hpp"
#include "ir/safetensors.hpp"
#include "plan/recipe.hpp"
#include "tune/database.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

std::string page() { return *read_text_file(std::string(RUNG_DOCS) + "/compatibility.md"); }

// A plan that the tool built, its bytes, and what the tool says of other ones.
class BuiltPlan {
 public:
  BuiltPlan() {
    const Ran ran = tool_.run({"build", bert_tiny(), "--shape", kShape, "--threads", "1", "--out", path()});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
  }
  std::string path() const { return tool_ / "plan.rung"; }
  std::string format() const { return (*Safetensors::open(path()))->metadata().at("format"); }
  std::string refusal_of(const std::string& format) {
    std::string bytes = *read_text_file(path());
    bytes.replace(bytes.find(this->format()), format.size(), format);
    tool_.folder().write("other.rung", bytes);
    return error_line(tool_.run({"bench", tool_ / "other.rung"}));
  }

 private:
  Tool tool_;
};

TEST(VersionsPage, HasTheFormatOfPlans) {
  const std::string format = BuiltPlan().format();
  EXPECT_THAT(page(), HasSubstr("| plan (`plan.rung`) | `" + format + "` | `format` in the file's metadata |"));
  EXPECT_THAT(page(), HasSubstr("The number in `" + format + "` changes whenever"));
}

TEST(VersionsPage, HasTheRefusalOfAnotherPlanFormat) {
  BuiltPlan plan;
  std::string older = plan.format();
  older.back() = static_cast<char>(older.back() - 1);
  const std::string said = plan.refusal_of(older);
  EXPECT_THAT(page(), HasSubstr(said.substr(said.find("got format"))));
  std::string newer = plan.format();
  newer.back() = static_cast<char>(newer.back() + 1);
  EXPECT_THAT(plan.refusal_of(newer), HasSubstr("got format '" + newer + "', wanted '" + plan.format() + "'"));
}

TEST(VersionsPage, HasTheVersionOfRecipes) {
  const auto version = to_json(Recipe{}).at("version").get<int>();
  EXPECT_THAT(page(), HasSubstr(fmt::format("| recipe (`recipe.json`) | {} | `version` in the file |", version)));
}

TEST(VersionsPage, HasTheVersionOfTuningDatabases) {
  TemporaryDirectory directory;
  auto database = TuningDatabase::open(directory / "tuning.json", "a device");
  ASSERT_TRUE(database);
  database->put_model("a model", {});
  ASSERT_TRUE(database->save());
  const auto version = read_json_file(directory / "tuning.json")->at("version").get<int>();
  EXPECT_THAT(page(),
              HasSubstr(fmt::format("| tuning database (`tuning.json`) | {} | `version` in the file |", version)));
}

TEST(VersionsPage, HasTheVersionsOfTheInterfaces) {
  EXPECT_THAT(page(), HasSubstr(fmt::format("| C interface (`rung.h`) | {} |", RUNG_INTERFACE_VERSION)));
  const std::string minor(kRungVersion.substr(0, kRungVersion.rfind('.')));
  EXPECT_THAT(page(),
              HasSubstr("| C++ interface, CMake package | " + minor + " | `find_package(rung " + minor + ")` |"));
}

}  // namespace
}  // namespace rung
