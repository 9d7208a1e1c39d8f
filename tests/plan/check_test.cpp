// Plans that a file could hold but nothing may run.
// SPDX-License-Identifier: Apache-2.0
#include "plan/check.hpp"

#include "support.hpp"

namespace rung {
namespace {

using testing::HasSubstr;

Plan sound_plan() {
  return plan_of(
      "w: f32[64,64] = constant(name=\"w\")\n"
      "y = softmax(linear(x:f32[4,64], w))",
      {.capture = true, .tuned_kernels = true});
}

TEST(CheckPlan, AcceptsWhatWasBuilt) {
  Status status = check_plan(sound_plan());
  EXPECT_TRUE(status) << status.error().message;
}

struct Damage {
  const char* what;
  void (*make)(Plan&);
  const char* message;
};
void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.what; }
class DamagedPlan : public testing::TestWithParam<Damage> {};

TEST_P(DamagedPlan, IsRefused) {
  Plan plan = sound_plan();
  GetParam().make(plan);
  Status status = check_plan(plan);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr(GetParam().message));
}

const Damage kDamages[] = {
    {"offset beyond the buffer", [](Plan& p) { p.steps[1].inputs[0].offset = 4; }, "reaches past"},
    {"offset that overflows", [](Plan& p) { p.steps[1].inputs[0].offset = UINT64_MAX; }, "reaches past"},
    {"stride beyond the buffer", [](Plan& p) { p.steps[1].inputs[0].view.strides[0] = 1 << 20; }, ""},
    {"negative stride", [](Plan& p) { p.steps[0].inputs[0].view.strides[0] = -64; }, "are out of range"},
    {"stride that overflows", [](Plan& p) { p.steps[1].inputs[0].view.strides[0] = INT64_MAX; },
     "strides [9223372036854775807,1] of"},
    {"no such buffer", [](Plan& p) { p.steps[1].inputs[0].index = 99; }, "buffer 99 of"},
    {"no such weight", [](Plan& p) { p.steps[0].inputs[1].index = 99; }, "packed operand 1"},
    {"a weight of another size", [](Plan& p) { p.weights[0].bytes -= 64; }, "packed operand 1"},
    {"a kernel that does not exist", [](Plan& p) { p.steps[0].kernel = "linear_gone"; }, "no kernel 'linear_gone'"},
    {"a kernel of another op", [](Plan& p) { p.steps[1].kernel = p.steps[0].kernel; }, "no kernel"},
    {"a parameter that does not exist", [](Plan& p) { p.steps[0].params["columns"] = -1; }, "columns=-1"},
    {"a result of another shape",
     [](Plan& p) {
       p.steps[1].output.view.shape = {4, 65};
     },
     "not a dense"},
    {"a result in a weight", [](Plan& p) { p.steps[1].output.region = Region::weight; }, "not in a buffer"},
    {"a missing operand", [](Plan& p) { p.steps[0].inputs.pop_back(); }, "step 0"},
    {"a buffer beyond the arena", [](Plan& p) { p.buffers[0].offset = p.arena_bytes; }, "does not fit the arena"},
    {"a buffer off its alignment", [](Plan& p) { p.buffers[0].offset += 4; }, "does not fit the arena"},
    {"buffers that overlap", [](Plan& p) { p.buffers[p.steps[0].output.index].offset = p.buffers[0].offset; },
     "overlap"},
    {"a buffer that died before its use", [](Plan& p) { p.buffers[p.steps[0].output.index].last_step = 0; },
     "not alive"},
    {"an arena out of range", [](Plan& p) { p.arena_bytes = UINT64_MAX; }, "out of range"},
    {"an input without its buffer", [](Plan& p) { p.inputs[0].buffer = 99; }, "'x' has no buffer"},
    {"an output larger than its buffer",
     [](Plan& p) {
       p.outputs[0].type.shape = {400, 64};
     },
     "'y' has no buffer"},
    {"an output that is dead at the end", [](Plan& p) { p.buffers[p.outputs[0].buffer].last_step = 1; },
     "output 'y' is not alive"},
};
INSTANTIATE_TEST_SUITE_P(, DamagedPlan, testing::ValuesIn(kDamages));

}  // namespace
}  // namespace rung
