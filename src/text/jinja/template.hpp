// Templates in the part of the language Jinja that chat templates of published models use, rendered as their library
// renders them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/run.hpp"
#include "text/jinja/syntax.hpp"
#include "text/jinja/value.hpp"

namespace rung::jinja {

struct RenderOptions {
  Limits limits = {};
  std::optional<std::time_t> now = {};  // what strftime_now() tells, in local time; nullopt: the time of the call
};

// Copies share the tree, and any number of threads may render it.
class Template {
 public:
  // Errors: not UTF-8, too large, or not in the language; they name the line.
  static Result<Template> read(std::string_view text);

  // Renders the template with the names of these variables. Errors name the line: an operation that its values do not
  // allow, what the template itself refuses, a limit that is reached.
  Result<std::string> render(std::vector<std::pair<std::string, Value>> variables,
                             const RenderOptions& options = {}) const;

 private:
  explicit Template(std::shared_ptr<const Body> body) : body_(std::move(body)) {}
  std::shared_ptr<const Body> body_;
};

// Reads a value of JSON, whose objects keep the order of their keys. `what` names the text in errors. Errors: not JSON,
// or a number beyond 64 bits.
Result<Value> value_of_json(std::string_view text, const std::string& what);

}  // namespace rung::jinja
