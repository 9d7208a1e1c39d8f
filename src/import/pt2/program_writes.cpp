// Calls that write their argument: what else shows the same elements is computed again.
// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "import/pt2/aliases.hpp"
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
Status Program::write(const json& node, const Value& result, Environment& names) {
  std::string at = name_of_self(node);
  const Call call = call_of(node, names);
  if (at.empty() || !result.node()) return bad_file("got a write to {}", at.empty() ? "no tensor" : describe(result));
  const NodeId self = call.tensor(call.all()[0].first);
  NodeId part = call.cast(result.node()->id, call.dtype(self));
  if (part == self) return {};
  part = call.broadcast(part, call.shape(self));
  const View* view = view_named(names, at);
  for (; view && view->is_certain; view = view_named(names, at)) {
    const Call made = call_of(*view->node, names);
    part = put_back(made, made.tensor(made.all()[0].first), part);
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
  names.values[at] = Value(NodeRef{part});
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
  return {};
}

}  // namespace rung::pt2
