// Pi0 checkpoints of the tests: what they are given, what they should answer, and sessions of their plans.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/npz.hpp"
#include "ladder/rungs.hpp"
#include "open/subject.hpp"
#include "plan/build.hpp"
#include "session/session.hpp"
#include "support/graphs.hpp"

namespace rung {

inline const ImportOptions kF32{.dtype = DType::f32};

inline NamedTensors load(const std::string& path) {
  auto arrays = read_npz(path);
  EXPECT_TRUE(arrays) << arrays.error().message;
  return arrays ? *arrays : NamedTensors{};
}

class Policy {
 public:
  explicit Policy(const std::string& name) : directory_(std::string(RUNG_TEST_DATA) + "/" + name) {}
  NamedTensors inputs() const { return load(directory_ + "/inputs.npz"); }
  Tensor expected(const std::string& name) const { return load(directory_ + "/outputs.npz").at(name); }

  Subject subject(const ImportOptions& options = kF32, const NamedTensors& frozen = {}) const {
    auto model = import_model(directory_, options);
    EXPECT_TRUE(model) << model.error().message;
    Subject subject{.model = std::move(*model), .reference = {}, .frozen = frozen, .attachments = {}};
    Status status = freeze_inputs(subject.model, frozen);
    EXPECT_TRUE(status) << status.error().message;
    return subject;
  }

  NamedTensors masks() const {
    NamedTensors all = inputs();
    return {{"image_mask", all.at("image_mask")}, {"token_mask", all.at("token_mask")}};
  }

 private:
  std::string directory_;
};

// With target.gpu set, the recipe's threads are those of that target: 0.
inline Session session_of(const Subject& subject, const Recipe& recipe, const Target& target = cpu_target()) {
  auto built = build_plan(subject.model.graph, recipe, {.target = &target});
  EXPECT_TRUE(built) << built.error().message;
  attach_model(built->plan, subject);
  auto team = target.gpu ? nullptr : std::make_shared<cpu::Team>(recipe.threads);
  auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), std::move(team));
  EXPECT_TRUE(session) << session.error().message;
  return std::move(session.value());  // throws when there is none: the test has failed
}

inline Tensor actions_of(Session& session, const NamedTensors& inputs) {
  auto outputs = session.infer(inputs);
  EXPECT_TRUE(outputs) << outputs.error().message;
  return outputs ? outputs->front().second : Tensor();
}

}  // namespace rung
