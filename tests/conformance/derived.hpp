// Problems that are derived from those of the table: the same op over operands that lie otherwise in memory, of other
// types and of other sizes. Whatever a row does not compute then, it has to refuse.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "harness.hpp"

namespace rung::test {

// The text with one thing changed at a time, for every operand that it declares in place. Some are no graphs.
std::vector<std::string> derived_texts(const std::string& text);

// Of the smallest problem of every form of an op, all that are derived and that are graphs, with the problem itself.
// They are made once, unanswered; for the values of some, such as indices out of range, there is no answer.
const std::vector<Case>& derived_cases(std::string_view op);

// The same forms, each with one axis longer by `size`, or with rows that are so much further apart: to ask rows about,
// never to run.
std::vector<Problem> stretched_problems(std::string_view op, int64_t size);

}  // namespace rung::test
