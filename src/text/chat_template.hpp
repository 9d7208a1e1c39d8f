// A chat becomes the text that a model was trained to go on from, as the template beside the model says.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "text/files.hpp"
#include "text/jinja/template.hpp"

namespace rung {

// A template is given these, each as JSON text.
struct Chat {
  std::string messages;                // a list of objects with "role" and "content", and what else a template reads
  std::string tools = {};              // a list of the functions that the model may call; empty: none
  std::string documents = {};          // a list of objects that the model may cite; empty: none
  std::string variables = "{}";        // further names of the template, such as {"enable_thinking": false}
  bool adds_generation_prompt = true;  // the text ends where the model's own message begins
};

struct ChatOptions {
  // The name of one of several templates; nullopt: "tool_use" if there are tools and a template of that name, and else
  // "default".
  std::optional<std::string> name = {};
  std::optional<std::time_t> now = {};  // the time that a template tells; nullopt: that of the call
};

// Copies share what was read, and any number of threads may use it.
class ChatTemplate {
 public:
  // Reads chat_template.jinja with chat_templates/NAME.jinja, or else the field "chat_template" of
  // tokenizer_config.json, or else of chat_template.json. nullopt: there is none. Errors name the file and the line.
  static Result<std::optional<ChatTemplate>> open(const std::string& directory);
  // Does the same from the files' texts, by file name: a plan carries them.
  static Result<std::optional<ChatTemplate>> from_texts(const TextFiles& texts);

  // Returns the prompt of a chat: give it to Tokenizer::pieces(), because it has its special tokens already. Errors:
  // not JSON, or no list of messages; no template of that name; what the template refuses, with its line; a template
  // that takes too long.
  Result<std::string> render(const Chat& chat, const ChatOptions& options = {}) const;

  std::vector<std::string> names() const;

 private:
  struct Named {
    std::string what;  // the template's file and name, for messages
    jinja::Template text;
  };
  ChatTemplate() = default;
  Result<const Named*> pick(const std::optional<std::string>& name, bool has_tools) const;

  std::map<std::string, Named> templates_;
  std::vector<std::pair<std::string, std::string>> special_tokens_;  // by variable: "bos_token" -> "<s>"
};

}  // namespace rung
