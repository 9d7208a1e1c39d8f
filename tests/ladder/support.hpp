// A small real model to climb.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ladder/climb.hpp"
#include "support/graphs.hpp"
#include "support/sample_inputs.hpp"
#include "support/temporary_directory.hpp"

namespace rung {

inline Subject tiny_bert() {
  Subject subject;
  auto model = import_model(std::string(RUNG_TEST_DATA) + "/bert_tiny", {.dtype = DType::f32});
  EXPECT_TRUE(model) << model.error().message;
  if (!model) return subject;
  subject.model = std::move(*model);
  subject.reference = subject.model.graph;
  return subject;
}

}  // namespace rung
