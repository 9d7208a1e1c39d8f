// Strict JSON: what other parsers let pass is an error here.
// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/limits.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& text) {
  auto result = parse_json(text, "f.json");
  return result ? "accepted" : result.error().message;
}

TEST(ParseJson, BuildsNestedValues) {
  std::string text = R"({"a":[1,-2,2.5,"x",true,null,{"b":{}},[]],"c":18446744073709551615})";
  auto result = parse_json(text, "f.json");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(*result, nlohmann::json::parse(text));
}

// What a reader says that threw what `read` throws at a value.
template <class Read>
std::string reason_against(const nlohmann::json& value, const Read& read) {
  try {
    read(value);
  } catch (const std::exception& exception) {
    return reason_of(exception);
  }
  return "accepted";
}

TEST(ReasonOf, SaysWhatWasGotAndWanted) {
  const nlohmann::json text = "x", list = nlohmann::json::array({1});
  EXPECT_EQ(reason_against(text, [](auto& v) { (void)v.template get<int>(); }), "got a string, wanted a number");
  EXPECT_EQ(reason_against(nullptr, [](auto& v) { (void)v.template get<std::map<std::string, int>>(); }),
            "got null, wanted an object");
  EXPECT_EQ(reason_against(list, [](auto& v) { (void)v.template get<bool>(); }), "got an array, wanted a boolean");
  EXPECT_EQ(reason_against({{"a", 1}}, [](auto& v) { v.at("b"); }), "field 'b' is missing");
  EXPECT_EQ(reason_against(list, [](auto& v) { v.at(3); }), "element 3 of a list is missing");
  EXPECT_EQ(reason_against(text, [](auto& v) { v.at("b"); }), "got a string, wanted an object or an array");
  EXPECT_EQ(reason_against(list, [](auto& v) { (void)v.value("b", 1); }), "got an array, which is of the wrong type");
  EXPECT_EQ(reason_against(text, [](auto&) { throw std::out_of_range("a rank of 9"); }), "a rank of 9");
}

TEST(ParseJson, RefusesDuplicateKeysAtAnyDepth) {
  EXPECT_THAT(error_of(R"({"a":1,"a":2})"), HasSubstr("'f.json': duplicate key 'a'"));
  EXPECT_THAT(error_of(R"([{"x":{"b":1,"c":1,"b":1}}])"), HasSubstr("duplicate key 'b'"));
  EXPECT_EQ(error_of(R"([{"b":1},{"b":1}])"), "accepted");
}

TEST(ParseJson, RefusesTextThatIsNotJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1}x", "nan", "1e999", "\"\xff\"", "'a'"})
    EXPECT_THAT(error_of(text), HasSubstr("not valid JSON")) << text;
}

TEST(ParseJson, RefusesAZeroByteBehindTheValue) {
  EXPECT_THAT(error_of(std::string("{}\0garbage", 10)), HasSubstr("zero byte at byte 2"));
}

TEST(ParseJson, RefusesDeepNesting) {
  EXPECT_EQ(error_of(std::string(64, '[') + std::string(64, ']')), "accepted");
  EXPECT_THAT(error_of(std::string(65, '[') + std::string(65, ']')), HasSubstr("nested deeper than 64"));
}

// Each value takes far more memory than text.
TEST(ParseJson, RefusesMoreThanFourMillionValues) {
  std::string many = "[0";
  for (size_t i = 0; i < kMaxJsonValues; ++i) many += ",0";
  EXPECT_THAT(error_of(many + "]"), HasSubstr("more than 4000000 values"));
}

TEST(CheckVersion, SaysWhatIsMissingOrWrong) {
  const auto refusal = [](std::string_view text) {
    const Status checked = check_version(nlohmann::json::parse(text), 3);
    return checked ? "accepted" : checked.error().message;
  };
  EXPECT_EQ(refusal(R"({"version": 3})"), "accepted");
  EXPECT_EQ(refusal("{}"), "field 'version' is missing, wanted 3");
  EXPECT_EQ(refusal(R"({"version": 4})"), "got version 4, wanted 3");
  EXPECT_EQ(refusal(R"({"version": 3.0})"), "got version 3.0, wanted 3");
  EXPECT_EQ(refusal(R"({"version": "3"})"), "got version \"3\", wanted 3");
  EXPECT_EQ(refusal("[]"), "got an array of 0, wanted an object");
}

TEST(DumpJson, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(dump_json(nlohmann::json{{"a\xff", "\xc3\xa4\xc3"}}), "{\"a\uFFFD\":\"\u00e4\uFFFD\"}");
  EXPECT_EQ(dump_json(nlohmann::ordered_json{{"b", "\xff"}, {"a", 1}}, 1), "{\n \"b\": \"\uFFFD\",\n \"a\": 1\n}");
}

TEST(ValidUtf8, KeepsTextAndReplacesTheRest) {
  EXPECT_EQ(valid_utf8("gr\u00fc\u00df \"x\"\n"), "gr\u00fc\u00df \"x\"\n");
  EXPECT_EQ(valid_utf8("a\xff"
                       "b"),
            "a\uFFFDb");
  EXPECT_EQ(valid_utf8(""), "");
}

}  // namespace
}  // namespace rung
