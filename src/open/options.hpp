// The options for opening a model or plan, in the one form that flags, the public interface and tests share.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/model.hpp"
#include "import/npz.hpp"
#include "kernels/device_word.hpp"
#include "plan/code.hpp"

namespace rung {

// Arrays by name: their types are known at once; their values are read once the caller knows which of them it wants.
struct GivenArrays {
  std::map<std::string, Type> types;
  std::function<Result<NamedTensors>(const WantsArray& wants)> read;
  std::string source;  // the arrays' file, for errors; empty: none
};
GivenArrays given_arrays(NamedTensors arrays);

// The options for opening a model or plan; errors name each as named() does.
struct OpenOptions {
  std::string path;
  std::optional<DeviceWord> device;     // none: a plan's own kind of device, the processor for a directory
  int threads = 0;                      // of the processor; 0: a plan's own number, or one for each core
  std::optional<DType> dtype;           // f32, or bf16: the opt-in precision; none: each tensor as in the checkpoint
  std::map<std::string, Shape> shapes;  // of inputs that `inputs` does not give
  GivenArrays inputs;
  std::vector<GivenArrays> further_inputs;  // more sets of them, to find a directory's scales and judge its answers
  std::vector<std::string> freeze;          // names of `inputs` that become constants
  std::vector<std::string> observed;        // labels in the graph whose values are outputs too
  std::optional<uint64_t> random_weights;
  bool drop_head = false;           // see ImportOptions::drop_head
  DecoderCache cache = {};          // of a decoder's directory
  CodeUse code = CodeUse::checked;  // of a plan file
  // The options are flags: errors write them with dashes, and an option that does not fit the model is wrong usage.
  bool command_line = false;

  std::string named(std::string_view option) const { return (command_line ? "--" : "") + std::string(option); }
};

// Writes the options as the tool's command line: the path, and all options but inputs.
std::vector<std::string> command_line_of(const OpenOptions& options);

// Parses a device as a caller names it; empty: none. Errors (usage): another word; `dashes` stand before the option.
Result<std::optional<DeviceWord>> asked_device(std::string_view word, std::string_view dashes = "");
// Parses "model" (none), "f32" or "bf16". Errors (usage): another word.
Result<std::optional<DType>> parse_dtype(std::string_view word);

}  // namespace rung
