// Parses a graph from its text form.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <type_traits>

#include "ir/text.hpp"
#include "ir/text_lexer.hpp"
#include "ir/verify.hpp"

namespace rung {
namespace {

constexpr int kMaxNesting = 64;

// A constant of which the text gives only the name.
class Unbound : public Weight {
 public:
  using Weight::Weight;
  Result<Tensor> load() const override { return fail("constant '{}' has no contents: only its name is known", name()); }
};

// Converts listed values to the declared type; floats go through f32.
Tensor literal_of(const Type& type, const std::vector<double>& values) {
  if (type.dtype == DType::i64) {
    Tensor tensor(type);
    for (size_t i = 0; i < values.size(); ++i) tensor.as<int64_t>()[i] = static_cast<int64_t>(values[i]);
    return tensor;
  }
  Tensor wide({DType::f32, type.shape});
  for (size_t i = 0; i < values.size(); ++i) wide.as<float>()[i] = static_cast<float>(values[i]);
  return convert(wide, type.dtype);
}

class Parser {
 public:
  Parser(std::string_view text, const WeightSource& weights) : lex_(text), weights_(weights) {}

  // Parses an op and its fields, no operands.
  Result<Op> run_op() {
    RUNG_TRY(std::string name, lex_.word());
    auto op = op_named(name);
    if (!op) return lex_.error("'{}' is not an op", name);
    RUNG_CHECK(lex_.expect('('));
    for (bool first = true; !lex_.accept(')'); first = false) {
      if (!first) RUNG_CHECK(lex_.expect(','));
      RUNG_TRY(std::string field_name, lex_.word());
      RUNG_CHECK(lex_.expect('='));
      RUNG_CHECK(field(*op, field_name));
    }
    if (!lex_.at_end_of_statement()) return lex_.error("got text after the op");
    return *op;
  }

  Result<Graph> run() {
    bool returned = false;
    while (lex_.next_statement()) {
      if (returned) return lex_.error("got text after 'return'");
      RUNG_TRY(returned, statement());
    }
    if (!returned) {
      if (last_name_.empty()) return lex_.error("the graph is empty");
      graph_.set_output(last_name_, values_.at(last_name_));
      RUNG_CHECK(check_states());
    }
    return std::move(graph_);
  }

 private:
  // Parses a statement, and returns whether it was `return`.
  Result<bool> statement() {
    RUNG_TRY(std::string name, lex_.word());
    if (name == "graph" && !lex_.peek('=') && !lex_.peek(':')) {
      RUNG_TRY(graph_.name, lex_.at_quote() ? lex_.quoted() : lex_.word());
    } else if (name == "return") {
      RUNG_CHECK(outputs());
      RUNG_CHECK(check_states());
      return true;
    } else if (name == "state" && !lex_.peek('=') && !lex_.peek(':')) {
      RUNG_CHECK(state());
    } else {
      RUNG_CHECK(definition(std::move(name)));
    }
    if (!lex_.at_end_of_statement()) return lex_.error("got text after the end of the statement");
    return false;
  }

  Status outputs() {
    do {
      RUNG_TRY(std::string name, lex_.at_quote() ? lex_.quoted() : lex_.word());
      NodeId node = kNoNode;
      if (lex_.accept('=')) {
        RUNG_TRY(node, expression(0));
      } else if (auto it = values_.find(name); it != values_.end()) {
        node = it->second;
      } else {
        return lex_.error("'{}' is not defined", name);
      }
      graph_.set_output(std::move(name), node);
    } while (lex_.accept(','));
    return {};
  }

  // Parses "state k, next=k_next, initial=constant(name="k0")".
  Status state() {
    State state;
    RUNG_TRY(state.input, lex_.at_quote() ? lex_.quoted() : lex_.word());
    while (lex_.accept(',')) {
      RUNG_TRY(std::string field_name, lex_.word());
      RUNG_CHECK(lex_.expect('='));
      if (field_name == "next") {
        RUNG_TRY(state.next, lex_.at_quote() ? lex_.quoted() : lex_.word());
      } else if (field_name == "initial") {
        RUNG_TRY(state.initial, initial_value(state.input));
      } else {
        return lex_.error("a state has no field '{}'", field_name);
      }
    }
    graph_.add_state(std::move(state));
    return {};
  }

