// Chat templates and their language against what the published library renders; make_chats.py writes both.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/json.hpp"
#include "text/chat_template.hpp"
#include "text/jinja/template.hpp"

namespace rung {
namespace {

using OrderedJson = nlohmann::ordered_json;

// RUNG_CHATS names another folder, for comparisons that are too large to keep.
OrderedJson chat_answers(const char* file) {
  const char* other = std::getenv("RUNG_CHATS");
  const auto folder = other ? std::filesystem::path(other) : std::filesystem::path(RUNG_TEST_DATA) / "chats";
  const auto text = read_text_file((folder / file).string());
  EXPECT_TRUE(text) << text.error().message;
  return OrderedJson::parse(text.value_or("{}"));
}

std::string template_text(const std::string& name) {
  const auto path = std::filesystem::path(RUNG_TEST_DATA) / "chats/templates" / (name + ".jinja");
  return read_text_file(path.string()).value_or("");
}

// Dates are told in UTC, as make_chats.py tells them.
class PublishedTexts : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  // Reports the first differences, and counts all. A text that is null stands for an error.
  void expect(const Result<std::string>& got, const OrderedJson& wanted, const std::string& what) {
    if (got ? wanted == *got : wanted.is_null()) return;
    if (++differences_ > 200) return;
    ADD_FAILURE() << what << "\n  got    " << (got ? dump_json(OrderedJson(*got)) : "the error " + got.error().message)
                  << "\n  wanted " << (wanted.is_null() ? "an error" : wanted.dump());
  }
  void TearDown() override { EXPECT_EQ(differences_, 0) << "differences"; }

  int differences_ = 0;
};

TEST_F(PublishedTexts, OfEveryExpressionAndStatement) {
  const OrderedJson answers = chat_answers("language.json");
  const jinja::RenderOptions options{.now = answers.at("now").get<std::time_t>()};
  for (const OrderedJson& one : answers.at("cases")) {
    std::vector<std::pair<std::string, jinja::Value>> variables;
    for (const auto& [name, value] : answers.at("variables").items())
      variables.emplace_back(name, *jinja::value_of_json(value.dump(), name));
    const auto read = jinja::Template::read(one[0].get<std::string>());
    expect(read.and_then([&](const jinja::Template& text) { return text.render(variables, options); }), one[1],
           one[0].dump());
  }
  EXPECT_GT(answers.at("cases").size(), 4000U);
}

// Returns a chat of make_chats.py as our own interface takes it.
Chat chat_of(OrderedJson given) {
  Chat chat{.messages = given.at("messages").dump(),
            .adds_generation_prompt = given.value("add_generation_prompt", false)};
  if (given.contains("tools")) chat.tools = given.at("tools").dump();
  if (given.contains("documents")) chat.documents = given.at("documents").dump();
  for (const char* name : {"messages", "add_generation_prompt", "tools", "documents"}) given.erase(name);
  if (!given.empty()) chat.variables = given.dump();
  return chat;
}

TEST_F(PublishedTexts, OfEveryChat) {
  const OrderedJson answers = chat_answers("chats.json");
  const ChatOptions options{.now = answers.at("now").get<std::time_t>()};
  const std::string tokens = answers.at("tokens").dump();
  for (const auto& [name, text] : answers.at("texts").items()) {
    const size_t slash = name.find('/');
    const auto chat_template = ChatTemplate::from_texts(
        {{"chat_template.jinja", template_text(name.substr(0, slash))}, {"tokenizer_config.json", tokens}});
    ASSERT_TRUE(chat_template && *chat_template) << chat_template.error().message;
    expect((*chat_template)->render(chat_of(answers.at("chats").at(name.substr(slash + 1))), options), text, name);
  }
  EXPECT_GT(answers.at("texts").size(), 180U);
}

}  // namespace
}  // namespace rung
