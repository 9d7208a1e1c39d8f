// Makes values of JSON, event by event, so that the order of keys is kept.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "text/jinja/template.hpp"

namespace rung::jinja {
namespace {

using Json = nlohmann::json;

class ValueBuilder : public nlohmann::json_sax<Json> {
 public:
  Value root;
  bool has_large_number = false;

  bool null() override { return put(None{}); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    has_large_number = value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return !has_large_number && put(static_cast<int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return put(double{value}); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open({.is_object = true}); }
  bool start_array(size_t) override { return open({}); }
  bool key(string_t& name) override {
    open_.back().entries.push_back({Value(std::move(name)), {}});
    return true;
  }
  bool end_object() override {
    Container done = close();
    return put(std::make_shared<const Dictionary>(Dictionary{std::move(done.entries), done.extent}));
  }
  bool end_array() override {
    Container done = close();
    return put(std::make_shared<const Sequence>(Sequence{Sequence::Kind::list, std::move(done.items), done.extent}));
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  struct Container {
    bool is_object = false;
    Values items;
    std::vector<Entry> entries;
    Extent extent{.depth = 1};
  };

  bool put(Value value) {
    if (open_.empty()) {
      root = std::move(value);
      return true;
    }
    Container& to = open_.back();
    const Extent extent = extent_of(value);
    to.extent.depth = std::max(to.extent.depth, extent.depth + 1);
    to.extent.steps += extent.steps + (to.is_object ? to.entries.size() / 64 : 0);
    if (to.is_object)
      to.entries.back().value = std::move(value);
    else
      to.items.push_back(std::move(value));
    return true;
  }
  bool open(Container container) {
    open_.push_back(std::move(container));
    return true;
  }
  Container close() {
    Container done = std::move(open_.back());
    open_.pop_back();
    return done;
  }

  std::vector<Container> open_;
};

}  // namespace

// The strict reader goes first: it refuses duplicate keys and deep nesting.
Result<Value> value_of_json(std::string_view text, const std::string& what) {
  RUNG_CHECK(parse_json(text, what));
  ValueBuilder builder;
  if (!Json::sax_parse(text.begin(), text.end(), &builder))
    return fail("'{}': got {}, wanted JSON", what,
                builder.has_large_number ? "a number beyond 64 bits" : "a broken text");
  return std::move(builder.root);
}

}  // namespace rung::jinja
