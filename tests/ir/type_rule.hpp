// The type that a rule gives an expression.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ostream>
#include <string>

#include "ir/text.hpp"

namespace rung {

// Returns "f32[2,4]", or the error.
inline std::string type_of(const std::string& expression) {
  auto graph = parse_graph("y = " + expression);
  return graph ? to_string(graph->type(graph->outputs()[0].node)) : graph.error().message;
}

struct Rule {
  std::string expression, result;  // all of a type, or part of an error
};
inline void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.expression; }

}  // namespace rung
