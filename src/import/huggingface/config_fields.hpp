// Reading a config.json field by field, each within bounds; the first mistake is kept and the rest goes on with a valid
// value. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace rung::huggingface {

struct Bounds {
  int64_t least, most;
};

class ConfigFields {
 public:
  // `object` must be a JSON object and outlive this; `where` names it in errors ("config.json").
  ConfigFields(const nlohmann::json& object, std::string where);

  bool has(const std::string& name) const;  // present and not null
  // Without a fallback the field is required.
  int64_t integer(const std::string& name, Bounds bounds, std::optional<int64_t> fallback = {});
  double number(const std::string& name, double least, double most, double fallback);
  bool flag(const std::string& name, bool fallback);
  std::string text(const std::string& name, const std::string& fallback);
  // A list of exactly `bounds.size()` integers.
  std::vector<int64_t> integers(const std::string& name, const std::vector<Bounds>& bounds);
  // The first of the names that is present, or the last of them.
  std::string first_present(std::initializer_list<std::string> names) const;

  template <class... Args>
  void mistake(fmt::format_string<Args...> format, Args&&... args) {
    if (status_)
      status_ = tl::unexpected<Error>(Error{where_ + ": " + fmt::format(format, std::forward<Args>(args)...)});
  }
  const Status& status() const { return status_; }

 private:
  const nlohmann::json* find(const std::string& name) const;
  bool in_bounds(const nlohmann::json& value, Bounds bounds, int64_t& out) const;

  const nlohmann::json& object_;
  std::string where_;
  Status status_;
};

// Errors: not JSON, not an object.
Result<nlohmann::json> parse_config(std::string_view json_text, const std::string& where);

}  // namespace rung::huggingface
