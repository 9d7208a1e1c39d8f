// config.json fields: types and ranges are enforced, and errors name file, field, got and wanted.
// SPDX-License-Identifier: Apache-2.0
#include "base/json_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Config config(const std::string& text) {
  auto parsed = Config::parse(text, "config.json");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return *parsed;
}

template <class T>
std::string message(const Result<T>& result) {
  return result ? "accepted" : result.error().message;
}

TEST(Config, ReadsEveryKindOfField) {
  auto c = config(R"({"n":12,"eps":1e-12,"on":true,"act":"gelu","dims":[1,2],"sub":{"n":3},"none":null})");
  EXPECT_EQ(*c.get_int("n", {1, 12}), 12);
  EXPECT_EQ(*c.get_number("eps", 0, 1), 1e-12);
  EXPECT_EQ(*c.get_number("n", 0, 20), 12.0);
  EXPECT_TRUE(*c.get_bool("on"));
  EXPECT_EQ(*c.get_text("act"), "gelu");
  EXPECT_EQ(*c.get_word("act", {"relu", "gelu"}), "gelu");
  EXPECT_THAT(*c.get_ints("dims", 2, {0, 9}), ElementsAre(1, 2));
  EXPECT_EQ(*c.get_object("sub")->get_int("n", {0, 9}), 3);
  EXPECT_FALSE(c.contains("none"));
}

TEST(Config, UsesDefaultsOnlyForMissingOrNullFields) {
  auto c = config(R"({"none":null,"n":-1})");
  EXPECT_EQ(*c.get_int_or("none", {0, 9}, 5), 5);
  EXPECT_EQ(*c.get_int_or("missing", {0, 9}, 5), 5);
  EXPECT_FALSE(c.get_int_or("n", {0, 9}, 5));
  EXPECT_EQ(*c.get_number_or("missing", 0, 1, 0.5), 0.5);
  EXPECT_TRUE(*c.get_bool_or("missing", true));
  EXPECT_EQ(*c.get_text_or("missing", "x"), "x");
  EXPECT_FALSE(c.get_text_or("n", "x"));
}

TEST(Config, NamesAMissingField) {
  EXPECT_EQ(message(config("{}").get_int("hidden_size", {1, 65536})),
            "'config.json': no field 'hidden_size', wanted an integer from 1 to 65536");
}

TEST(Config, RefusesAbsurdSizes) {
  for (const char* value : {"0", "-3", "65537", "1e30", "384.0", "18446744073709551615", "\"384\"", "true", "[384]"}) {
    auto c = config(std::string("{\"hidden_size\":") + value + "}");
    EXPECT_THAT(message(c.get_int("hidden_size", {1, 65536})), HasSubstr("wanted an integer from 1 to 65536")) << value;
  }
}

TEST(Config, RefusesWrongTypesNamingGotAndWanted) {
  auto c = config(R"({"a":{},"b":[1,"x"],"c":"selu","d":[1,2,3]})");
  EXPECT_THAT(message(c.get_text("a")), HasSubstr("field 'a': got an object, wanted a string"));
  EXPECT_THAT(message(c.get_bool("c")), HasSubstr("field 'c': got the string 'selu', wanted true or false"));
  EXPECT_THAT(message(c.get_ints("b", 2, {0, 9})), HasSubstr("got an array of 2, wanted 2 integers from 0 to 9"));
  EXPECT_THAT(message(c.get_ints("d", 2, {0, 9})), HasSubstr("got an array of 3, wanted 2 integers"));
  EXPECT_THAT(message(c.get_word("c", {"gelu", "relu"})), HasSubstr("wanted one of 'gelu', 'relu'"));
  EXPECT_THAT(message(c.get_object("d")), HasSubstr("wanted an object"));
  EXPECT_THAT(message(c.get_number("c", 0, 1)), HasSubstr("wanted a number from 0 to 1"));
}

TEST(Config, RefusesATextThatIsNotAnObject) {
  EXPECT_THAT(message(Config::parse("[]", "config.json")), HasSubstr("wanted an object"));
  EXPECT_THAT(message(Config::parse("{", "config.json")), HasSubstr("not valid JSON"));
  EXPECT_THAT(message(Config::parse(R"({"a":1,"a":2})", "config.json")), HasSubstr("duplicate key 'a'"));
}

TEST(Config, NamesTheFileItCouldNotRead) {
  TemporaryDirectory dir;
  EXPECT_THAT(message(Config::read(dir / "config.json")), HasSubstr("config.json': no such file"));
  EXPECT_THAT(message(Config::read(dir.write("config.json", "x"))), HasSubstr("not valid JSON at byte"));
}

}  // namespace
}  // namespace rung
