// Finds a model's chat templates, and gives them their variables.
// SPDX-License-Identifier: Apache-2.0
#include "text/chat_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "text/settings.hpp"

namespace rung {
namespace {

using jinja::Value;

using Templates = std::map<std::string, std::pair<std::string, std::string>>;  // what it is and its text, by name

// Reads the field "chat_template": a template, or a list of templates with names.
Status add_field(const Config& config, Templates& templates) {
  if (!templates.empty() || !config.contains("chat_template")) return {};
  const std::string what = fmt::format("'{}': field 'chat_template'", config.what());
  const nlohmann::json& field = config.json().at("chat_template");
  if (field.is_string()) {
    templates["default"] = {what, field.get<std::string>()};
    return {};
  }
  if (!field.is_array()) return bad_file("{}: got {}, wanted a text or a list of templates", what, describe(field));
  RUNG_TRY(const auto list, config.get_objects("chat_template"));
  for (const Config& item : list) {
    RUNG_TRY(const std::string name, item.get_text("name"));
    RUNG_TRY(std::string text, item.get_text("template"));
    if (!templates.try_emplace(name, fmt::format("{}, '{}'", what, name), std::move(text)).second)
      return bad_file("{}: got two templates '{}'", what, name);
  }
  return {};
}

// Files of templates go before the fields of other files.
Result<Templates> find_templates(const TextFiles& texts) {
  Templates templates;
  for (const auto& [file, content] : texts) {
    const std::string_view name = file;
    if (name == text::kChatTemplate)
      templates["default"] = {fmt::format("'{}'", file), content};
    else if (name.starts_with(text::kChatTemplates) && name.ends_with(".jinja"))
      templates[std::string(name.substr(text::kChatTemplates.size(), name.size() - text::kChatTemplates.size() - 6))] =
          {fmt::format("'{}'", file), content};
  }
  for (const char* file : {text::kTokenizerConfig, text::kChatTemplateJson}) {
    const auto found = texts.find(file);
    if (found == texts.end()) continue;
    RUNG_TRY(const Config config, Config::parse(found->second, file));
    RUNG_CHECK(add_field(config, templates));
  }
  return templates;
}

// Returns a list of objects, or none for an empty text.
Result<Value> read_list(const std::string& text, const std::string& what) {
  if (text.empty()) return Value();
  RUNG_TRY(Value list, errors_of(ErrorKind::usage, jinja::value_of_json(text, what)));
  const jinja::Sequence* sequence = list.sequence();
  if (!sequence) return wrong_usage("{}: got {}, wanted a list of objects", what, jinja::kind_of(list));
  for (size_t i = 0; i < sequence->of.size(); ++i)
    if (!sequence->of[i].dictionary())
      return wrong_usage("{}: got {} at place {}, wanted an object", what, jinja::kind_of(sequence->of[i]), i);
  return list;
}

// Thoughts of a model have had three names, of which templates read one: each message gets the newest and the one
// before it. Fields without a value are left out, because templates ask whether a field is there.
std::vector<jinja::Entry> normalized(const jinja::Dictionary& message) {
  constexpr std::array<std::string_view, 3> names{"reasoning_content", "thinking", "reasoning"};
  std::vector<jinja::Entry> entries;
  for (const jinja::Entry& entry : message.of)
    if (!entry.value.is_none()) entries.push_back(entry);
  for (const std::string_view name : names) {
    const Value* thoughts = message.find_text(name);
    if (!thoughts || thoughts->is_none()) continue;
    const Value* thinking = message.find_text("thinking");
    const bool has_thinking = thinking && !thinking->is_none();
    entries.insert(entries.begin(), {Value(std::string("thinking")), has_thinking ? *thinking : *thoughts});
    entries.push_back({Value(std::string("reasoning_content")), *thoughts});
    break;
  }
  return entries;
}

Result<Value> read_messages(const std::string& text) {
  RUNG_TRY(const Value list, read_list(text, "messages"));
  if (!list.sequence() || list.sequence()->of.empty())
    return wrong_usage("messages: got none, wanted a list such as [{{\"role\": \"user\", \"content\": \"Hello\"}}]");
  jinja::Run run({}, std::nullopt);
  jinja::Values messages;
  for (const Value& message : list.sequence()->of) {
    RUNG_TRY(Value made, run.dictionary(normalized(*message.dictionary())));
    messages.push_back(std::move(made));
  }
  return run.sequence(std::move(messages));
}

}  // namespace

Result<std::optional<ChatTemplate>> ChatTemplate::open(const std::string& directory) {
  RUNG_TRY(const TextFiles texts, tokenizer_texts(directory));
  auto found = from_texts(texts);
  if (!found) return fail_in(found.error(), "'{}'", directory);
  return found;
}

Result<std::optional<ChatTemplate>> ChatTemplate::from_texts(const TextFiles& texts) {
  RUNG_TRY(const Templates templates, find_templates(texts));
  if (templates.empty()) return std::nullopt;
  ChatTemplate chat;
  for (const auto& [name, found] : templates) {
    auto text = jinja::Template::read(found.second);
    if (!text) return fail_in(text.error(), "{}", found.first);
    chat.templates_.emplace(name, Named{found.first, std::move(*text)});
  }
  RUNG_TRY(const text::Settings settings, text::read_settings(texts));
  chat.special_tokens_.assign(settings.names.begin(), settings.names.end());
  return chat;
}

Result<const ChatTemplate::Named*> ChatTemplate::pick(const std::optional<std::string>& name, bool has_tools) const {
  const bool has_tool_use = has_tools && templates_.contains("tool_use");
  const auto found = templates_.find(name.value_or(has_tool_use ? "tool_use" : "default"));
  if (found != templates_.end()) return &found->second;
  return wrong_usage("chat template: got '{}', wanted one of '{}'", name.value_or("no name"),
                     fmt::join(names(), "', '"));
}

std::vector<std::string> ChatTemplate::names() const {
  std::vector<std::string> names;
  for (const auto& entry : templates_) names.push_back(entry.first);
  return names;
}

Result<std::string> ChatTemplate::render(const Chat& chat, const ChatOptions& options) const {
  RUNG_TRY(const Named* named, pick(options.name, !chat.tools.empty()));
  RUNG_TRY(Value messages, read_messages(chat.messages));
  RUNG_TRY(Value tools, read_list(chat.tools, "tools"));
  RUNG_TRY(Value documents, read_list(chat.documents, "documents"));
  RUNG_TRY(const Value further, errors_of(ErrorKind::usage, jinja::value_of_json(chat.variables, "variables")));
  if (!further.dictionary()) return wrong_usage("variables: got {}, wanted an object", jinja::kind_of(further));
  std::vector<std::pair<std::string, Value>> variables{{"messages", std::move(messages)},
                                                       {"tools", std::move(tools)},
                                                       {"documents", std::move(documents)},
                                                       {"add_generation_prompt", chat.adds_generation_prompt}};
  for (const jinja::Entry& entry : further.dictionary()->of) variables.emplace_back(*entry.key.text(), entry.value);
  for (const auto& [name, token] : special_tokens_) variables.emplace_back(name, Value(token));
  auto text = named->text.render(std::move(variables), {.now = options.now});
  if (!text) return fail_in(text.error(), "{}", named->what);
  return text;
}

}  // namespace rung
