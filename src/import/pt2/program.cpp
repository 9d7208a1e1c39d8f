// Reads an exported program's signature and calls, and adds the nodes of each.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/program.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "base/whole.hpp"
#include "import/exported/inputs.hpp"
#include "import/exported/source_line.hpp"
#include "import/pt2/aliases.hpp"
#include "import/pt2/complex.hpp"
#include "import/pt2/doubles.hpp"
#include "import/pt2/scalar_type.hpp"
#include "ir/checked_shape.hpp"

namespace rung::pt2 {
namespace {

// The exporter writes what JSON has no number for as a word.
double real(const nlohmann::json& is) {
  if (is.is_number()) return is.get<double>();
  const std::string word = is.is_string() ? is.get<std::string>() : "";
  if (word == "Infinity") return INFINITY;
  if (word == "-Infinity") return -INFINITY;
  if (word == "NaN") return NAN;
  throw std::out_of_range(fmt::format("got {}, wanted a number", rung::describe(is)));
}

using nlohmann::json;

constexpr int64_t kMajor = 8, kNewestMinor = 20;  // of the schema
constexpr std::string_view kNamespace = "torch.ops.";

std::string without_namespace(const std::string& target) {
  return target.starts_with(kNamespace) ? target.substr(kNamespace.size()) : target;
}

std::string metadata(const json& node, const char* field) {
  const auto all = node.find("metadata");
  return all == node.end() || !all->is_object() ? "" : all->value(field, "");
}

// "encoder.layer.0.attention": the innermost module, of "KEY,PATH,TYPE;KEY,PATH,TYPE".
std::string module_of(const json& node) {
  const std::string stack = metadata(node, "nn_module_stack");
  const std::string last = stack.substr(stack.rfind(';') + 1);
  const size_t begin = last.find(','), end = last.rfind(',');
  return begin == end || begin == last.npos ? "" : last.substr(begin + 1, end - begin - 1);
}

std::string node_name(const json& node) {
  for (const json& output : node.at("outputs"))
    if (output.contains("as_tensor")) return output.at("as_tensor").at("name").get<std::string>();
  const auto name = node.find("name");
  return name != node.end() && name->is_string() ? name->get<std::string>() : "";
}

// "node 'add_3' (aten.add.Tensor in encoder.layer.0; modeling_bert.py:665)"
std::string described(const json& node) {
  std::string text = fmt::format("node '{}' ({}", node_name(node), without_namespace(node.at("target")));
  if (const std::string module = module_of(node); !module.empty()) text += " in " + module;
  if (const std::string line = exported::source_line(metadata(node, "stack_trace")); !line.empty()) text += "; " + line;
  return text + ")";
}

// Returns a symbol's own name, which files spell out as "Symbol('s7', integer=True)"; other expressions as they stand.
std::string size_name(const json& expression) {
  constexpr std::string_view kBegin = "Symbol('";
  const std::string text = expression.at("expr_str");
  const size_t end = text.find('\'', kBegin.size());
  const bool is_symbol =
      text.starts_with(kBegin) && end != std::string::npos && text.find('(', end) == std::string::npos;
  return is_symbol ? text.substr(kBegin.size(), end - kBegin.size()) : text;
}

std::string label_of(const json& node) {
  const std::string module = module_of(node);
  const std::string target = without_namespace(node.at("target"));
  const bool is_module = target == "aten.linear.default" || target == "aten.layer_norm.default" ||
                         target == "aten.embedding.default" || target == "aten.conv2d.default" ||
                         target == "aten.conv1d.default" || target == "aten.conv3d.default";
  if (module.empty()) return node_name(node);
  return is_module ? module : module + "." + node_name(node);
}

}  // namespace

Program::Program(std::shared_ptr<const Archive> archive, const json& document, const ImportOptions& options,
                 const std::set<std::string>& states)
    : archive_(std::move(archive)), document_(document), options_(options), states_(states) {}

Status Program::check_version() const {
  const json& version = document_.at("schema_version");
  const int64_t major = whole<int64_t>(version.at("major")), minor = whole<int64_t>(version.at("minor"));
  if (major == kMajor && minor <= kNewestMinor) return {};
  return bad_file("'{}': got schema {}.{}, wanted {}.0 to {}.{} (PyTorch 2.8 to 2.15)", archive_->path(), major, minor,
                  kMajor, kMajor, kNewestMinor);
}

Result<Model> Program::import() {
  try {
    RUNG_CHECK(check_version());
    RUNG_CHECK(bind_symbols());
    RUNG_CHECK(add_inputs());
    RUNG_CHECK(run(graph(), names_));
    RUNG_CHECK(add_outputs());
    RUNG_CHECK(write_states());
  } catch (const json::exception& exception) {
    return bad_file("'{}': the program's JSON: {}", archive_->path(), reason_of(exception));
  } catch (const std::out_of_range& error) {
    return bad_file("'{}': {}", archive_->path(), error.what());
  }
  model_.graph.erase_dead();
  exported::settle_inputs(model_);
  model_.architecture = "pt2";
  return std::move(model_);
}

// A symbol's size, by its own name or by an input's shape.
Status Program::bind_symbols() {
  const json& sizes = graph().at("tensor_values");
  for (const json& spec : document_.at("graph_module").at("signature").at("input_specs")) {
    if (!spec.contains("user_input") || !spec.at("user_input").at("arg").contains("as_tensor")) continue;
    const std::string name = spec.at("user_input").at("arg").at("as_tensor").at("name");
    const Shape* shape = nullptr;
    for (const auto* shapes : {&options_.given, &options_.shapes})
      if (const auto found = shapes->find(name); found != shapes->end()) shape = &found->second;
    if (!shape) continue;
    const json& extents = sizes.at(name).at("sizes");
    if (extents.size() != static_cast<size_t>(shape->rank()))
      return mismatch("input '{}': got shape {}, wanted {} axes", name, *shape, extents.size());
    for (size_t i = 0; i < extents.size(); ++i)
      if (extents[i].contains("as_expr"))
        symbols_.try_emplace(size_name(extents[i].at("as_expr")), (*shape)[static_cast<int>(i)]);
  }
  for (const auto& [name, shape] : options_.shapes)
    if (!sizes.contains(name) && shape.rank() == 1) symbols_[name] = shape[0];
  const json& ranges = document_.at("range_constraints");
  for (const auto& [symbol, size] : symbols_) {
    const auto range = ranges.find(symbol);
    if (range == ranges.end()) continue;
    const auto bound = [&](const char* field, int64_t open) {
      return range->at(field).is_number_integer() ? whole<int64_t>(range->at(field)) : open;
    };
    if (size < bound("min_val", 0) || size > bound("max_val", INT64_MAX))
      return mismatch("size {}: got {}, wanted what the program was exported for: {} to {}", symbol, size,
                      bound("min_val", 0), rung::describe(range->at("max_val")));
  }
  return {};
}

Result<Shape> Program::shape_of_input(const std::string& name) const {
  std::vector<uint64_t> extents;
  for (const json& extent : graph().at("tensor_values").at(name).at("sizes")) {
    if (extent.contains("as_int")) {
      extents.push_back(whole<uint64_t>(extent.at("as_int")));
      continue;
    }
    const std::string symbol = size_name(extent.at("as_expr"));
    const auto found = symbols_.find(symbol);
    if (found == symbols_.end())
      return mismatch("input '{}': its size {} is open: give --shape {}=... or --shape {}=SIZE", name, symbol, name,
                      symbol);
    extents.push_back(static_cast<uint64_t>(found->second));
  }
  RUNG_TRY(Shape shape, checked_shape(extents));
  for (const auto* shapes : {&options_.given, &options_.shapes})
    if (const auto asked = shapes->find(name); asked != shapes->end() && asked->second != shape)
      return mismatch("input '{}': got shape {}, wanted {}", name, asked->second, shape);
  return shape;
}

Status Program::add_inputs() {
  for (const json& spec : document_.at("graph_module").at("signature").at("input_specs")) RUNG_CHECK(add_input(spec));
  return {};
}

Status Program::add_input(const json& spec) {
  if (spec.contains("user_input")) return add_user_input(spec.at("user_input").at("arg"));
  if (spec.contains("buffer")) {
    const json& buffer = spec.at("buffer");
    const std::string value = buffer.at("arg").at("name"), name = buffer.at("buffer_name");
    RUNG_CHECK(states_.contains(name) ? add_state(value, name) : add_weight(value, name));
    if (const NodeRef* first = names_.values.at(value).node()) buffers_[name] = {value, first->id};
    return {};
  }
  for (const auto& [kind, field] :
       {std::pair{"parameter", "parameter_name"}, {"tensor_constant", "tensor_constant_name"}})
    if (spec.contains(kind)) return add_weight(spec.at(kind).at("arg").at("name"), spec.at(kind).at(field));
  if (spec.contains("token")) {
    names_.values[spec.at("token").at("arg").at("name").get<std::string>()] = Value();
    return {};
  }
  if (spec.contains("constant_input")) {
    const json& given = spec.at("constant_input");
    names_.values[given.at("name").get<std::string>()] = value_of(given.at("value"), names_);
    return {};
  }
  return bad_file("'{}': got an input of kind {}, wanted tensors and numbers", archive_->path(),
                  spec.empty() ? "none" : spec.begin().key());
}

Status Program::add_user_input(const json& argument) {
  if (!argument.contains("as_tensor")) {
    if (argument.contains("as_none")) return {};
    return bad_file("'{}': an input of the model is {}, wanted a tensor", archive_->path(),
                    argument.empty() ? "nothing" : argument.begin().key());
  }
  const std::string name = argument.at("as_tensor").at("name");
  RUNG_TRY(const Shape shape, shape_of_input(name));
  const auto dtype = dtype_of_number(whole<int64_t>(graph().at("tensor_values").at(name).at("dtype")));
  if (!dtype) return fail_in(dtype.error(), "'{}': input '{}'", archive_->path(), name);
  const Type type{*dtype, shape};
  const NodeId input = exported::add_input(model_, name, type);
  const auto frozen = options_.frozen.find(name);
  const bool is_known = frozen != options_.frozen.end() && frozen->second.type() == type;
  const NodeId value = is_known ? model_.graph.literal(name, frozen->second) : input;
  names_.values[name] = Value(NodeRef{builder_.cast(value, computed(*dtype), name)});
  return {};
}

Status Program::add_weight(const std::string& value, const std::string& name) {
  RUNG_TRY(std::optional<Doubles> doubles, archive_->doubles(name));
  if (doubles) {
    names_.values[value] = Value(std::make_shared<const Doubles>(std::move(*doubles)));
    return {};
  }
  RUNG_TRY(const auto weight, archive_->weight(name));
  const NodeId node = weight->type().elements() <= exported::kMostSmall
                          ? model_.graph.literal(name, value_or_throw(weight->load()))
                          : model_.graph.constant(weight);
  if (archive_->is_complex(name)) {
    const exported::Emit emit(builder_, name);
    names_.values[value] = Value(exported::Complex{emit.select_index(node, -1, 0), emit.select_index(node, -1, 1)});
    return {};
  }
  names_.values[value] = Value(NodeRef{builder_.cast(node, computed(weight->type().dtype), name)});
  return {};
}

Value Program::value_of(const json& argument, const Environment& names) {
  const auto lookup = [&](const std::string& name) {
    const auto found = names.values.find(name);
    if (found == names.values.end()) throw std::out_of_range(fmt::format("'{}' is read before it is computed", name));
    if (names.unsettled.contains(name))
      throw std::out_of_range(fmt::format("'{}' is read behind a write to what it shows or has a copy of", name));
    return found->second;
  };
  if (argument.empty()) return Value();
  const std::string& kind = argument.begin().key();
  const json& is = argument.begin().value();
  const auto list = [&](const auto& convert) {
    Values all;
    for (const json& one : is) all.push_back(convert(one));
    return Value(std::move(all));
  };
  if (kind == "as_none") return Value();
  if (kind == "as_tensor") return lookup(is.at("name"));
  if (kind == "as_name") return lookup(is);
  if (kind == "as_int") return Value(whole<int64_t>(is));
  if (kind == "as_float") return Value(real(is));
  if (kind == "as_bool") return Value(is.get<bool>());
  if (kind == "as_string") return Value(is.get<std::string>());
  if (kind == "as_scalar_type" && is == kFloat64) return Value(Float64{});
  if (kind == "as_scalar_type" && is == kComplex64) return Value(Complex64{});
  if (kind == "as_scalar_type") return Value(computed(value_or_throw(dtype_of_number(whole<int64_t>(is)))));
  if (kind == "as_complex")
    return Value(exported::Complex{builder_.scalar(real(is.at("real")), DType::f32),
                                   builder_.scalar(real(is.at("imag")), DType::f32)});
  if (kind == "as_device" || kind == "as_layout" || kind == "as_memory_format") return Value();
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool" || kind == "as_optional_tensor")
    return value_of(is, names);
  if (kind == "as_tensors") return list([&](const json& one) { return lookup(one.at("name")); });
  if (kind == "as_ints") return list([](const json& one) { return Value(whole<int64_t>(one)); });
  if (kind == "as_floats") return list([](const json& one) { return Value(real(one)); });
  if (kind == "as_bools") return list([](const json& one) { return Value(one.get<bool>()); });
  if (kind == "as_sym_ints" || kind == "as_optional_tensors" || kind == "as_sym_bools")
    return list([&](const json& one) { return value_of(one, names); });
  throw std::out_of_range(fmt::format("an argument is {}, wanted a tensor, a number or a word", kind));
}

Status Program::run(const json& graph, Environment& names) {
  for (const json& node : graph.at("nodes")) RUNG_CHECK(run_node(node, names));
  return {};
}

namespace {

// Returns the name of a result that is one tensor or number; empty where it has none.
std::string name_of_result(const json& output) {
  if (output.contains("as_tensor")) return output.at("as_tensor").at("name");
  for (const char* kind : {"as_sym_int", "as_sym_float", "as_sym_bool"})
    if (output.contains(kind) && output.at(kind).contains("as_name")) return output.at(kind).at("as_name");
  return "";
}

}  // namespace

Status Program::run_node(const json& node, Environment& names) {
  Result<Values> results = fail("");
  try {
    results = results_of(node, names);
    if (results && !results->empty() && writes(target_of(node)))
      if (Result<Value> written = write(node, results->front(), names); !written)
        results = tl::unexpected(written.error());
      else
        results->front() = std::move(*written);
  } catch (const std::out_of_range& error) {
    results = bad_file("{}", error.what());
  }
  if (!results) return fail_in(results.error(), "'{}': {}", archive_->path(), described(node));
  std::vector<std::string> outputs;
  for (const json& output : node.at("outputs")) {
    if (output.contains("as_tensors"))
      for (const json& one : output.at("as_tensors")) outputs.push_back(one.at("name"));
    else
      outputs.push_back(name_of_result(output));
  }
  if (results->empty()) return {};
  if (outputs.size() > results->size())
    return bad_file("'{}': {}: got {} results, wanted {}", archive_->path(), described(node), results->size(),
                    outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].empty()) names.values[outputs[i]] = std::move((*results)[i]);
  note_views(node, outputs, names);
  if (target_of(node).starts_with("higher_order.")) names.borrowed.insert(outputs.begin(), outputs.end());
  return {};
}

