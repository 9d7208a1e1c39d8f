// What every task begins with: the model or plan that a path names, the inputs that a caller gives, the recipe.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "import/npz.hpp"
#include "open/open_model.hpp"

namespace rung::tasks {

// Arrays by name: their types are known at once, their values are read when it is known which of them are wanted.
struct GivenArrays {
  std::map<std::string, Type> types;
  std::function<Result<NamedTensors>(const WantsArray& wants)> read;
  std::string source;  // the file that they come from, for errors; empty: none
};
GivenArrays given_arrays(NamedTensors arrays);

// The options of a model or plan. Where an error names one, it is by its name here.
struct ModelOptions {
  std::string path;
  std::string device;                   // as open_target() takes it; empty: as OpenOptions::device
  int threads = 0;                      // 0: as OpenOptions::threads
  std::optional<DType> dtype;           // f32, or bf16: the opt-in precision; none: each tensor as in the checkpoint
  std::map<std::string, Shape> shapes;  // of inputs that `inputs` does not give
  GivenArrays inputs;
  std::vector<std::string> freeze;    // of `inputs`, those that are constants
  std::vector<std::string> observed;  // labels in the graph whose values are outputs too
  std::optional<uint64_t> random_weights;
  bool drop_head = false;  // as ImportOptions::drop_head
  // The options are flags: errors write them with dashes, and one that the model cannot have is wrong usage.
  bool command_line = false;

  std::string named(std::string_view option) const { return (command_line ? "--" : "") + std::string(option); }
};

// The same on the command line of the tool: the path, and all options but inputs.
std::vector<std::string> command_line_of(const ModelOptions& options);

// "model" (none), "f32" or "bf16". Errors (usage): another word.
Result<std::optional<DType>> parse_dtype(std::string_view word);

// Of JSON text. Errors (usage): it is none, or says something that no recipe says.
Result<Recipe> parse_recipe(std::string_view text);

struct Opened : OpenedModel {
  NamedTensors given;  // those of the options' inputs that are not frozen
};

// Errors: those of rung::open_model(); shapes, freezing or weights that are asked of a plan, a frozen input without a
// value, a shape that contradicts a value (usage); inputs that do not fit (mismatch).
Result<Opened> open_model(const ModelOptions& options);

// Inputs complete enough to time: those given, the model's defaults, random samples for the rest.
NamedTensors sample_missing(const Subject& subject, const NamedTensors& given, uint64_t seed);
NamedTensors sample_missing(const Plan& plan, const NamedTensors& given, uint64_t seed);
// What a directory is verified on: several samples, or the one set where everything is given.
std::vector<NamedTensors> verification_inputs(const Opened& opened);

// Of a directory's subject: the recipe given; without one, what runs without a climb: all rungs that are not opt-in,
// kernels in order of preference. Errors: the options contradict the recipe (usage), or a choice of its would decide
// nothing in the subject's plan (mismatch).
Result<Recipe> recipe_of(const Opened& opened, const std::optional<Recipe>& recipe, const ModelOptions& options);
// The plan of that recipe.
Result<std::shared_ptr<const Plan>> plan_by_recipe(const Opened& opened, const std::optional<Recipe>& recipe,
                                                   const ModelOptions& options);
// The plan of a .rung file, which takes no recipe (usage), or that of a directory by the recipe; the log says where no
// climb can have judged it.
Result<std::shared_ptr<const Plan>> plan_of(const Opened& opened, const std::optional<Recipe>& recipe,
                                            const ModelOptions& options);
// One line on the log if the plan, which no climb has verified, computes in low precision.
void note_if_unjudged(const Plan& plan);

}  // namespace rung::tasks
