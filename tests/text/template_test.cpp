// What templates may not do: errors with their line, and limits that a hostile template meets.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"
#include "text/chat_template.hpp"

namespace rung {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Result<std::string> render(const std::string& text, jinja::Limits limits = {}) {
  const auto read = jinja::Template::read(text);
  if (!read) return tl::unexpected(read.error());
  return read->render({{"messages", *jinja::value_of_json(R"([{"role": "user", "content": "Hi"}])", "messages")}},
                      {.limits = limits});
}

std::string error_in(const std::string& text, jinja::Limits limits = {}) {
  const auto rendered = render(text, limits);
  EXPECT_FALSE(rendered) << *rendered;
  return rendered ? "" : rendered.error().message;
}

std::string repeated(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Templates, NameTheLineAndWhatIsWanted) {
  EXPECT_EQ(error_in("a\n{% if x %}\nb"), "line 3: got the end of the template, wanted 'elif' or 'else' or 'endif'");
  EXPECT_THAT(error_in("\n{% nothing %}"), StartsWith("line 2: got 'nothing', wanted a statement: if, for, set"));
  EXPECT_EQ(error_in("{{ 1 + }}"), "line 1: got the end of the tag, wanted an expression");
  EXPECT_EQ(error_in("{{ (1] }}"), "line 1: got ']', wanted ')'");
  EXPECT_EQ(error_in("\n\n{# never"), "line 3: got a comment without its end '#}'");
  EXPECT_EQ(error_in("{{ messages[0].nothing.more }}"), "line 1: a dictionary has no 'nothing'");
  EXPECT_EQ(error_in("{{ 1\n + 'a' }}"), "line 1: got an integer + a text, wanted values that this operator takes");
  EXPECT_EQ(error_in("{% macro f() %}\n{{ 1 / 0 }}{% endmacro %}\n{{ f() }}"), "line 2: got a division by zero");
  EXPECT_EQ(error_in("{{ 'a' | nothing }}"), "line 1: got the filter 'nothing', which is not supported");
  EXPECT_EQ(error_in("{{ [1] | join(nope=1) }}"),
            "line 1: 'join': got 'nope' as an argument's name, wanted the parameters 'value d? attribute?'");
  EXPECT_THAT(error_in("{% include 'x' %}"), StartsWith("line 1: got 'include', wanted a statement"));
}

TEST(Templates, SayWhatTheyRefuseThemselves) {
  const auto refused = render("{% if true %}\n{{ raise_exception('No system role') }}{% endif %}");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "line 2: the template refuses this chat: No system role");
  EXPECT_EQ(refused.error().kind, ErrorKind::mismatch);
}

