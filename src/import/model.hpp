// A model as imported: its graph, and for each input its valid values, its default when left out, and a valid sample.
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

// The values that an integer input may hold, both ends included.
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
  std::string name;          // last component of the directory, as valid UTF-8
  std::string architecture;  // "bert", "pi0"
  std::string directory;     // the folder of config.json, weights and tokenizer; empty when imported from text
  std::map<std::string, InputDefault> defaults;  // one for every input of the graph that is no state
  std::vector<Stage> stages;                     // of its labels, for reports; other labels are the rest
  int64_t positions = 0;                         // the most tokens of a decoder's text; 0: it is no decoder
  std::vector<std::string> watched;              // labels of inner values that matter as much as outputs do
  std::vector<std::string> notes;                // such as checkpoint tensors that inference does not read
};

// How many tokens a decoder remembers between runs. The graph is then one chunk of a text of one sequence: it takes
// input_ids i64[1,S] and count i64[1], the number of them that are real, and gives the logits of the last real one,
// f32[1,V], or those of all tokens of a small chunk, f32[S,V]; its states are the position and, for each layer, keys
// and values of the tokens before. Those of an encoder-decoder are two graphs: the encoder's writes the keys and values
// of cross attention, which are states, too, and the chunk's reads them; its tokens are decoder_input_ids.
struct DecoderCache {
  int64_t length = 0;         // the most tokens of a text; 0: no states, and logits of all tokens, f32[B,S,V]
  int64_t largest_chunk = 1;  // the largest S of graphs that share the states
  int64_t scored_chunk = 0;   // the largest S of graphs that give the logits of all their tokens
  int64_t source = 0;         // the most tokens that an encoder of texts reads; 0: a usual number
  bool encodes = false;       // the graph is the encoder's
};

struct ImportOptions {
  std::map<std::string, Shape> shapes;   // of inputs, by name; the architecture decides which dimensions are free
  std::map<std::string, Shape> given;    // shapes of the values that inputs will get, used where `shapes` has none
  std::map<std::string, Tensor> frozen;  // values that inputs will have at every run, which may decide shapes
  std::optional<uint64_t> random_seed;   // weights come from a generator, not from files
  std::optional<DType> dtype;         // f32: uses every float weight as f32; none: uses each as the author's code does
  std::vector<std::string> observed;  // labels of values inside the graph, which become outputs of these names
  bool drop_head = false;             // imports only the encoder of a model that has a head
  DecoderCache cache;                 // of decoder language models
};

// Says in words what each importer takes: "a directory with config.json".
std::vector<std::string_view> importable_kinds();

// Imports what kImporters has an importer for; a name such as "ORG/NAME" is looked up in the cache of Hugging Face's
// libraries if there is nothing at that path. Loads no weight. Errors: unknown architectures, heads that are not known
// and must not be dropped, fields missing or out of bounds, tensors missing, misshapen or unexpected, labels that no
// value has.
Result<Model> import_model(const std::string& path, const ImportOptions& options = {});
// Checks that an importer recognises what stands at the path, without importing it.
Status check_importable(const std::string& path);
// Imports as import_model() does, from the text of a config.json alone; weights are always random (seed 0 unless the
// options say).
Result<Model> import_config_text(std::string_view config_json, const ImportOptions& options = {});

// Makes an output, of the label's name, of the last value with that label: the result of the part that it names.
// Errors: no value has the label.
Status observe(Graph& graph, const std::string& label);

// Makes constants of the named inputs. Errors: unknown names, wrong types, bad values; they leave the model unchanged.
Status freeze_inputs(Model& model, const NamedTensors& values);

// Checks type, range of integers, bools of 0 and 1, and no NaN or infinity but -inf if the input is a mask
// (ir/mask_flow.hpp).
Status check_input(const Model& model, const std::string& name, const Tensor& value);
// Returns all inputs of the graph: given ones, checked, and defaults for the others. Errors: unknown, bad and left-out
// names.
Result<NamedTensors> complete_inputs(const Model& model, const NamedTensors& given);

// Counts elements of all weights, but not of literals (scalars, tables the importer computed, frozen inputs).
size_t count_parameters(const Graph& graph);

}  // namespace rung
