// Derives problems from the texts of others.
// SPDX-License-Identifier: Apache-2.0
#include "derived.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "ir/text.hpp"
#include "problems.hpp"
#include "support/problem_in.hpp"

namespace rung::test {
namespace {

// An input where a text declares it: "x:f32[5,7]".
struct Declared {
  size_t at = 0, length = 0;
  std::string name, type;
  std::vector<int64_t> shape;

  int rank() const { return static_cast<int>(shape.size()); }
  int64_t elements() const {
    int64_t product = 1;
    for (int64_t n : shape) product *= n;
    return product;
  }
  std::string text() const { return fmt::format("{}:{}[{}]", name, type, fmt::join(shape, ",")); }
};

std::vector<Declared> declared_in(const std::string& text) {
  static const std::regex form(R"((\w+):(\w+)\[([\d,]*)\])");
  std::vector<Declared> found;
  for (std::sregex_iterator each(text.begin(), text.end(), form), end; each != end; ++each) {
    Declared input{
        static_cast<size_t>(each->position()), static_cast<size_t>(each->length()), (*each)[1], (*each)[2], {}};
    std::string sizes = (*each)[3];
    for (size_t at = 0; at < sizes.size();
         at = sizes.find(',', at) == std::string::npos ? sizes.size() : sizes.find(',', at) + 1)
      input.shape.push_back(std::stoll(sizes.substr(at)));
    found.push_back(std::move(input));
  }
  return found;
}

std::string sliced(Declared x, int axis, int64_t before, int64_t after) {
  const int64_t size = x.shape[static_cast<size_t>(axis)];
  x.shape[static_cast<size_t>(axis)] += before + after;
  return fmt::format("slice({}, axis={}, begin={}, end={})", x.text(), axis, before, before + size);
}

std::string every_second(Declared x, int axis) {
  const int64_t size = x.shape[static_cast<size_t>(axis)] *= 2;
  return fmt::format("slice({}, axis={}, begin=0, end={}, step=2)", x.text(), axis, size);
}

// The elements of `axis` are one and the same; not a mask's, for of keys that are all hidden alike each counts or none.
std::string repeated(Declared x, int axis) {
  const auto shape = x.shape;
  if (x.name.starts_with("mask")) x.name.insert(0, "bias_");
  x.shape[static_cast<size_t>(axis)] = 1;
  return fmt::format("broadcast({}, shape=[{}])", x.text(), fmt::join(shape, ","));
}

// In memory, `axis` and the one before it have changed places.
std::string transposed(Declared x, int axis) {
  std::vector<int> order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[static_cast<size_t>(axis)], order[static_cast<size_t>(axis) - 1]);
  std::swap(x.shape[static_cast<size_t>(axis)], x.shape[static_cast<size_t>(axis) - 1]);
  return fmt::format("transpose({}, permutation=[{}])", x.text(), fmt::join(order, ","));
}

// The operand with gaps, an offset, in another order, repeated; as no constant; of other types.
// `spread`: an op divides by the spread of its rows, and one of a single value would leave rounding alone.
std::vector<std::string> forms_of(const Declared& x, bool spread) {
  std::vector<std::string> forms;
  const int last = x.rank() - 1;
  for (int axis = 0; axis <= last; ++axis) {
    if (x.shape[static_cast<size_t>(axis)] < 2) continue;
    forms.push_back(sliced(x, axis, 1, 2));
    forms.push_back(every_second(x, axis));
    if (!spread || axis < last) forms.push_back(repeated(x, axis));
    if (axis > 0) forms.push_back(transposed(x, axis));
  }
  if (last >= 0) forms.push_back(sliced(x, last, 8, 24));  // rows keep the alignment of vectors
  if (x.name[0] == 'w') {
    Declared variable = x;
    variable.name = "v" + x.name;
    forms.push_back(variable.text());
  }
  for (const char* type : {"f32", "bf16", "f16", "i32", "i64", "bool"}) {
    Declared other = x;
    other.type = type;
    if (x.type != type) forms.push_back(other.text());
  }
  return forms;
}

std::string with(const std::string& text, const Declared& x, const std::string& form) {
  return text.substr(0, x.at) + form + text.substr(x.at + x.length);
}

// Every size `from`, of whichever operand or attribute, as `to`.
std::string resized(const std::string& text, int64_t from, int64_t to) {
  static const std::regex list(R"(\[[\d,]+\])");
  const std::regex number("\\b" + std::to_string(from) + "\\b");
  std::string result;
  auto rest = text.cbegin();
  for (std::sregex_iterator each(text.begin(), text.end(), list), end; each != end; ++each) {
    result.append(rest, (*each)[0].first);
    result += std::regex_replace(each->str(), number, std::to_string(to));
    rest = (*each)[0].second;
  }
  return result.append(rest, text.cend());
}

std::set<int64_t> sizes_of(const std::vector<Declared>& inputs) {
  std::set<int64_t> sizes;
  for (const Declared& x : inputs) sizes.insert(x.shape.begin(), x.shape.end());
  return sizes;
}

// One more axis in front of all operands but constants, or of the first alone; an axis that is named moves on by one.
std::string of_another_axis(const std::string& text, bool of_all) {
  std::string result = text;
  auto inputs = declared_in(text);
  for (auto x = inputs.rbegin(); x != inputs.rend(); ++x) {
    if (x->name[0] == 'w' || (!of_all && x + 1 != inputs.rend())) continue;
    Declared deeper = *x;
    deeper.shape.insert(deeper.shape.begin(), 2);
    result = with(result, *x, deeper.text());
  }
  static const std::regex axis(R"((axis=)(\d+))");
  std::smatch named;
  if (std::regex_search(result, named, axis))
    result = named.prefix().str() + "axis=" + std::to_string(std::stoll(named[2]) + 1) + named.suffix().str();
  return result;
}

std::string with_result(const std::string& text, const std::string& type) {
  static const std::regex out(R"(\bout=\w+)");
  return std::regex_replace(text, out, "out=" + type);
}

// Constants and variables, sizes of vectors and odd ones, and where functions have their far ends do not make a form:
// an op, its attributes and its operands' ranks and types do.
std::string form_of(const std::string& text, const std::vector<Declared>& inputs, const Case& test) {
  static const std::regex attribute(R"((\w+)=(?!\[)([a-z_0-9+]+))");
  std::string form(op_family(test.problem.op));
  for (const Declared& x : inputs)
    form += fmt::format(" {}{}{}", x.type, x.rank(), x.name.substr(0, 5) == "blind" ? "blind" : "");
  for (std::sregex_iterator each(text.begin(), text.end(), attribute), end; each != end; ++each)
    if (const std::string name = (*each)[1];
        name != "eps" && name != "scale" && name != "activation" && name != "result")
      form += " " + (name == "factor" ? name : each->str());
  return form;
}

int64_t elements_of(const std::vector<Declared>& inputs) {
  int64_t sum = 0;
  for (const Declared& x : inputs) sum += x.elements();
  return sum;
}

constexpr int64_t kFewest = 12, kMost = 20'000;  // elements of a problem to derive from

// The smallest problem of each form whose operands all are declared in place.
const std::vector<std::string>& seeds() {
  static const std::vector<std::string> found = [] {
    std::map<std::string, std::pair<int64_t, std::string>> smallest;
    for (const Case& test : unanswered_cases()) {
      const auto inputs = declared_in(test.text);
      const int64_t elements = elements_of(inputs);
      if (test.text.find('\n') != std::string::npos || inputs.size() != test.problem.inputs.size() ||
          elements < kFewest || elements > kMost)
        continue;
      auto& best = smallest[form_of(test.text, inputs, test)];
      if (best.second.empty() || elements < best.first) best = {elements, test.text};
    }
    std::vector<std::string> texts;
    for (const auto& [form, best] : smallest) texts.push_back(best.second);
    return texts;
  }();
  return found;
}

bool is_of(std::string_view op, const std::string& text) {
  auto graph = parse_graph(text);
  return graph && op_family((*graph)[graph->outputs()[0].node].op) == op;
}

}  // namespace

