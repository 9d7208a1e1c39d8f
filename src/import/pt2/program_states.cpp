// Buffers that a program writes: each is a state, which the next run finds as this one left it.
// SPDX-License-Identifier: Apache-2.0
#include "import/exported/states.hpp"
#include "import/pt2/program.hpp"

namespace rung::pt2 {

std::set<std::string> Program::written() const {
  std::set<std::string> names;
  for (const auto& [name, value] : mutations_) names.insert(name);
  for (const auto& [name, buffer] : buffers_) {
    const NodeRef* last = names_.values.at(buffer.value).node();
    if (!last || last->id != buffer.first) names.insert(name);
  }
  return names;
}

Status Program::add_state(const std::string& value, const std::string& name) {
  RUNG_TRY(const std::optional<Doubles> doubles, archive_->doubles(name));
  if (doubles || archive_->is_complex(name))
    return bad_file("'{}': the program writes buffer '{}', which is {}: a state is of real numbers in at most 32 bits",
                    archive_->path(), name, doubles ? "f64" : "complex");
  RUNG_TRY(std::shared_ptr<const Weight> first, archive_->weight(name));
  const Type type{computed(first->type().dtype), first->type().shape};
  if (type.dtype != first->type().dtype) {
    RUNG_TRY(const Tensor stored, first->load());
    first = std::make_shared<Literal>(name, convert(stored, type.dtype));
  }
  kept_.push_back({name, name + ".next", std::move(first)});
  names_.values[value] = Value(NodeRef{model_.graph.input(name, type)});
  return {};
}

Status Program::write_states() {
  for (const std::string& name : states_) {
    const auto buffer = buffers_.find(name);
    if (buffer == buffers_.end())
      return bad_file("'{}': the program writes '{}', which is no buffer of it", archive_->path(), name);
    const auto mutation = mutations_.find(name);
    const Value next = mutation == mutations_.end() ? names_.values.at(buffer->second.value) : mutation->second;
    if (!next.node()) return bad_file("'{}': buffer '{}' becomes {}", archive_->path(), name, describe(next));
    const Type& wanted = model_.graph.type(buffer->second.first);
    const NodeId node = builder_.cast(next.node()->id, wanted.dtype, name);
    if (model_.graph.type(node) != wanted)
      return bad_file("'{}': buffer '{}' becomes {}, wanted {}", archive_->path(), name, model_.graph.type(node),
                      wanted);
    model_.graph.set_output(name + ".next", node);
  }
  exported::add_states(model_.graph, std::move(kept_));
  return {};
}

}  // namespace rung::pt2