std::string Program::target_of(const json& node) { return without_namespace(node.at("target")); }

Call Program::call_of(const json& node, const Environment& names) {
  Call::Arguments arguments;
  for (const json& input : node.at("inputs"))
    arguments.emplace_back(input.at("name").get<std::string>(), value_of(input.at("arg"), names));
  return Call(builder_, label_of(node), target_of(node), std::move(arguments));
}

namespace {

// Effects are kept in order by a token, which stands for no value. A check of values has no other result.
Result<Values> results_of_check(const json& node) {
  constexpr std::string_view kChecks[] = {"aten._linalg_check_errors.default", "aten._assert_async.msg"};
  const json& inputs = node.at("inputs");
  const std::string name =
      inputs.size() < 2 ? "" : without_namespace(inputs[1].at("arg").value("as_operator", std::string()));
  if (std::ranges::find(kChecks, name) == std::end(kChecks))
    return bad_file("got the effects of '{}', wanted those of a check: {}", name, fmt::join(kChecks, ", "));
  return Values(node.at("outputs").size());
}

// Arithmetic with numbers, one of which an input decides.
bool is_of_undecided_numbers(const Call& call) {
  if (!call.target().starts_with("_operator.") && !call.target().starts_with("torch.sym_")) return false;
  return std::ranges::any_of(
      call.all(), [](const auto& argument) { return std::holds_alternative<Undecided>(argument.second.is); });
}

}  // namespace

