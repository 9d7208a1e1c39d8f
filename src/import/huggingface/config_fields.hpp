// Reads a config field after field: the first mistake is kept and reading goes on, so one look at status() is enough.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/json_config.hpp"
#include "ir/dtype.hpp"

namespace rung::huggingface {

class ConfigFields {
 public:
  explicit ConfigFields(const Config& config) : config_(config) {}

  bool has(const std::string& name) const { return config_.contains(name); }
  bool is_list(const std::string& name) const;
  // Reads a field, which is required if there is no fallback.
  int64_t integer(const std::string& name, IntRange range, std::optional<int64_t> fallback = {});
  double number(const std::string& name, double least, double most, double fallback);
  // Reads a bound of scores. An absent field means `fallback`, and null none, which is 0.
  double cap(const std::string& name, double fallback);
  bool flag(const std::string& name, bool fallback);
  std::string text(const std::string& name, const std::string& fallback);
  std::vector<int64_t> integers(const std::string& name, const std::vector<IntRange>& ranges);
  // Returns the first of the names that is present, or the last name.
  std::string first_present(std::initializer_list<const char*> names) const;

  template <class... Args>
  void mistake(fmt::format_string<Args...> format, Args&&... args) {
    keep(fmt::format("'{}': {}", config_.what(), fmt::format(format, std::forward<Args>(args)...)));
  }
  const Status& status() const { return status_; }

 private:
  void keep(std::string message) {
    if (status_) status_ = tl::unexpected<Error>(Error{std::move(message)});
  }
  template <class T>
  T take(const Result<T>& value, T otherwise) {
    if (value) return *value;
    keep(value.error().message);
    return otherwise;
  }

  const Config& config_;
  Status status_;
};

// Returns the type of the weights, as `dtype` or `torch_dtype` names it.
DType read_dtype(ConfigFields& fields);

}  // namespace rung::huggingface
