// Sums of products by axes with names ("bij,bjk->bik"), as matrix products.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "import/exported/emit.hpp"

namespace rung::exported {
namespace {

// A value whose axes have names.
struct Named {
  NodeId value;
  std::string axes;
};

bool has(const std::string& axes, char name) { return axes.find(name) != std::string::npos; }

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

// "bij,bjk->bik" in parts. An ellipsis becomes the digits from 9 down, the last axis first.
struct Equation {
  std::vector<std::string> operands;
  std::string result;

  Equation(const Emit& emit, const std::string& text, const std::vector<NodeId>& values);

 private:
  static std::string spelled_out(const std::string& part, const std::string& text, size_t rank);
  static std::string implied(const std::string& all);
};

std::string Equation::spelled_out(const std::string& part, const std::string& text, size_t rank) {
  if (std::ranges::any_of(part, [](unsigned char c) { return c != '.' && !std::isalpha(c); }))
    refuse("'{}': got axes '{}', wanted letters", text, part);
  const size_t dots = part.find("...");
  std::string axes = part;
  if (dots != part.npos) {
    const size_t named = part.size() - 3;
    if (named > rank) refuse("'{}' for {} axes", text, rank);
    std::string open;
    for (size_t i = rank - named; i > 0; --i) open += static_cast<char>('9' - (i - 1));
    axes = part.substr(0, dots) + open + part.substr(dots + 3);
  }
  if (axes.size() != rank) refuse("'{}' for {} axes", text, rank);
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] == '.' || axes.find(axes[i]) != i)
      refuse("'{}': got axes '{}', wanted a letter for each, none twice", text, part);
  return axes;
}

// Without "->": those that are named once, by name, behind those of the ellipsis.
std::string Equation::implied(const std::string& all) {
  std::string open, named;
  for (char name : all) {
    const bool is_open = std::isdigit(static_cast<unsigned char>(name)) != 0;
    if (is_open && !has(open, name)) open += name;
    if (!is_open && std::ranges::count(all, name) == 1) named += name;
  }
  std::ranges::sort(open);
  std::ranges::sort(named);
  return open + named;
}

Equation::Equation(const Emit& emit, const std::string& text, const std::vector<NodeId>& values) {
  const std::string whole = without_spaces(text);
  const size_t arrow = whole.find("->");
  std::string left = whole.substr(0, arrow), all;
  for (NodeId value : values) {
    const size_t comma = left.find(',');
    const auto rank = static_cast<size_t>(emit.rank(value));
    operands.push_back(spelled_out(left.substr(0, comma), text, rank));
    all += operands.back();
    left = comma == left.npos ? "" : left.substr(comma + 1);
  }
  if (!left.empty() || std::ranges::count(whole, ',') + 1 != static_cast<int64_t>(values.size()))
    refuse("'{}' for {} operands", text, values.size());
  const std::string open = implied(all);
  const auto digits = std::ranges::count_if(open, [](unsigned char name) { return std::isdigit(name); });
  if (arrow == whole.npos) {
    result = open;
    return;
  }
  const std::string right = whole.substr(arrow + 2);
  const size_t dots = right.find("...");
  const size_t named = right.size() - (dots == right.npos ? 0 : 3);
  result = spelled_out(right, text, named + (dots == right.npos ? 0 : static_cast<size_t>(digits)));
  for (char name : result)
    if (!has(all, name)) refuse("'{}': no operand has the result's axis '{}'", text, name);
}

class Contraction {
 public:
  explicit Contraction(const Emit& emit) : emit_(emit) {}

  Named ordered(const Named& x, const std::string& axes) const {
    if (x.axes == axes) return x;
    Dims order;
    for (char name : axes) order.push_back(static_cast<int64_t>(x.axes.find(name)));
    return {emit_.transpose(x.value, order), axes};
  }
  // Sums over the axes that nothing else reads.
  Named reduced(Named x, const std::string& kept) const {
    for (size_t i = x.axes.size(); i-- > 0;) {
      if (has(kept, x.axes[i])) continue;
      x.value = emit_.reduce(ReduceKind::sum, x.value, {static_cast<int64_t>(i)}, false);
      x.axes.erase(i, 1);
    }
    return x;
  }
  // Axes of both that are kept are a batch, others of both are summed over.
  Named product(Named a, Named b, const std::string& kept) const {
    a = reduced(a, kept + b.axes);
    b = reduced(b, kept + a.axes);
    std::string batch, rows, columns, inner;
    for (char name : a.axes) (!has(b.axes, name) ? rows : has(kept, name) ? batch : inner) += name;
    for (char name : b.axes)
      if (!has(a.axes, name)) columns += name;
    for (char name : batch + inner)
      if (extent(a, name) != extent(b, name))
        refuse("axis '{}' has {} elements in one operand and {} in another", name, extent(a, name), extent(b, name));
    a = ordered(a, batch + rows + inner);
    b = ordered(b, batch + inner + columns);
    const Shape to = shape(batch + rows + columns, a, b);
    const NodeId left = emit_.reshape(a.value, matrices(a, batch, rows, inner));
    const NodeId right = emit_.reshape(b.value, matrices(b, batch, inner, columns));
    const NodeId y = inner.empty() ? emit_.binary(BinaryKind::mul, left, right) : emit_.matmul(left, right);
    return {emit_.reshape(y, to), batch + rows + columns};
  }

 private:
  int64_t extent(const Named& x, char name) const { return emit_.shape(x.value)[static_cast<int>(x.axes.find(name))]; }
  Shape shape(const std::string& axes, const Named& a, const Named& b) const {
    if (axes.size() > Dims::kMaxRank)
      refuse("got a product of {} axes, wanted at most {}", axes.size(), Dims::kMaxRank);
    Shape to;
    for (char name : axes) to.push_back(extent(has(a.axes, name) ? a : b, name));
    return to;
  }
  // The batch's axes as they are, then a matrix; without a batch just that.
  Shape matrices(const Named& x, const std::string& batch, const std::string& rows, const std::string& columns) const {
    if (batch.size() + 2 > Dims::kMaxRank) refuse("got a batch of {} axes, wanted at most 6", batch.size());
    Shape to;
    const auto together = [&](const std::string& axes) {
      int64_t product = 1;
      for (char name : axes) product *= extent(x, name);
      return product;
    };
    for (char name : batch) to.push_back(extent(x, name));
    to.push_back(together(rows));
    to.push_back(together(columns));
    return to;
  }

  const Emit& emit_;
};

}  // namespace

NodeId Emit::einsum(const std::string& text, const std::vector<NodeId>& values) const {
  if (values.empty()) refuse("'{}' for no operands", text);
  const Equation equation(*this, text, values);
  const Contraction contraction(*this);
  Named all{values[0], equation.operands[0]};
  for (size_t i = 1; i < values.size(); ++i) {
    std::string kept = equation.result;
    for (size_t later = i + 1; later < values.size(); ++later) kept += equation.operands[later];
    all = contraction.product(all, {values[i], equation.operands[i]}, kept);
  }
  return contraction.ordered(contraction.reduced(all, equation.result), equation.result).value;
}

}  // namespace rung::exported
