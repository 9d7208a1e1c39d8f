// Inputs of bools: what a caller wrote as other bytes is refused wherever it may come in, and never a wrong answer.
// SPDX-License-Identifier: Apache-2.0
#include "plan/support.hpp"
#include "support/fake_target.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

struct BoolsCase {
  bool gpu, capture;
};

class Bools : public ::testing::TestWithParam<BoolsCase> {
 protected:
  Bools() : target_(GetParam().gpu ? testing::fake_target() : cpu_target()), session_(make()) {}

  Session make() {
    Graph graph = graph_of(
        "mask: bool[4] = input()\n"
        "x: f32[4] = input()\n"
        "y: f32[4] = select(mask, x, x)\n"
        "return y=y");
    auto built =
        build_plan(graph, {.capture = GetParam().capture, .threads = GetParam().gpu ? 0 : 1}, {.target = &target_});
    EXPECT_TRUE(built) << built.error().message;
    auto session = Session::create(std::make_shared<Plan>(std::move(built->plan)), std::make_shared<cpu::Team>(1));
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }
  void expect_refused(const Status& status) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind, ErrorKind::mismatch);
    EXPECT_THAT(status.error().message, HasSubstr("input 'mask': got the byte 255 in bool[4], wanted 0 or 1"));
  }

  Target target_;
  Session session_;
  const Tensor x_ = Tensor::of<float>({4}, {1, 2, 3, 4});
};

Tensor mask_of(std::initializer_list<uint8_t> bytes) {
  Tensor mask({DType::boolean, {4}});
  std::transform(bytes.begin(), bytes.end(), mask.data(), [](uint8_t byte) { return std::byte{byte}; });
  return mask;
}

TEST_P(Bools, GivenByNameMustBeZeroOrOne) {
  EXPECT_TRUE(session_.infer({{"x", x_}, {"mask", mask_of({1, 0, 1, 0})}}));
  expect_refused(session_.set_inputs({{"x", x_}, {"mask", mask_of({1, 0, 255, 0})}}));
}

TEST_P(Bools, InCallersMemoryMustBeZeroOrOne) {
  for (Place place : {Place::host, Place::pinned}) {
    Tensor mask = mask_of({1, 0, 1, 1});
    ASSERT_TRUE(session_.set_inputs({{"x", x_}, {"mask", mask}}));
    ASSERT_TRUE(session_.bind_input(0, place, mask.data()));
    EXPECT_TRUE(session_.run());
    mask.data()[3] = std::byte{255};
    expect_refused(session_.run());
  }
}

TEST_P(Bools, InSessionMemoryMustBeZeroOrOne) {
  ASSERT_TRUE(session_.set_inputs({{"x", x_}, {"mask", mask_of({1, 0, 1, 1})}}));
  auto memory = session_.own_input(0, Place::host);
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_TRUE(session_.run());
  (*memory)[1] = std::byte{255};
  expect_refused(session_.run());
}

INSTANTIATE_TEST_SUITE_P(Recorders, Bools,
                         ::testing::Values(BoolsCase{false, false}, BoolsCase{false, true}, BoolsCase{true, false},
                                           BoolsCase{true, true}));

TEST(FrozenBools, AreComparedAsBoolsOrRefused) {
  const FrozenInput frozen{"mask", mask_of({1, 0, 1, 0})};
  EXPECT_TRUE(check_frozen_input(frozen, mask_of({1, 0, 1, 0})));
  Status refused = check_frozen_input(frozen, mask_of({255, 0, 1, 0}));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("got the byte 255"));
}

}  // namespace
}  // namespace rung
