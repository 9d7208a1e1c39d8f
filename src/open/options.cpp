// Parses options from words, and writes them as words.
// SPDX-License-Identifier: Apache-2.0
#include "open/options.hpp"

namespace rung {

GivenArrays given_arrays(NamedTensors arrays) {
  GivenArrays given;
  for (const auto& [name, tensor] : arrays) given.types.emplace(name, tensor.type());
  given.read = [arrays = std::move(arrays)](const WantsArray& wants) -> Result<NamedTensors> {
    NamedTensors kept;
    for (const auto& [name, tensor] : arrays) {
      RUNG_TRY(bool wanted, wants ? wants(name, tensor.type()) : Result<bool>(true));
      if (wanted) kept.emplace(name, tensor);
    }
    return kept;
  };
  return given;
}

std::vector<std::string> command_line_of(const OpenOptions& options) {
  std::vector<std::string> all{options.path};
  auto add = [&](const char* flag, const std::string& value) { all.insert(all.end(), {flag, value}); };
  if (options.dtype) add("--dtype", std::string(name_of(*options.dtype)));
  if (options.device) add("--device", options.device->word);
  if (options.threads > 0) add("--threads", std::to_string(options.threads));
  for (const auto& [name, shape] : options.shapes) add("--shape", fmt::format("{}={}", name, fmt::join(shape, ",")));
  if (options.cache.length > 0) add("--cache", std::to_string(options.cache.length));
  if (options.cache.scored_chunk > 0) add("--scored-chunk", std::to_string(options.cache.scored_chunk));
  for (const auto& name : options.freeze) add("--freeze", name);
  for (const auto& label : options.observed) add("--observe", label);
  if (options.random_weights) add("--random-weights", std::to_string(*options.random_weights));
  if (options.drop_head) all.emplace_back("--drop-head");
  if (options.code == CodeUse::trusted) all.emplace_back("--trust-code");
  return all;
}

Result<std::optional<DeviceWord>> asked_device(std::string_view word, std::string_view dashes) {
  if (word.empty()) return std::nullopt;
  auto device = parse_device(word);
  if (!device) return wrong_usage("{}{}", dashes, device.error().message);
  return std::optional(std::move(*device));
}

Result<std::optional<DType>> parse_dtype(std::string_view word) {
  if (word == "model") return std::nullopt;
  for (DType dtype : {DType::f32, DType::bf16})
    if (word == name_of(dtype)) return dtype;
  return wrong_usage("dtype: got '{}', wanted model, f32 or bf16", word);
}

}  // namespace rung
