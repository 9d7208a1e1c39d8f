// Reads lines "NAME: VALUE" of known names.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/told_versions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/trimmed.hpp"
#include "doctor/kept_words.hpp"
#include "doctor/knob.hpp"

namespace rung::doctor {
namespace {

struct Name {
  std::string_view line, fact;
};
constexpr Name kNames[] = {
    {"PyTorch version", "PyTorch"},
    {"CUDA used to build PyTorch", "PyTorch's CUDA"},
    {"ROCM used to build PyTorch", "PyTorch's ROCm"},
    {"vLLM Version", "vLLM"},
};

// Returns 2.9.0 of "2.9.0+cu128": the build after the numbers may name anybody. An address has four numbers, and a
// serial number has no dot.
std::string kept_version(std::string_view value) {
  if (value.starts_with("<text, ")) return std::string(value.substr(0, value.find('>') + 1));  // kept before
  const std::string_view numbers = value.substr(0, value.find_first_not_of("0123456789."));
  const auto dots = std::ranges::count(numbers, '.');
  const bool is_one = dots >= 1 && dots <= 2 && numbers.size() <= 16 && numbers[0] != '.' && numbers.back() != '.';
  return is_one ? std::string(numbers) : fmt::format("<text, {} characters>", value.size());
}

bool is_absent(std::string_view value) { return value.empty() || value == "N/A" || value == "None"; }

}  // namespace

std::vector<std::pair<std::string, std::string>> read_versions(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string_view line : parts(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view name = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
    const auto* known = std::ranges::find(kNames, name, &Name::line);
    if (is_absent(value)) continue;
    if (known != std::end(kNames)) found.emplace_back(known->fact, kept_version(value));
    // Lines of GPUs have this form: "GPU 0: NVIDIA H100 80GB HBM3".
    if (name.starts_with("GPU ") && name.size() < 8 && std::isdigit(static_cast<unsigned char>(name[4])) != 0)
      found.emplace_back(name, kept_words(value.substr(0, value.find(" (UUID")), Vocabulary::products));
  }
  return found;
}

std::string written_versions(std::string_view text) {
  std::string kept;
  for (const auto& [fact, value] : read_versions(text)) {
    const auto* known = std::ranges::find(kNames, fact, &Name::fact);
    kept += fmt::format("{}: {}\n", known == std::end(kNames) ? std::string_view(fact) : known->line, value);
  }
  return kept;
}

}  // namespace rung::doctor
