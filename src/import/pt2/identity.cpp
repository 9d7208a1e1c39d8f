// Operators that leave values as they are in inference.
// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/operators.hpp"

namespace rung::pt2::operators {

Values dropout(const Call& call) {
  if (call.flag("train")) exported::refuse("dropout in training, wanted a model in eval mode: model.eval()");
  return one(call.tensor(call.has("input") ? "input" : "self"));
}
Values self(const Call& call) { return one(call.tensor("self")); }
Values nothing(const Call&) { return {}; }

}  // namespace rung::pt2::operators