std::vector<std::string> derived_texts(const std::string& text) {
  std::vector<std::string> texts{text};
  const auto inputs = declared_in(text);
  const bool spread = text.find("layer_norm(") != std::string::npos;
  for (const Declared& x : inputs)
    for (const std::string& form : forms_of(x, spread)) texts.push_back(with(text, x, form));
  for (int64_t size : sizes_of(inputs))
    for (int64_t other : {size + 1, size + 4, int64_t{1}})  // not 0: a plan has no operand without elements
      if (size > 1) texts.push_back(resized(text, size, other));
  for (bool of_all : {true, false}) texts.push_back(of_another_axis(text, of_all));
  for (const char* type : {"f32", "bf16", "f16"}) texts.push_back(with_result(text, type));
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

const std::vector<Case>& derived_cases(std::string_view op) {
  static std::map<std::string, std::vector<Case>, std::less<>> made;
  const auto known = made.find(op);
  if (known != made.end()) return known->second;
  auto& all = made[std::string(op)];
  std::set<std::string> seen;
  for (const std::string& seed : seeds()) {
    if (!is_of(op, seed)) continue;
    for (const std::string& text : derived_texts(seed))
      if (seen.insert(text).second)
        if (auto test = parse_case(text)) all.push_back(std::move(*test));
  }
  return all;
}

std::vector<Problem> stretched_problems(std::string_view op, int64_t size) {
  std::vector<Problem> problems;
  auto add = [&](const std::string& text) {
    auto graph = parse_graph(text);
    if (graph && op_family((*graph)[graph->outputs()[0].node].op) == op)
      problems.push_back(problem_in(*graph, graph->outputs()[0].node));
  };
  for (const std::string& seed : seeds()) {
    if (!is_of(op, seed)) continue;
    const auto inputs = declared_in(seed);
    for (int64_t each : sizes_of(inputs))
      if (each > 1) add(resized(seed, each, size + each));
    for (const Declared& x : inputs)
      if (x.rank() > 0) add(with(seed, x, sliced(x, x.rank() - 1, 0, size)));
  }
  return problems;
}

}  // namespace rung::test
