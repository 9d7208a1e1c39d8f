// The code of generated kernels as a plan file holds it: images of machine code, the source of each kernel with its
// place in an image, and for each launch the hash of the source that it runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "kernels/generated/gpu/code.hpp"

namespace rung {

struct CodeSection {
  std::vector<gpu::CodePointer> code;
  std::vector<std::vector<std::string>> named;  // by plan and step: source_name() of what the launch runs; empty: none
};

// Returns the hash by which launches name a source.
std::string source_name(std::string_view source);

// Adds the section to the JSON of a set of plans. A section without code adds nothing: a file that has none is the same
// as one of a release that knows of none.
void add_code(const CodeSection& section, nlohmann::json& set);

// Errors: fields missing or of the wrong type; damaged, truncated or oversized contents; an image with another hash
// than its own, or in which no kernel lies; two codes for one source and architecture; code that no launch names, or
// that is not there. Never throws.
Result<CodeSection> code_from_json(const nlohmann::json& set);

}  // namespace rung
