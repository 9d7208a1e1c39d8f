// Builds a JSON document event by event, so that duplicate keys and deep nesting are seen before they are lost.
// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/limits.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

class StrictBuilder : public nlohmann::json_sax<Json> {
 public:
  Json root;
  std::string error;

  bool null() override { return value(nullptr); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(number_integer_t v) override { return value(v); }
  bool number_unsigned(number_unsigned_t v) override { return value(v); }
  bool number_float(number_float_t v, const string_t&) override { return value(v); }
  bool string(string_t& v) override { return value(std::move(v)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    auto [slot, fresh] = open_.back()->get_ref<Json::object_t&>().try_emplace(name, nullptr);
    if (!fresh) {
      error = fmt::format("duplicate key '{}'", name);
      return false;
    }
    slot_ = &slot->second;
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    error = fmt::format("not valid JSON at byte {}", position);
    return false;
  }

 private:
  bool count() {
    if (values_++ < kMaxJsonValues) return true;
    error = fmt::format("more than {} values", kMaxJsonValues);
    return false;
  }
  Json* put(Json v) {
    if (open_.empty()) return &(root = std::move(v));
    if (open_.back()->is_object()) return &(*slot_ = std::move(v));
    auto& array = open_.back()->get_ref<Json::array_t&>();
    return &array.emplace_back(std::move(v));
  }
  template <class T>
  bool value(T&& v) {
    if (!count()) return false;
    put(Json(std::forward<T>(v)));
    return true;
  }
  bool open(Json v) {
    if (!count()) return false;
    if (open_.size() == kMaxJsonDepth) {
      error = fmt::format("nested deeper than {} levels", kMaxJsonDepth);
      return false;
    }
    open_.push_back(put(std::move(v)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<Json*> open_;  // stays valid: a container grows only while it is the last one
  Json* slot_ = nullptr;     // the place for the value of the last key
  size_t values_ = 0;
};

// "a number" for the library's "number".
std::string with_article(std::string_view kind) {
  if (kind == "null") return "null";
  return fmt::format("{} {}", kind == "array" || kind == "object" ? "an" : "a", kind);
}

// Returns what stands between two parts of a text; none: it has not both.
std::optional<std::string_view> between(std::string_view text, std::string_view before, std::string_view behind) {
  const size_t begin = text.find(before);
  if (begin == text.npos) return std::nullopt;
  text.remove_prefix(begin + before.size());
  const size_t end = behind.empty() ? text.size() : text.find(behind);
  return end == text.npos ? std::nullopt : std::optional(text.substr(0, end));
}

template <class AnyJson>
std::string text_of(const AnyJson& json, int indent) {
  return json.dump(indent, ' ', false, AnyJson::error_handler_t::replace);
}

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& what) {
  if (size_t at = text.find('\0'); at != text.npos)  // the parser would take it for the text's end
    return fail("'{}': not valid JSON: a zero byte at byte {}", what, at);
  StrictBuilder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return fail("'{}': {}", what, builder.error);
  return std::move(builder.root);
}

Result<Json> read_json_file(const std::string& path) {
  RUNG_TRY(std::string text, read_text_file(path));
  return errors_of(ErrorKind::file, parse_json(text, path));
}

std::string dump_json(const Json& json, int indent) { return text_of(json, indent); }
std::string dump_json(const nlohmann::ordered_json& json, int indent) { return text_of(json, indent); }

std::string valid_utf8(std::string_view text) { return Json::parse(dump_json(Json(text))).get<std::string>(); }

std::string reason_of(const std::exception& exception) {
  const std::string_view text = exception.what();
  if (!dynamic_cast<const Json::exception*>(&exception)) return std::string(text);
  const auto wanted = between(text, "type must be ", ", but is "), got = between(text, ", but is ", "");
  if (wanted && got) return fmt::format("got {}, wanted {}", with_article(*got), with_article(*wanted));
  if (const auto key = between(text, "key '", "' not found")) return fmt::format("field '{}' is missing", *key);
  if (const auto index = between(text, "array index ", " is out of range"))
    return fmt::format("element {} of a list is missing", *index);
  if (const auto scalar = between(text, "cannot use at() with ", ""))
    return fmt::format("got {}, wanted an object or an array", with_article(*scalar));
  if (text.ends_with("non-object iterators")) return "got another value, wanted an object";
  if (const auto scalar = between(text, ") with ", ""))  // of value(), get_ref() and others
    return fmt::format("got {}, which is of the wrong type", with_article(*scalar));
  return std::string(between(text, "] ", "").value_or(text));
}

Status check_version(const Json& file, int wanted) {
  if (!file.is_object()) return fail("got {}, wanted an object", describe(file));
  const auto version = file.find("version");
  if (version == file.end()) return fail("field 'version' is missing, wanted {}", wanted);
  if (version->is_number_integer() && *version == wanted) return {};
  return fail("got version {}, wanted {}", dump_json(*version), wanted);
}

std::string describe(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return fmt::format("an array of {}", value.size());
    case Json::value_t::string:
      return fmt::format("the string '{}'", value.get_ref<const std::string&>().substr(0, 60));
    default:
      return dump_json(value);
  }
}

}  // namespace rung
