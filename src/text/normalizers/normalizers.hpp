// The first part of a tokenizer: changes to a text before it is split, as the field "normalizer" lists them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/json_config.hpp"
#include "text/piece.hpp"

namespace rung::text {

// Reads the normalizer, or all of a Sequence in their order; none where the field is missing.
Result<std::vector<Normalizer>> read_normalizers(const Config& tokenizer);

// Each reads the normalizer of its type.
Result<Normalizer> read_bert_normalizer(const Config& part);
Result<Normalizer> read_precompiled(const Config& part);
Result<Normalizer> read_replace(const Config& part);
Result<Normalizer> read_prepend(const Config& part);
Result<Normalizer> read_strip(const Config& part);

}  // namespace rung::text
