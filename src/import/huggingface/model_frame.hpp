// The frame of an import from the published library: the class that config.json names, its weights and its outputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "import/huggingface/architecture.hpp"
#include "import/huggingface/module_builder.hpp"

namespace rung::huggingface {

// How the tensors of an architecture are named.
struct TensorNames {
  std::string prefix;  // of the encoder in a class with a head, such as "bert"
  std::string probe;   // a tensor that every encoder has, in whose type the model computes
  Shape probe_shape;
  std::string layers;                     // the scope of the encoder's layers
  std::vector<std::string_view> heads;    // how tensors of heads begin, such as "classifier."
  std::vector<std::string_view> ignored;  // how tensors end that inference never reads, such as "position_ids"
  bool has_decoder = false;               // an encoder-decoder's
};

// Returns `prefix` if the checkpoint has the probe under it alone, else "".
std::string root_of(const Checkpoint& checkpoint, const std::string& prefix, const std::string& probe);

// Returns what the config's class has on top of its encoder; none if the options drop it. Errors: a class that is not
// among `classes`.
Result<Head> head_of(const ConfigSource& source, Classes classes);

class ModelFrame {
 public:
  // Opens the weights. With `encoder_only`, or if the options drop the head, the class does not matter. Errors: a class
  // that is not among `classes`, tensors of a head that the class has not, weights that cannot be read.
  static Result<std::unique_ptr<ModelFrame>> open(const ConfigSource& source, Classes classes, TensorNames names,
                                                  DType usual, bool encoder_only = false);

  Head head() const { return head_; }
  DType dtype() const { return dtype_; }
  // The encoder, whose labels have no prefix.
  const Module& encoder() const { return encoder_; }
  // The name of the tensor in whose type the model computes; a text encoder's is its table of words.
  std::string probe() const { return encoder_.tensor(names_.probe); }
  const Checkpoint& checkpoint() const { return *checkpoint_; }
  // Returns the name of the tensor that a language head's decoder multiplies by: its own, or, where the head is tied
  // and the checkpoint has no such tensor, the table of words.
  std::string decoder_weight(const std::string& own, bool is_tied) const;
  // The number of classes that a classifier tells apart.
  int64_t labels() const { return labels_; }

  // Adds an output, in f32.
  void output(const std::string& name, NodeId value);
  // Adds the output "logits" of a linear layer with a row for each label.
  void classify(const Module& classifier, NodeId x);
  // Returns the model. Errors: missing, misshapen and unexpected tensors. Tensors that are not read are notes.
  Result<Model> finish();

  Model model;
  ModuleBuilder builder;

 private:
  ModelFrame(std::unique_ptr<Checkpoint> checkpoint, TensorNames names);
  bool begins_as_head(std::string_view tensor) const;
  bool is_of_head(const std::string& tensor) const;
  Status refuse_head(const std::string& where) const;

  std::unique_ptr<Checkpoint> checkpoint_;
  TensorNames names_;
  Module encoder_;
  std::string class_;
  Head head_ = Head::none;
  bool drops_head_ = false;
  DType dtype_ = DType::f32;
  int64_t labels_ = 0;
};

}  // namespace rung::huggingface
