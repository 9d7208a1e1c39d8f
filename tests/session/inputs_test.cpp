// What a session's inputs hold from one run to the next, on every recorder: those left out take their defaults again,
// and what is refused changes nothing.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "plan/support.hpp"
#include "support/fake_target.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

struct InputsCase {
  bool gpu, capture;
};

class InputsOf : public ::testing::TestWithParam<InputsCase> {
 protected:
  InputsOf() : target_(GetParam().gpu ? testing::fake_target() : cpu_target()), session_(make()) {}

  Session make() {
    Graph graph = graph_of(
        "x: f32[4] = input()\n"
        "mask: f32[4] = input()\n"
        "y: f32[4] = mul(x, mask)\n"
        "a: f32[4] = neg(mask)\n"
        "return y=y, a=a");
    Recipe recipe{.capture = GetParam().capture, .threads = GetParam().gpu ? 0 : 1};
    auto built = build_plan(graph, recipe, {.target = &target_});
    EXPECT_TRUE(built) << built.error().message;
    built->plan.inputs[1].value = all_ones_;
    auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), std::make_shared<cpu::Team>(1));
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }
  void expect_outputs(const std::vector<float>& y, const std::vector<float>& a) {
    auto outputs = session_.outputs();
    ASSERT_TRUE(outputs) << outputs.error().message;
    ASSERT_EQ(outputs->size(), 2u);
    EXPECT_EQ((*outputs)[0].first, "y") << "in the plan's order";
    EXPECT_EQ((*outputs)[1].first, "a");
    EXPECT_THAT((*outputs)[0].second.as<float>(), ::testing::ElementsAreArray(y));
    EXPECT_THAT((*outputs)[1].second.as<float>(), ::testing::ElementsAreArray(a));
  }

  const Tensor x_ = Tensor::of<float>({4}, {1, 2, 3, 4}), other_x_ = Tensor::of<float>({4}, {9, 9, 9, 9}),
               all_ones_ = Tensor::of<float>({4}, {1, 1, 1, 1}), half_ = Tensor::of<float>({4}, {1, 1, 0, 0}),
               bad_ = Tensor::of<float>({4}, {0, 0, 0, NAN});
  Target target_;
  Session session_;
};

TEST_P(InputsOf, ARunTakeTheirDefaultsWhenLeftOut) {
  ASSERT_TRUE(session_.infer({{"x", x_}, {"mask", half_}}));
  expect_outputs({1, 2, 0, 0}, {-1, -1, 0, 0});
  ASSERT_TRUE(session_.infer({{"x", x_}}));
  expect_outputs({1, 2, 3, 4}, {-1, -1, -1, -1});
}

TEST_P(InputsOf, ARunStayForTheNextOne) {
  ASSERT_TRUE(session_.set_inputs({{"x", x_}, {"mask", half_}}));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(session_.run());
    expect_outputs({1, 2, 0, 0}, {-1, -1, 0, 0});
  }
}

TEST_P(InputsOf, ARunThatAreRefusedChangeNone) {
  ASSERT_TRUE(session_.set_inputs({{"x", x_}, {"mask", half_}}));
  const std::vector<NamedTensors> refused{{{"x", other_x_}, {"mask", bad_}},
                                          {{"x", bad_}, {"mask", all_ones_}},
                                          {{"mask", all_ones_}},
                                          {{"x", other_x_}, {"z", x_}},
                                          {{"mask", all_ones_}, {"x", Tensor({DType::f32, {3}})}}};
  for (const NamedTensors& inputs : refused) {
    EXPECT_FALSE(session_.set_inputs(inputs));
    ASSERT_TRUE(session_.run());
    expect_outputs({1, 2, 0, 0}, {-1, -1, 0, 0});
  }
}

INSTANTIATE_TEST_SUITE_P(Recorders, InputsOf,
                         ::testing::Values(InputsCase{false, false}, InputsCase{false, true}, InputsCase{true, false},
                                           InputsCase{true, true}));

// A device with one kernel, which raises `fault_` at the next launch, once.
class RaisedFault : public ::testing::TestWithParam<bool> {
 protected:
  static Status enqueue(const gpu::Call& call) {
    auto* fault = static_cast<Fault*>(gpu::device_pointer(call.fault));
    return call.gpu.check(testing::fake::submit(call.stream,
                                                [fault] {
                                                  if (fault_ != Fault::none)
                                                    *fault = std::exchange(fault_, Fault::none);
                                                }),
                          "faulty");
  }
  Session session_over(const char* text, std::string_view op, Fault first = Fault::none) {
    fault_ = first;
    kernel_.op = op;
    target_.kernels = rows_;
    auto built = build_plan(graph_of(text), {.capture = GetParam(), .threads = 0}, {.target = &target_});
    EXPECT_TRUE(built) << built.error().message;
    auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), nullptr);
    EXPECT_TRUE(session) << session.error().message;
    EXPECT_TRUE(session->set_inputs(random_inputs(graph_of(text))));
    return std::move(*session);
  }
  static inline Fault fault_ = Fault::none;

 private:
  Kernel kernel_{.name = "faulty",
                 .op = "",
                 .supports = [](const Problem&, const Machine&) { return accept(); },
                 .enqueue = enqueue};
  std::vector<const Kernel*> rows_{&kernel_};
  Target target_ = testing::fake_target();
};

TEST_P(RaisedFault, OnADeviceIsToldOnlyOnce) {
  Session session = session_over(
      "t: f32[4,2] = constant(name=\"t\")\n"
      "a: f32[3,2] = gather(t, i:i64[3], axis=0)  # the.lookup\n"
      "return a=a",
      "gather");
  ASSERT_TRUE(session.run());
  fault_ = Fault::index_out_of_range;
  Status failed = session.run();
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("the.lookup (gather): an index is out of range"));
  EXPECT_FALSE(device_failed(failed));
  EXPECT_TRUE(session.run());
}

// Flags are looked at where an op may raise one, and an integer division may.
TEST_P(RaisedFault, OnADeviceIncludesIntegerDivisionByZero) {
  Session session = session_over("q: i64[3] = div(x:i64[3], y:i64[3])  # the.quotient\nreturn q=q", "binary");
  fault_ = Fault::integer_divided_by_zero;
  Status failed = session.run();
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("the.quotient (div): an integer is divided by zero"));
}

// Launches are tried before they are recorded into a graph, when no input has a value yet.
TEST_P(RaisedFault, BeforeInputsCameIsNoRuns) {
  const bool captured = GetParam();
  Session session =
      session_over("q: i64[3] = div(x:i64[3], y:i64[3])\nreturn q=q", "binary", Fault::integer_divided_by_zero);
  EXPECT_EQ(fault_ == Fault::none, captured);
  EXPECT_EQ(session.run().has_value(), captured);
}

INSTANTIATE_TEST_SUITE_P(Captured, RaisedFault, ::testing::Bool());

}  // namespace
}  // namespace rung
