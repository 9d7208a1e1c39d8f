// The input rules that architectures share: token ids, masks, images, noise.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "import/model.hpp"

namespace rung::huggingface {

// Each function declares the input in the model's graph, with its rule.
NodeId add_token_input(Model& model, const std::string& name, const Shape& shape, int64_t vocabulary);
// Declares a mask or segment ids, from 0 to `last`. If left out, all are `fill`, which is also the sample.
NodeId add_mask_input(Model& model, const std::string& name, const Type& type, int64_t fill, int64_t last = 1);
// Declares how many of `most` tokens are real, i64[1]. If left out, all are.
NodeId add_count_input(Model& model, const std::string& name, int64_t most);
enum class Distribution { uniform, normal };  // uniform: -1 to 1
NodeId add_float_input(Model& model, const std::string& name, const Shape& shape, Distribution distribution,
                       const std::string& meaning);

}  // namespace rung::huggingface
