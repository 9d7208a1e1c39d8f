// Plans that a file could hold but nothing may run.
// SPDX-License-Identifier: Apache-2.0
#include "plan/check.hpp"

#include <cctype>

#include "measure/clock.hpp"
#include "support.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

// A packed weight, an operand that is a result, and scratch.
Plan sound_plan() {
  Recipe recipe{.capture = true, .tuned_kernels = true};
  return plan_of(
      "w: f32[64,64] = constant(name=\"w\")\n"
      "y = softmax(linear(x:f32[4,64], w))",
      recipe);
}

// Ids that pick rows of a table.
Plan plan_of_ids() {
  Plan plan = plan_of(
      "table: f32[5,8] = constant(name=\"table\")\nids: i64[4] = input()\n"
      "y = gather(table, ids, axis=0)");
  plan.inputs[0].first = 0, plan.inputs[0].last = 4;
  return plan;
}

// Gives a buffer addresses of its own and a whole life, so that only what it holds can be wrong.
Buffer& set_apart(Plan& plan, uint32_t index) {
  Buffer& buffer = plan.buffers[index];
  buffer.offset = (plan.arena_bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  plan.arena_bytes = buffer.offset + buffer.bytes;
  buffer.first_step = 0, buffer.last_step = static_cast<uint32_t>(plan.steps.size());
  return buffer;
}

std::string error_of(const Plan& plan) {
  Status status = check_plan(plan);
  return status ? "" : status.error().message;
}

TEST(CheckPlan, AcceptsWhatWasBuilt) {
  EXPECT_EQ(error_of(sound_plan()), "");
  EXPECT_EQ(error_of(plan_of_ids()), "");
  ASSERT_TRUE(sound_plan().steps[1].scratch) << "or damages below have no subject";
}

TEST(CheckPlan, AcceptsAnOutputThatIsAReshapedValue) {
  EXPECT_EQ(error_of(plan_of("y = reshape(neg(x:f32[4,6]), shape=[24])")), "");
}

struct Damage {
  const char* what;
  void (*make)(Plan&);
  const char* message;
};
void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.what; }
class DamagedPlan : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedPlan, IsRefused) {
  Plan plan = sound_plan();
  GetParam().make(plan);
  EXPECT_THAT(error_of(plan), HasSubstr(GetParam().message)) << GetParam().what;
}

constexpr int64_t kHuge = int64_t{1} << 40;