TEST(Templates, EndAfterSoManySteps) {
  const std::string loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
  EXPECT_THAT(error_in(loops), HasSubstr("got more than 5000000 steps"));
  EXPECT_THAT(error_in("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), HasSubstr("levels of statements, calls"));
  EXPECT_THAT(error_in("{{ ('a' * 200000 ~ 'b') in 'a' * 9000000 }}"), HasSubstr("got more than 5000000 steps"));
  EXPECT_THAT(error_in("{{ range(100001) }}"), HasSubstr("'range': got more than 100000 numbers"));
}

TEST(Templates, MakeNoTextsWithoutEnd) {
  EXPECT_THAT(error_in("{{ 'abc' * 1000000000000 }}"), HasSubstr("wanted fewer"));
  EXPECT_THAT(error_in("{{ [0] * 1000000000000 }}"), HasSubstr("wanted fewer"));
  EXPECT_THAT(
      error_in("{% set ns = namespace(a='xx') %}{% for i in range(99) %}{% set ns.a = ns.a + ns.a %}{% endfor %}"),
      HasSubstr("got values of more than 536870912 bytes"));
  EXPECT_THAT(error_in("{{ ('a' * 99999999) | list | length }}"), HasSubstr("got values of more than"));
  EXPECT_THAT(error_in("{{ ('a ' * 9999999).split() | length }}"), HasSubstr("got values of more than"));
  EXPECT_THAT(error_in("{{ 'a'.ljust(9223372036854775807) }}"), HasSubstr("got values of more than"));
  EXPECT_THAT(error_in("{{ '%999999999d' % 1 }}"), HasSubstr("got a format with a width beyond 10000"));
  EXPECT_THAT(error_in("{% for i in range(99) %}{{ 'abcdefghij' }}{% endfor %}", {.output = 500}),
              HasSubstr("got a text of more than 500 bytes"));
}

TEST(Templates, MakeNoContainersWithoutEnd) {
  const auto grown = [](const std::string& value) {
    return "{% set ns = namespace(a=[]) %}{% for i in range(999) %}{% set ns.a = " + value +
           " %}{% endfor %}{{ ns.a }}";
  };
  EXPECT_THAT(error_in(grown("[ns.a]")), HasSubstr("got containers nested deeper than 200 levels"));
  EXPECT_THAT(error_in(grown("{'x': ns.a, 'y': ns.a}")), HasSubstr("got a container of more than 4000000 values"));
  EXPECT_THAT(error_in("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns.me }}"),
              HasSubstr("got a namespace to print"));
}

TEST(Templates, AreNotNestedWithoutEnd) {
  EXPECT_THAT(error_in("{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}"),
              HasSubstr("levels of brackets"));
  EXPECT_THAT(error_in("{{ " + repeated("not ", 5000) + "1 }}"), HasSubstr("levels of brackets"));
  EXPECT_THAT(error_in("{{ " + repeated("-", 5000) + "1 }}"), HasSubstr("levels of brackets"));
  EXPECT_THAT(error_in(repeated("{% if 1 %}", 5000)), HasSubstr("levels of brackets and statements"));
  EXPECT_THAT(error_in("{{ 1" + repeated(" if 1 else 1", 5000) + " }}"), HasSubstr("levels of brackets"));
  EXPECT_THAT(error_in("{{ 1" + repeated(" if 1", 5000) + " }}"), HasSubstr("conditions in a row"));
  EXPECT_EQ(render("{{ 1" + repeated(" + 1", 5000) + " }}").value_or("error"), "5001");
  EXPECT_EQ(render("{{ 'a'" + repeated(".strip()", 5000) + " }}").value_or("error"), "a");
  EXPECT_THAT(error_in(std::string((1 << 20) + 1, 'a')), HasSubstr("got a template of 1048577 bytes"));
}

// What these make holds itself, and is let go with the rendering: the sanitizers see what is not.
TEST(Templates, LetGoOfWhatHoldsItself) {
  EXPECT_EQ(render("{% macro f() %}x{% endmacro %}{% set ns = namespace(f=f) %}{% set ns.me = ns %}{{ ns.me.f() }}"),
            "x");
  EXPECT_EQ(render("{% for i in [1, 2] %}{% set l = loop %}{{ l.changed(l) }}{% endfor %}"), "TrueTrue");
}

TEST(Templates, MayBeAnyBytesButWantUtf8) {
  EXPECT_THAT(error_in("a\xff"), HasSubstr("not UTF-8"));
  EXPECT_EQ(render(std::string("a\0b", 3)).value_or("error"), std::string("a\0b", 3));
  EXPECT_THAT(error_in("{{ \x01 }}"), HasSubstr("got the character"));
}

constexpr const char* kHello = R"([{"role": "user", "content": "Hello"}])";

Result<std::string> prompt_of(const TextFiles& files, const Chat& chat, const ChatOptions& options = {}) {
  const auto found = ChatTemplate::from_texts(files);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return wrong_usage("no template");
  return (*found)->render(chat, options);
}

TEST(ChatTemplates, StandInThreePlaces) {
  const TextFiles config{
      {"tokenizer_config.json", R"({"chat_template": "config {{ bos_token }}", "bos_token": "<s>"})"}};
  EXPECT_EQ(prompt_of(config, {.messages = kHello}).value_or("error"), "config <s>");
  TextFiles files = config;
  files["chat_template.jinja"] = "file {{ bos_token }}";
  files["chat_template.json"] = R"({"chat_template": "json"})";
  EXPECT_EQ(prompt_of(files, {.messages = kHello}).value_or("error"), "file <s>");
  EXPECT_EQ(prompt_of({{"chat_template.json", R"({"chat_template": "json"})"}}, {.messages = kHello}).value_or("error"),
            "json");
  EXPECT_EQ(prompt_of({}, {.messages = kHello}).error().message, "no template");
}

TEST(ChatTemplates, AreReadFromTheirDirectory) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "chat_templates");
  directory.write("chat_template.jinja", "plain {{ messages[0].content }}");
  directory.write("chat_templates/rag.jinja", "rag");
  const auto found = ChatTemplate::open(directory.path());
  ASSERT_TRUE(found && *found) << found.error().message;
  EXPECT_THAT((*found)->names(), ElementsAre("default", "rag"));
  EXPECT_EQ((*found)->render({.messages = kHello}).value_or("error"), "plain Hello");
  EXPECT_EQ((*found)->render({.messages = kHello}, {.name = "rag"}).value_or("error"), "rag");
}