  Result<std::shared_ptr<const Weight>> initial_value(const std::string& input) {
    const NodeId of = graph_.input_named(input);
    if (of == kNoNode) return lex_.error("'{}' is not an input", input);
    RUNG_TRY(std::string op, lex_.word());
    if (op != "constant") return lex_.error("got '{}', wanted constant(...)", op);
    RUNG_CHECK(lex_.expect('('));
    defined_ = input;
    RUNG_TRY(NodeId node, source(Constant{}, graph_.type(of)));
    auto value = graph_.weight(node);
    graph_.erase(node);
    return value;
  }

  // Checks states at the end, because outputs are defined last.
  Status check_states() {
    if (graph_.states().empty()) return {};
    const Status sound = verify(graph_);
    return sound ? Status{} : lex_.error("{}", sound.error().message);
  }

  Status definition(std::string name) {
    if (values_.contains(name)) return lex_.error("'{}' is defined twice", name);
    declared_.reset();
    if (lex_.accept(':')) {
      RUNG_TRY(declared_, lex_.type());
    }
    RUNG_CHECK(lex_.expect('='));
    defined_ = name;
    std::optional<Type> declared = declared_;
    RUNG_TRY(NodeId node, expression(0));
    if (declared && !(graph_.type(node) == *declared))
      return lex_.error("'{}' is declared {} but its expression gives {}", name, *declared, graph_.type(node));
    if (auto label = lex_.trailing_comment(); !label.empty()) graph_.set_label(node, std::move(label));
    values_[name] = node;
    last_name_ = std::move(name);
    return {};
  }

  // Parses name | name:type (declares an input) | op(arguments).
  Result<NodeId> expression(int depth) {
    if (depth > kMaxNesting) return lex_.error("expressions nest deeper than {}", kMaxNesting);
    RUNG_TRY(std::string name, lex_.word());
    if (lex_.accept('(')) return call(name, depth);
    if (lex_.accept(':')) {
      RUNG_TRY(Type type, lex_.type());
      if (values_.contains(name)) return lex_.error("'{}' is defined twice", name);
      return values_[name] = graph_.input(name, type);
    }
    auto it = values_.find(name);
    if (it == values_.end()) return lex_.error("'{}' is not defined", name);
    return it->second;
  }

  Result<NodeId> call(const std::string& name, int depth) {
    auto op = op_named(name);
    if (!op) return lex_.error("'{}' is not an op", name);
    std::optional<Type> declared = depth == 0 ? declared_ : std::nullopt;
    if (as<Input>(*op) || as<Constant>(*op)) {
      if (!declared) return lex_.error("{} needs a declared type: name: type = {}()", name, name);
      return source(*op, *declared);
    }
    std::vector<NodeId> operands;
    for (bool first = true; !lex_.accept(')'); first = false) {
      if (!first) RUNG_CHECK(lex_.expect(','));
      RUNG_CHECK(argument(*op, operands, depth));
    }
    auto node = graph_.try_add(std::move(*op), std::move(operands));
    if (!node) return lex_.error("{}", node.error().message);
    return *node;
  }

  // Parses an operand, or field=value.
  Status argument(Op& op, std::vector<NodeId>& operands, int depth) {
    Lexer before = lex_;
    RUNG_TRY(std::string name, lex_.word());
    if (lex_.accept('=')) return field(op, name);
    lex_ = before;
    RUNG_TRY(NodeId operand, expression(depth + 1));
    operands.push_back(operand);
    return {};
  }

  Status field(Op& op, const std::string& name) {
    bool known = false;
    Status status;
    std::visit(
        [&](auto& s) {
          auto one = [&](const auto& f) {
            if (f.name == name) known = true, status = value(f.of(s));
          };
          std::apply([&](const auto&... f) { (one(f), ...); }, std::decay_t<decltype(s)>::fields());
        },
        op);
    if (!known) return lex_.error("'{}' has no field '{}'", name_of(op), name);
    return status;
  }

