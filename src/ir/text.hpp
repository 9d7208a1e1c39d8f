// The graph's text form; print and parse are inverse (weights other than small literals come back by name only).
//
//   graph bert
//   ids: i64[1,128] = input()
//   w: f32[384,384] = constant(name="encoder.w")
//   eps: f32[1] = constant(values=[1e-05])
//   y: f32[1,128,384] = linear(x, w, out=f32)        # label
//   return last_hidden_state=y
//
// For tests, parse also takes the short form: expressions nest, an operand `x:f32[4,8]` declares an input on the spot,
// result types may be left out, and without `return` the last line's value is the output, under its own name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "ir/graph.hpp"

namespace rung {

std::string print(const Graph& graph);
// Parses a graph. Errors name the line, what was got and what was wanted. A constant without values gets a weight whose
// load() fails, unless `weights` knows its name.
using WeightSource = std::function<std::shared_ptr<const Weight>(const std::string& name, const Type& type)>;
Result<Graph> parse_graph(std::string_view text, const WeightSource& weights = {});

// Prints one op with its fields: "linear(slots=bias, out=bf16)".
std::string print_op(const Op& op);
Result<Op> parse_op(std::string_view text);

}  // namespace rung
