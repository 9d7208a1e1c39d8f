// Graphs on AMD's runtime whose nodes stand apart, and graphs that look alike.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/findings/findings.hpp"

namespace rung::trace {
namespace {

using testing::HasSubstr;

struct ToldGraph {
  double pause_us = 4, kernel_us = 3;
  size_t nodes = 40;
  std::string_view call = "hipGraphLaunch";
};

Found told(const ToldGraph& graph) {
  return {findings::graph_nodes, recorded_steps([&](ScriptedRecording& script) {
            script.device_pause(graph.pause_us);
            script.graph(std::vector<ScriptedRecording::Node>(graph.nodes, {"gemm", graph.kernel_us, {}}), graph.call);
          })};
}

TEST(GraphNodes, StandApartOnHip) {
  const Found found = told({});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bound_ms, 39 * 0.004, 1e-6);
  EXPECT_THAT(found->title, HasSubstr("40 nodes of HIP graphs in a step stand 4.0 us apart"));
  EXPECT_EQ(found->evidence[0].event, "pauses between nodes of one graph");
  EXPECT_EQ(found->evidence[0].count, kSteps * 39);
  EXPECT_EQ(found->evidence[1].event, "hipGraphLaunch");
}

TEST(GraphNodes, WhatLooksAlike) {
  EXPECT_FALSE(told({.call = "cudaGraphLaunch"})) << "another runtime: its nodes may wait for one another";
  EXPECT_FALSE(told({.pause_us = 1})) << "as near as they get";
  EXPECT_FALSE(told({.pause_us = 12})) << "they wait for something";
  EXPECT_FALSE(told({.kernel_us = 300})) << "the pauses are a hundredth of the step";
  EXPECT_FALSE(told({.nodes = 16})) << "15 pauses";
  EXPECT_TRUE(told({.nodes = 17}));
  EXPECT_FALSE(Found(findings::graph_nodes, recorded_steps([](ScriptedRecording& script) {
                       for (int i = 0; i < 40; ++i) script.kernel("gemm", 3);
                     })))
      << "no graph";
}

TEST(GraphNodes, PausesBetweenGraphsAreNoNodes) {
  const Found found(findings::graph_nodes, recorded_steps([](ScriptedRecording& script) {
                      const std::vector<ScriptedRecording::Node> ten(10, {"gemm", 3.0, {}});
                      script.device_pause(4);
                      for (int i = 0; i < 4; ++i) script.graph(ten, "hipGraphLaunch");
                    }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evidence[0].count, kSteps * 4 * 9);
  EXPECT_NEAR(found->bound_ms, 36 * 0.004, 1e-6);
}

}  // namespace
}  // namespace rung::trace
