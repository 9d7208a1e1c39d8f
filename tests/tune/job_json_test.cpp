// Tuning jobs as lines: what is written is read back, and what is no job is refused.
// SPDX-License-Identifier: Apache-2.0
#include "tune/job_json.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "ir/text.hpp"
#include "support/device.hpp"
#include "tune/gpu_worker.hpp"

namespace rung {
namespace {

using ::testing::HasSubstr;

Operand operand(Shape shape, bool constant) { return {DType::f32, shape, contiguous_strides(shape), constant}; }

TrialJob job() {
  Problem problem{.op = Linear{.slots = {LinearSlot::bias}, .epilogue = {.activation = Activation::relu}},
                  .inputs = {operand({3, 8}, false), operand({16, 8}, true), operand({16}, true)},
                  .output = operand({3, 16}, false),
                  .threads = 2};
  problem.inputs[0].strides = {24, 1};
  TrialJob made{device_named("cuda:0"), problem, candidates_for(cpu_target(), problem).list, {1, 0}, 0, 1 << 20, 0.5};
  made.candidates[1].params["tile"] = 7;
  return made;
}

TEST(TrialJobLine, IsReadBackAsItWasWritten) {
  TrialJob written = job();
  std::string line = job_to_line(written);
  EXPECT_EQ(line.find('\n'), line.npos);
  auto device = device_of_line(line);
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ(*device, device_named("cuda:0"));
  auto read = job_from_line(line, cpu_target());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(print_op(read->problem.op), print_op(written.problem.op));
  EXPECT_EQ(read->problem.threads, 2);
  ASSERT_EQ(read->problem.inputs.size(), 3u);
  EXPECT_EQ(read->problem.inputs[0].strides, written.problem.inputs[0].strides);
  EXPECT_TRUE(read->problem.inputs[1].constant);
  ASSERT_EQ(read->candidates.size(), written.candidates.size());
  EXPECT_EQ(read->candidates[1].kernel, written.candidates[1].kernel);
  EXPECT_EQ(read->candidates[1].params, written.candidates[1].params);
  EXPECT_EQ(read->indices, written.indices);
  EXPECT_EQ(read->working_set_bytes, written.working_set_bytes);
  EXPECT_EQ(job_to_line(*read), line);
}

TEST(TrialJobLine, RefusesWhatIsNoJob) {
  std::string line = job_to_line(job());
  auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = line;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& bad :
       {std::string("{}"), std::string("nonsense"), line.substr(0, line.size() / 2),
        replaced("\"linear_", "\"no_such_"), replaced("\"indices\":[1,0]", "\"indices\":[999]"),
        replaced("\"yardstick\":0", "\"yardstick\":-1"), replaced("\"f32\"", "\"f33\"")}) {
    auto read = job_from_line(bad, cpu_target());
    ASSERT_FALSE(read) << bad;
    EXPECT_THAT(read.error().message, HasSubstr("tuning job: "));
  }
}

TEST(TrialServer, RefusesAJobForTheProcessor) {
  TrialJob wrong = job();
  wrong.device = device_named("cpu");
  std::array<int, 2> in{}, out{};
  ASSERT_EQ(pipe(in.data()) | pipe(out.data()), 0);
  std::string line = job_to_line(wrong) + "\n";
  ASSERT_EQ(write(in[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
  close(in[1]);
  Status served = serve_trials(in[0], out[1]);
  close(out[0]), close(out[1]);
  ASSERT_FALSE(served);
  EXPECT_THAT(served.error().message, HasSubstr("a worker program is for GPUs"));
}

}  // namespace
}  // namespace rung