Result<Values> Program::results_of(const json& node, Environment& names) {
  const std::string target = target_of(node);
  if (target.starts_with("higher_order.wrap_with_")) return run_part(node, names);
  if (target == "higher_order.with_effects") return results_of_check(node);
  const Lower lower = operator_named(target);
  if (!lower) return bad_file("{}", why_unknown(target));
  const Call call = call_of(node, names);
  if (is_of_undecided_numbers(call)) return Values{Value(Undecided{})};
  if (takes_doubles(call)) return options_.dtype ? in_doubles_or_f32(call) : in_doubles(call);
  return takes_complex(call) ? in_complex(call) : lower(call);
}

// A part that is computed with or without gradients, or under autocast that is off: its graph, in place.
Result<Values> Program::run_part(const json& node, Environment& names) {
  const json* part = nullptr;
  Values arguments;
  for (const json& input : node.at("inputs")) {
    if (input.at("arg").contains("as_graph"))
      part = &input.at("arg").at("as_graph").at("graph");
    else if (part)
      arguments.push_back(value_of(input.at("arg"), names));
  }
  if (!part) return bad_file("got no graph of its part");
  Environment inner;
  const json& inputs = part->at("inputs");
  if (inputs.size() != arguments.size())
    return bad_file("got {} arguments of its part, wanted {}", arguments.size(), inputs.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    if (inputs[i].contains("as_tensor")) {
      const std::string name = inputs[i].at("as_tensor").at("name");
      inner.values[name] = arguments[i];
      inner.borrowed.insert(name);
    }
  RUNG_CHECK(run(*part, inner));
  Values results;
  for (const json& output : part->at("outputs")) results.push_back(value_of(output, inner));
  return results;
}

Status Program::add_outputs() {
  for (const json& spec : document_.at("graph_module").at("signature").at("output_specs")) {
    if (spec.contains("buffer_mutation")) {
      const json& mutation = spec.at("buffer_mutation");
      const json argument{{"as_tensor", mutation.at("arg")}};
      mutations_.insert_or_assign(mutation.at("buffer_name").get<std::string>(), value_of(argument, names_));
      continue;
    }
    if (spec.contains("token")) continue;
    if (!spec.contains("user_output"))
      return bad_file("'{}': got an output of kind {}, wanted a result of the model, or a buffer that it writes",
                      archive_->path(), spec.empty() ? "none" : spec.begin().key());
    RUNG_CHECK(add_output(spec.at("user_output").at("arg")));
  }
  if (model_.graph.outputs().empty()) return bad_file("'{}': the program returns no tensor", archive_->path());
  return {};
}

Status Program::add_output(const json& argument) {
  if (!argument.contains("as_tensor")) return {};  // none, or a number: no tensor that a plan could give
  const std::string name = argument.at("as_tensor").at("name");
  const Value value = value_of(argument, names_);
  if (!value.node()) return bad_file("'{}': output '{}' is {}", archive_->path(), name, rung::pt2::describe(value));
  model_.graph.set_output(name, value.node()->id);
  return {};
}

}  // namespace rung::pt2
