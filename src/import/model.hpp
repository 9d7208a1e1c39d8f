// A model as imported: its graph, and for each input what it may hold, what it gets when left out, and a valid sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "ir/graph.hpp"
#include "measure/stage.hpp"

namespace rung {

class Checkpoint;

// The values an integer input may hold, both ends included.
struct IntegerRange {
  int64_t first = 0, last = 0;
};

struct InputDefault {
  Type type;
  std::string meaning;          // "token ids", for help and errors
  std::optional<Tensor> value;  // what the model's own library would pass when it is left out; none: required
  std::function<Tensor(uint64_t seed)> sample;  // random but valid; depends on the seed alone
  std::optional<IntegerRange> range;            // token ids and the like; none: any value that check_input() takes
};

struct Model {
  Graph graph;
  std::string name;          // the directory's last component, as valid UTF-8
  std::string architecture;  // "bert", "pi0"
  std::string directory;     // where config.json, weights and tokenizer are; empty when imported from text
  std::map<std::string, InputDefault> defaults;  // one for every input of the graph
  std::vector<Stage> stages;                     // of its labels, for reports; others are the rest
  std::vector<std::string> notes;                // such as tensors of the checkpoint that inference does not read
};

struct ImportOptions {
  std::map<std::string, Shape> shapes;  // of inputs, by name; the architecture says which dimensions are free
  std::map<std::string, Shape> given;   // of the values that inputs will get: their shapes, where `shapes` has none
  std::optional<uint64_t> random_seed;  // weights from a generator, not from files
  std::optional<DType> dtype;         // f32: every float weight is used as f32; none: each as the author's code uses it
  std::vector<std::string> observed;  // labels of values inside the graph that become outputs of those names
  bool drop_head = false;             // the encoder alone of a model with a head that no importer builds
};

// `path` is a directory with config.json. Loads no weight. Errors: unknown architectures, heads that are not built and
// not to be dropped, fields missing or out of bounds, tensors missing, misshapen or unexpected, labels that no value
// has.
Result<Model> import_model(const std::string& path, const ImportOptions& options = {});
// The same from the text of a config.json alone; weights are always random (seed 0 unless the options say).
Result<Model> import_config_text(std::string_view config_json, const ImportOptions& options = {});

// Makes constants of the named inputs. Errors (which leave the model as it was): unknown names, wrong types, bad
// values.
Status freeze_inputs(Model& model, const NamedTensors& values);

// Type, range of integers, bools of 0 and 1, and no NaN or infinity but -inf where the input is a mask
// (ir/mask_flow.hpp).
Status check_input(const Model& model, const std::string& name, const Tensor& value);
// All inputs of the graph: those given (checked), the others by their defaults. Errors: unknown, bad and left-out
// names.
Result<NamedTensors> complete_inputs(const Model& model, const NamedTensors& given);

// Elements of all weights; literals (scalars, tables the importer computed, frozen inputs) do not count.
size_t count_parameters(const Graph& graph);

}  // namespace rung