const Damage kDamages[] = {
    // where an operand lies
    {"offset beyond the buffer", [](Plan& p) { p.steps[1].inputs[0].offset = 4; }, "reaches past its 1024 bytes"},
    {"a buffer that begins at a cache line only",
     [](Plan& p) { set_apart(p, p.steps[1].output.index).offset += 64, p.arena_bytes += 64; },
     "does not fit the arena"},
    {"offset that overflows", [](Plan& p) { p.steps[1].inputs[0].offset = UINT64_MAX; }, "reaches past"},
    {"stride beyond the buffer", [](Plan& p) { p.steps[1].inputs[0].view.strides[0] = 1 << 20; },
     "step 1 (): an operand reaches past its 1024 bytes"},
    {"negative stride", [](Plan& p) { p.steps[0].inputs[0].view.strides[0] = -64; }, "are out of range"},
    {"stride that overflows", [](Plan& p) { p.steps[1].inputs[0].view.strides[0] = INT64_MAX; },
     "strides [9223372036854775807,1] of"},
    {"strides of another rank", [](Plan& p) { p.steps[1].inputs[0].view.strides = {1}; }, "differ in rank"},
    {"an offset between elements",
     [](Plan& p) {
       p.steps[1].inputs[0].offset = 2;
       p.steps[1].inputs[0].view.shape = p.steps[1].output.view.shape = {3, 64};
     },
     "begins at byte 2, wanted a multiple of 4"},
    {"no such buffer", [](Plan& p) { p.steps[1].inputs[0].index = 99; }, "buffer 99 of"},
    {"no such weight", [](Plan& p) { p.steps[0].inputs[1].index = 99; }, "weight 99 of 1"},
    {"a weight of another size", [](Plan& p) { p.weights[0].bytes -= 64; }, "packed weight 0: got"},
    {"a packed weight from its middle", [](Plan& p) { p.steps[0].inputs[1].offset = 64; }, "bytes from 64"},
    {"a value of another type",
     [](Plan& p) { p.steps[1].inputs[0].view.dtype = p.steps[1].output.view.dtype = DType::bf16; },
     "holds f32, and is read as bf16"},
    // constants are laid out by their kernel
    {"a constant in a buffer", [](Plan& p) { p.steps[0].inputs[1].storage = Storage::buffer; },
     "marked as constant or lies in a weight"},
    {"a weight that is no constant", [](Plan& p) { p.steps[0].inputs[1].view.constant = false; },
     "marked as constant or lies in a weight"},
    {"a buffer that is a constant", [](Plan& p) { p.steps[1].inputs[0].view.constant = true; },
     "marked as constant or lies in a weight"},
    // sizes
    {"an empty operand",
     [](Plan& p) {
       p.steps[0].inputs[0].view.shape = {0, 64};
     },
     "got f32[0,64], wanted at least one element"},
    {"an empty input that a step reads",
     [](Plan& p) {
       p.inputs[0].type.shape = {0, 64};
     },
     "an operand reaches past its 0 bytes"},
    {"an empty output that a step writes",
     [](Plan& p) {
       p.outputs[0].type.shape = {0, 64};
     },
     "wanted f32[0,64]"},
    {"an operand of rank 0", [](Plan& p) { p.steps[1].inputs[0].view.shape = p.steps[1].inputs[0].view.strides = {}; },
     "axis -1 is out of range for rank 0"},
    {"an element repeated without end",
     [](Plan& p) {
       p.steps[0].inputs[0].view.shape = {kHuge, 64};
       p.steps[0].inputs[0].view.strides = {0, 1};
     },
     "wanted at most 1099511627776 bytes"},
    {"sizes whose product overflows",
     [](Plan& p) {
       p.steps[0].inputs[0].view.shape = {kHuge, kHuge};
       p.steps[0].inputs[0].view.strides = {0, 0};
     },
     "wanted at most 1099511627776 bytes"},
    {"a type that the kernel does not take", [](Plan& p) { p.steps[1].inputs[0].view.dtype = DType::f8e4m3fn; },
     "f8e4m3fn"},
    // kernels
    {"a kernel that does not exist", [](Plan& p) { p.steps[0].choice.kernel = "linear_gone"; },
     "no kernel 'linear_gone'"},
    {"a kernel of another op", [](Plan& p) { p.steps[1].choice.kernel = p.steps[0].choice.kernel; }, "no kernel"},
    {"a kernel of another device", [](Plan& p) { p.steps[0].choice.kernel = "linear_tiled"; },
     "no kernel 'linear_tiled'"},
    {"a parameter that does not exist", [](Plan& p) { p.steps[0].choice.params["columns"] = -1; }, "columns=-1"},
    {"a missing operand", [](Plan& p) { p.steps[0].inputs.pop_back(); }, "step 0"},
    {"no threads", [](Plan& p) { p.recipe.threads = 0; }, "got 0 threads, wanted 1 to 1024"},
    // results and scratch
    {"a result of another shape",
     [](Plan& p) {
       p.steps[1].output.view.shape = {4, 65};
     },
     "not a dense"},
    {"a result with gaps",
     [](Plan& p) {
       p.steps[0].output.view.strides = {65, 1};
     },
     "not a dense"},
    {"a result in a weight", [](Plan& p) { p.steps[1].output.storage = Storage::weight; }, "not in a buffer"},
    {"a result inside a buffer", [](Plan& p) { p.steps[1].output.offset = 64; }, "not in a buffer, from the beginning"},
    {"a result larger than its buffer", [](Plan& p) { p.buffers[p.steps[1].output.index].bytes -= 64; },
     "has 960 bytes, wanted 1024"},
    {"a result over an operand", [](Plan& p) { p.steps[1].output.index = p.steps[1].inputs[0].index; },
     "in use for another value"},
    {"a result over an input",
     [](Plan& p) {
       p.steps[0].output.index = p.inputs[0].buffer;
       set_apart(p, p.inputs[0].buffer);
     },
     "in use for another value"},
    {"no scratch", [](Plan& p) { p.steps[1].scratch.reset(); }, "got no scratch"},
    {"scratch that the kernel does not want", [](Plan& p) { p.steps[1].choice.kernel = "softmax_fallback"; },
     "got some scratch, wanted 0 bytes"},
    {"no such scratch", [](Plan& p) { p.steps[1].scratch = 99; }, "buffer 99 of"},
    {"scratch too small", [](Plan& p) { p.buffers[*p.steps[1].scratch].bytes = 64; }, "has 64 bytes, wanted"},
    {"scratch over an operand", [](Plan& p) { p.steps[1].scratch = p.steps[1].inputs[0].index; },
     "in use for another value"},
    // what a buffer holds, and when
    {"an operand that comes later",
     [](Plan& p) {
       p.steps[0].inputs[0].index = p.steps[1].output.index;
       set_apart(p, p.steps[1].output.index);
     },
     "holds no value yet"},
    {"an operand in scratch",
     [](Plan& p) {
       p.steps[1].inputs[0].index = *p.steps[0].scratch;
       set_apart(p, *p.steps[0].scratch);
     },
     "holds no value yet"},
    {"a buffer that died before its use", [](Plan& p) { p.buffers[p.steps[0].output.index].last_step = 0; },
     "is not alive: it is from step 0 to 0"},
    {"dead scratch", [](Plan& p) { set_apart(p, *p.steps[1].scratch).last_step = 0; },
     "is not alive: it is from step 0 to 0"},
    {"an input that dies before the end", [](Plan& p) { p.buffers[p.inputs[0].buffer].last_step = 1; },
     "input 'x': buffer 0 is not alive"},
    {"an output that is dead at the end", [](Plan& p) { p.buffers[p.outputs[0].buffer].last_step = 1; }, "output 'y'"},
    // the arena
    {"a buffer beyond the arena", [](Plan& p) { p.buffers[0].offset = p.arena_bytes; }, "does not fit the arena"},
    {"a buffer off its alignment", [](Plan& p) { p.buffers[0].offset += 4; }, "does not fit the arena"},
    {"a buffer of no bytes", [](Plan& p) { p.buffers.push_back({}); }, "a buffer of 0 bytes"},
    {"a buffer that outlives the plan", [](Plan& p) { p.buffers[0].last_step = 99; }, "alive from step 0 to 99"},
    {"buffers that overlap", [](Plan& p) { p.buffers[p.steps[0].output.index].offset = p.buffers[0].offset; },
     "overlap"},
    {"buffers that overlap within one step, where one ends and the other begins",
     [](Plan& p) { p.buffers[*p.steps[1].scratch].offset = p.buffers[p.steps[0].output.index].offset; },
     "two buffers alive at step 1 overlap"},
    {"a buffer that reaches into one above it",
     [](Plan& p) {
       p.arena_bytes += 256;
       Buffer upper = set_apart(p, p.steps[1].output.index);
       p.buffers[p.steps[1].output.index].first_step = 1;
       p.buffers.push_back({upper.offset - 256, 512, 0, upper.last_step});
     },
     "two buffers alive at step 1 overlap"},
    {"an arena out of range", [](Plan& p) { p.arena_bytes = UINT64_MAX; }, "out of range"},
    // inputs and outputs
    {"an input without its buffer", [](Plan& p) { p.inputs[0].buffer = 99; }, "input 'x': buffer 99 of"},
    {"an input larger than its buffer",
     [](Plan& p) {
       p.inputs[0].type.shape = {400, 64};
     },
     "input 'x': buffer 0 has 1024 bytes, wanted 102400"},
    {"two inputs in one buffer",
     [](Plan& p) {
       p.inputs.push_back(p.inputs[0]);
       p.inputs[1].name = "z";
     },
     "input 'z': buffer 0 is in use"},
    {"an output larger than its buffer",
     [](Plan& p) {
       p.outputs[0].type.shape = {400, 64};
     },
     "output 'y': buffer"},
    {"an output that no step makes", [](Plan& p) { p.outputs[0].buffer = p.inputs[0].buffer; },
     "holds no step's result"},
    {"a default of another type",
     [](Plan& p) {
       p.inputs[0].value = Tensor({DType::f32, {1}});
     },
     "got a default of f32[1], wanted f32[4,64]"},
    {"a range of floats", [](Plan& p) { p.inputs[0].first = 0, p.inputs[0].last = 1; }, "wanted integers in order"},
    {"a frozen input of another's name",
     [](Plan& p) {
       p.frozen.push_back({"x", Tensor({DType::f32, {1}})});
     },
     "two inputs are named 'x'"},
    {"two outputs of one name", [](Plan& p) { p.outputs.push_back(p.outputs[0]); }, "two outputs are named 'y'"},
    {"an output of another type", [](Plan& p) { p.outputs[0].type.dtype = DType::i32; }, "output 'y': buffer"},
    {"an output smaller than its buffer",
     [](Plan& p) {
       p.outputs[0].type.shape = {3, 64};
     },
     "output 'y': buffer"},
    {"two inputs of one name",
     [](Plan& p) {
       p.buffers.push_back(p.buffers[p.inputs[0].buffer]);
       p.inputs.push_back(p.inputs[0]);
       p.inputs[1].buffer = static_cast<uint32_t>(p.buffers.size() - 1);
       set_apart(p, p.inputs[1].buffer);
     },
     "two inputs are named 'x'"},
    {"two frozen inputs of one name",
     [](Plan& p) {
       p.frozen.assign(2, {"z", Tensor({DType::f32, {1}})});
     },
     "two inputs are named 'z'"},
    {"a name of an input that C cuts", [](Plan& p) { p.inputs[0].name = std::string("x\0y", 3); }, "holds a NUL"},
    {"a name of an output that C cuts", [](Plan& p) { p.outputs[0].name = std::string("y\0", 2); }, "holds a NUL"},
    {"a name of a frozen input that C cuts",
     [](Plan& p) {
       p.frozen.push_back({std::string("\0z", 2), Tensor({DType::f32, {1}})});
     },
     "holds a NUL"},
};
// "dead scratch": DeadScratch
std::string name_of(const ::testing::TestParamInfo<Damage>& info) {
  std::string name;
  bool begins = true;
  for (const char* c = info.param.what; *c; ++c) {
    const bool letter = std::isalnum(static_cast<unsigned char>(*c));
    if (letter) name += static_cast<char>(begins ? std::toupper(*c) : *c);
    begins = !letter;
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(, DamagedPlan, ::testing::ValuesIn(kDamages), name_of);

TEST(CheckPlan, AcceptsRangesOfIntegersAndBools) {
  Plan plan = plan_of("y = select(keep:bool[4], a:i32[4], b:i32[4])");
  for (PlanInput& input : plan.inputs) input.first = 0, input.last = 1;
  EXPECT_EQ(error_of(plan), "");
}

TEST(CheckPlan, RefusesRangesThatHoldNothing) {
  for (auto [first, last] :
       {std::pair<int64_t, int64_t>{0, -1}, {5, 4}, {INT64_MIN, INT64_MAX}, {0, INT64_MAX}, {INT64_MIN, 4}}) {
    Plan plan = plan_of_ids();
    plan.inputs[0].first = first, plan.inputs[0].last = last;
    EXPECT_THAT(error_of(plan), HasSubstr("wanted integers in order")) << first << " to " << last;
  }
  Plan plan = plan_of_ids();
  plan.inputs[0].first.reset();
  EXPECT_THAT(error_of(plan), HasSubstr("got a range from 0 to 4")) << "half of one means what a whole one says";
  plan.inputs[0].last.reset();
  EXPECT_EQ(error_of(plan), "");
}

// Integers that every reader holds exactly, and no further.
TEST(CheckPlan, AcceptsRangesUpToADoublesExactIntegers) {
  constexpr int64_t kMost = int64_t{1} << 53;
  for (auto [first, last, sound] : {std::tuple<int64_t, int64_t, bool>{-kMost, kMost, true},
                                    {4, 4, true},
                                    {0, kMost + 1, false},
                                    {-kMost - 1, 0, false}}) {
    Plan plan = plan_of_ids();
    plan.inputs[0].first = first, plan.inputs[0].last = last;
    EXPECT_EQ(error_of(plan).empty(), sound) << first << " to " << last;
  }
}

// A weight that is no kernel's own layout is read where it stands.
TEST(CheckPlan, KeepsReadersOfPlainWeightsWithinThem) {
  const auto damaged = [](void (*make)(Plan&)) {
    Plan plan = plan_of_ids();
    EXPECT_EQ(plan.weights.at(0).bytes, 5u * 8 * 4);
    make(plan);
    return error_of(plan);
  };
  EXPECT_THAT(damaged([](Plan& p) { p.weights[0].bytes -= 1; }), HasSubstr("reaches past its 159 bytes"));
  EXPECT_THAT(damaged([](Plan& p) { p.steps[0].inputs[0].offset = 4; }), HasSubstr("reaches past its 160 bytes"));
  EXPECT_THAT(damaged([](Plan& p) { p.steps[0].inputs[0].offset = UINT64_MAX; }), HasSubstr("reaches past"));
  EXPECT_THAT(damaged([](Plan& p) { p.weights[0].bytes += 2, p.steps[0].inputs[0].offset = 2; }),
              HasSubstr("begins at byte 2"));
}

// Its further results are no part of what it is.
TEST(CheckPlan, RefusesOneOfSeveralResultsAsAnOutput) {
  Plan plan = plan_of("v = top_k(x:f32[2,9], k=3)\nreturn y=exp(v)");
  ASSERT_EQ(error_of(plan), "");
  const uint32_t results = plan.steps[0].output.index;
  set_apart(plan, results);
  plan.outputs[0].buffer = results;
  EXPECT_THAT(error_of(plan), HasSubstr("output 'y': buffer"));
}

TEST(CheckPlan, RefusesWeightsReadAsBoolThatHoldMore) {
  Plan plan = plan_of("k: bool[1,3] = constant(values=[1,0,1])\ny = select(k, a:f32[2,3], b:f32[2,3])");
  ASSERT_EQ(error_of(plan), "");
  ASSERT_EQ(plan.weights[0].bytes, 3u);
  auto three = std::make_shared<Tensor>(Tensor::of<uint8_t>({3}, {1, 0, 2}));
  plan.weights[0].data = {three, three->data()};
  EXPECT_THAT(error_of(plan), HasSubstr("holds more than 0 and 1"));
}

TEST(CheckPlan, RefusesAStepThatWouldNeverEnd) {
  Plan plan = plan_of("y = matmul(a:f32[1,8], b:f32[8,1])");
  constexpr int64_t kDepth = int64_t{1} << 37;
  for (size_t i = 0; i < 2; ++i) {
    Operand& operand = plan.steps[0].inputs[i].view;
    operand.shape[i == 0 ? 1 : 0] = kDepth;
    operand.strides = {0, 0};
  }
  EXPECT_EQ(error_of(plan).find("operations"), std::string::npos) << "2^38 of them end";
  Plan wide = plan_of("y = matmul(a:f32[4096,8], b:f32[8,4096])");
  for (size_t i = 0; i < 2; ++i) {
    Operand& operand = wide.steps[0].inputs[i].view;
    operand.shape[i == 0 ? 1 : 0] = int64_t{1} << 26;
    operand.strides = {0, 0};
  }
  EXPECT_THAT(error_of(wide), HasSubstr("got 2251799813685248 operations, wanted at most"));
}

TEST(CheckPlan, TakesManyBuffersInLittleTime) {
  Plan plan = sound_plan();
  const auto last = static_cast<uint32_t>(plan.steps.size());
  for (int i = 0; i < 400'000; ++i, plan.arena_bytes += 64) {
    plan.arena_bytes = (plan.arena_bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    plan.buffers.push_back({plan.arena_bytes, 64, 0, last});
  }
  double seconds = seconds_of([&] { EXPECT_EQ(error_of(plan), ""); });
  EXPECT_LT(seconds, 10) << "each compared with each takes minutes";
}

}  // namespace
}  // namespace rung