TEST(ChatTemplates, WithToolsAreTakenForTools) {
  const TextFiles files{
      {"tokenizer_config.json",
       R"({"chat_template": [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"}]})"}};
  EXPECT_EQ(prompt_of(files, {.messages = kHello}).value_or("error"), "d");
  EXPECT_EQ(prompt_of(files, {.messages = kHello, .tools = "[{}]"}).value_or("error"), "t");
  EXPECT_THAT(prompt_of(files, {.messages = kHello}, {.name = "x"}).error().message,
              HasSubstr("got 'x', wanted one of 'default', 'tool_use'"));
}

TEST(ChatTemplates, RefuseWhatIsNoChat) {
  const TextFiles files{{"chat_template.jinja", "{{ messages[0].content + 'x' }}"}};
  const auto error = [&](const Chat& chat) {
    const auto prompt = prompt_of(files, chat);
    EXPECT_FALSE(prompt);
    EXPECT_EQ(prompt.error().kind, ErrorKind::usage);
    return prompt ? "" : prompt.error().message;
  };
  EXPECT_THAT(error({.messages = "["}), HasSubstr("'messages': not valid JSON at byte"));
  EXPECT_THAT(error({.messages = ""}), HasSubstr("messages: got none, wanted a list such as"));
  EXPECT_THAT(error({.messages = "[]"}), HasSubstr("messages: got none"));
  EXPECT_THAT(error({.messages = "{}"}), HasSubstr("messages: got a dictionary, wanted a list of objects"));
  EXPECT_THAT(error({.messages = "[1]"}), HasSubstr("messages: got an integer at place 0, wanted an object"));
  EXPECT_THAT(error({.messages = kHello, .tools = "{}"}), HasSubstr("tools: got a dictionary"));
  EXPECT_THAT(error({.messages = kHello, .variables = "[]"}), HasSubstr("variables: got a list, wanted an object"));
  EXPECT_THAT(error({.messages = R"([{"a": 18446744073709551615}])"}), HasSubstr("a number beyond 64 bits"));
}

TEST(ChatTemplates, NameTheirFileAndLineInErrors) {
  EXPECT_EQ(prompt_of({{"chat_template.jinja", "\n{{ 1 + }}"}}, {.messages = kHello}).error().message,
            "'chat_template.jinja': line 2: got the end of the tag, wanted an expression");
  EXPECT_EQ(prompt_of({{"chat_template.jinja", "{{ messages[0].text + 'x' }}"}}, {.messages = kHello}).error().message,
            "'chat_template.jinja': line 1: a dictionary has no 'text'");
  EXPECT_THAT(prompt_of({{"tokenizer_config.json", R"({"chat_template": 1})"}}, {.messages = kHello}).error().message,
              HasSubstr("'tokenizer_config.json': field 'chat_template': got 1, wanted a text or a list of templates"));
}

TEST(ChatTemplates, TakeVariablesOverSpecialTokens) {
  const TextFiles files{{"tokenizer_config.json", R"({"eos_token": {"content": "</s>"}})"},
                        {"chat_template.jinja", "{{ eos_token }} {{ add_generation_prompt }}"}};
  EXPECT_EQ(prompt_of(files, {.messages = kHello}).value_or("error"), "</s> True");
  EXPECT_EQ(
      prompt_of(files, {.messages = kHello, .variables = R"({"eos_token": "x"})", .adds_generation_prompt = false})
          .value_or("error"),
      "x False");
}

}  // namespace
}  // namespace rung