  template <class T>
  Status value(T& to) {
    if constexpr (std::is_same_v<T, std::string>) {
      RUNG_TRY(to, lex_.quoted());
    } else if constexpr (std::is_same_v<T, int64_t>) {
      RUNG_TRY(to, lex_.integer());
    } else if constexpr (std::is_same_v<T, float>) {
      RUNG_TRY(double number, lex_.number());
      to = static_cast<float>(number);
    } else if constexpr (std::is_same_v<T, Dims>) {
      RUNG_TRY(to, lex_.dims());
    } else if constexpr (std::is_same_v<T, Columns>) {
      RUNG_TRY(to, lex_.columns());
    } else if constexpr (std::is_same_v<T, DType> || std::is_same_v<T, std::optional<DType>>) {
      RUNG_TRY(to, lex_.dtype());
    } else if constexpr (requires(std::string_view word) { add_slot_named(word, to); }) {
      to = {};
      do {
        RUNG_TRY(std::string word, lex_.word());
        if (auto added = add_slot_named(word, to); !added) return lex_.error("{}", added.error().message);
      } while (lex_.accept('+'));
    } else {
      RUNG_TRY(std::string word, lex_.word());
      if (!named(word, to)) return lex_.error("got '{}', which is not a value of this field", word);
    }
    return {};
  }

  static bool named(const std::string& word, bool& to) { return to = word == "true", to || word == "false"; }
  static bool named(const std::string& word, Activation& to) {
    auto found = activation_named(word);
    return found ? (to = *found, true) : false;
  }
  static bool named(const std::string& word, ReduceKind& to) {
    auto found = reduce_named(word);
    return found ? (to = *found, true) : false;
  }
  static bool named(const std::string& word, FormulaKind& to) {
    auto found = formula_named(word);
    return found ? (to = *found, true) : false;
  }
  static bool named(const std::string& word, CellKind& to) {
    auto found = cell_named(word);
    return found ? (to = *found, true) : false;
  }
  static bool named(const std::string& word, ScatterKind& to) {
    auto found = scatter_named(word);
    return found ? (to = *found, true) : false;
  }

  // Parses input(name="...") or constant(name="...", values=[...]), after the opening parenthesis.
  Result<NodeId> source(const Op& op, const Type& type) {
    std::string name = defined_;
    std::optional<std::vector<double>> values;
    for (bool first = true; !lex_.accept(')'); first = false) {
      if (!first) RUNG_CHECK(lex_.expect(','));
      RUNG_TRY(std::string field_name, lex_.word());
      RUNG_CHECK(lex_.expect('='));
      if (field_name == "name") {
        RUNG_TRY(name, lex_.quoted());
      } else if (field_name == "values" && as<Constant>(op)) {
        RUNG_TRY(values, value_list());
      } else {
        return lex_.error("'{}' has no field '{}'", name_of(op), field_name);
      }
    }
    if (as<Input>(op)) return graph_.input(name, type);
    if (!values) return graph_.constant(weight(name, type));
    if (static_cast<int64_t>(values->size()) != type.elements())
      return lex_.error("'{}': got {} values, wanted {} for {}", name, values->size(), type.elements(), type);
    return graph_.literal(name, literal_of(type, *values));
  }

  std::shared_ptr<const Weight> weight(const std::string& name, const Type& type) {
    if (auto found = weights_ ? weights_(name, type) : nullptr) return found;
    return std::make_shared<Unbound>(name, type);
  }

  Result<std::vector<double>> value_list() {
    std::vector<double> values;
    RUNG_CHECK(lex_.expect('['));
    while (!lex_.accept(']')) {
      if (!values.empty()) RUNG_CHECK(lex_.expect(','));
      RUNG_TRY(double value, lex_.number());
      values.push_back(value);
    }
    return values;
  }

  Lexer lex_;
  WeightSource weights_;
  Graph graph_;
  std::map<std::string, NodeId, std::less<>> values_;
  std::string defined_, last_name_;
  std::optional<Type> declared_;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text, const WeightSource& weights) { return Parser(text, weights).run(); }

Result<Op> parse_op(std::string_view text) { return Parser(text, {}).run_op(); }

}  // namespace rung
