// Calls that write their argument: what else shows the same elements is computed again.
// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "import/pt2/aliases.hpp"
#include "import/pt2/complex.hpp"
#include "import/pt2/program.hpp"

namespace rung::pt2 {
namespace {

using nlohmann::json;

// The name that a call's first argument has; empty: it is no tensor.
std::string name_of_self(const json& node) {
  const json& inputs = node.at("inputs");
  if (inputs.empty() || !inputs[0].at("arg").contains("as_tensor")) return "";
  return inputs[0].at("arg").at("as_tensor").at("name");
}

const View* view_named(const Environment& names, const std::string& name) {
  const auto found = std::ranges::find(names.views, name, &View::name);
  return found == names.views.end() ? nullptr : &*found;
}

// The parts of a call's first argument; an ordinary tensor has real ones alone. Throws for what is no tensor.
exported::Complex parts_of_self(const Call& call) {
  const auto& [name, value] = call.all()[0];
  const auto* x = std::get_if<exported::Complex>(&value.is);
  return x ? exported::Complex{x->real, imaginary_of(call, *x)} : exported::Complex{call.tensor(name), {}};
}

// Returns what is written, in the type and the shape of the tensor that it replaces.
exported::Complex fitted(const Call& call, const exported::Complex& old, const exported::Complex& given) {
  if (given.imaginary && !old.imaginary) exported::refuse("a write of complex numbers to {}", call.type(old.real));
  const auto fit = [&](NodeId part, NodeId to) {
    return call.broadcast(call.cast(part, call.dtype(to)), call.shape(to));
  };
  exported::Complex part{fit(given.real, old.real), {}};
  if (old.imaginary) part.imaginary = fit(imaginary_of(call, given), *old.imaginary);
  return part;
}

// The base of a view with the parts in place of what it shows, which may be one part of complex numbers, or both side
// by side.
exported::Complex put_back_parts(const Call& view, const exported::Complex& part) {
  const exported::Complex base = parts_of_self(view);
  const std::string_view name = base_name(view.target());
  if (base.imaginary && !part.imaginary) {
    if (name == "real") return {part.real, base.imaginary};
    if (name == "imag") return {base.real, part.real};
    if (name == "view_as_real") return {view.select_index(part.real, -1, 0), view.select_index(part.real, -1, 1)};
  }
  if (!base.imaginary && part.imaginary && name == "view_as_complex") return {joined(view, part), {}};
  if (base.imaginary.has_value() != part.imaginary.has_value()) exported::refuse("a write through {}", view.target());
  exported::Complex whole{put_back(view, base.real, part.real), {}};
  if (part.imaginary) whole.imaginary = put_back(view, *base.imaginary, *part.imaginary);
  return whole;
}

Value as_value(const exported::Complex& x) { return x.imaginary ? Value(x) : Value(NodeRef{x.real}); }

// The name and what shows its elements, directly or through another, or may.
std::set<std::string> family(const Environment& names, const std::string& of) {
  std::set<std::string> all{of};
  for (const View& view : names.views)
    if (all.contains(view.base)) all.insert(view.name);
  return all;
}

}  // namespace

void Program::note_views(const json& node, const std::vector<std::string>& results, Environment& names) const {
  const std::string target = target_of(node), self = name_of_self(node);
  const Sharing sharing = sharing_of(target);
  if (sharing == Sharing::own || self.empty()) return;
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i].empty()) names.views.push_back({results[i], self, &node, i, sharing == Sharing::views});
}

// Up to the tensor whose elements they are, which becomes another; then down to all that shows them.
Result<Value> Program::write(const json& node, const Value& result, Environment& names) {
  std::string at = name_of_self(node);
  const Call call = call_of(node, names);
  const auto* complex = std::get_if<exported::Complex>(&result.is);
  if (at.empty() || !(complex || result.node()))
    return bad_file("got a write to {}", at.empty() ? "no tensor" : describe(result));
  const exported::Complex self = parts_of_self(call);
  exported::Complex part = fitted(call, self, complex ? *complex : exported::Complex{result.node()->id, {}});
  const Value written = as_value(part);
  if (part.real == self.real && part.imaginary == self.imaginary) return written;
  const View* view = view_named(names, at);
  for (; view && view->is_certain; view = view_named(names, at)) {
    const Call made = call_of(*view->node, names);
    part = put_back_parts(made, part);
    at = view->base;
  }
  if (names.borrowed.contains(at)) return bad_file("got a write to '{}', which is shared with another graph", at);
  const std::set<std::string> changed = family(names, at);
  if (view) {  // that it shows another's elements is not said: those may have changed
    std::string top = at;
    for (const View* above = view; above; above = view_named(names, top)) top = above->base;
    for (const std::string& name : family(names, top))
      if (!changed.contains(name)) names.unsettled.insert(name);
  }
  names.values[at] = as_value(part);
  for (size_t i = 0; i < names.views.size(); ++i) {
    const View below = names.views[i];
    if (below.name == at || !changed.contains(below.base)) continue;
    if (!below.is_certain || names.unsettled.contains(below.base)) {
      names.unsettled.insert(below.name);
    } else if (writes(target_of(*below.node))) {
      names.values[below.name] = names.values[below.base];
    } else {
      RUNG_TRY(Values again, results_of(*below.node, names));
      names.values[below.name] = std::move(again.at(below.result));
    }
  }
  return written;
}

}  // namespace rung::pt2
