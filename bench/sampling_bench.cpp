// Times sampling, greedy and with filters, beside the time that reading the logits once takes. sampling_bench [THREADS]
// [FILTER]: the processor's rows; sampling_bench DEVICE: those of a GPU, such as cuda or hip:1.
// SPDX-License-Identifier: Apache-2.0
// Logits are normal, with a deviation of 2.5 and one in a thousand larger by 8, so that top_p 0.9 leaves some hundred
// of them: about what a language model's have.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device/gpu/current_context.hpp"
#include "device/gpu/peaks.hpp"
#include "device/gpu/timed_graph.hpp"
#include "gpu_rows.hpp"
#include "ir/sampling.hpp"
#include "kernels/cpu/bind.hpp"
#include "kernels/device_word.hpp"
#include "kernels/gpu/kernel.hpp"
#include "kernels/target.hpp"

namespace rung {
namespace {

struct Filters {
  const char* name;
  sampling::Settings settings;
};
constexpr Filters kFilters[] = {{"greedy", {.temperature = 0}},
                                {"all tokens", {}},
                                {"top_k 50", {.top_k = 50}},
                                {"top_p 0.9", {.top_p = 0.9f}},
                                {"top_k 50, top_p 0.9", {.temperature = 0.8f, .top_k = 50, .top_p = 0.9f}},
                                {"flat, top_p 0.9", {.temperature = 30, .top_p = 0.9f}}};
constexpr int64_t kVocabularies[] = {128'256, 151'936, 262'144};

// Contents of the operands logits, settings and draw.
struct Operands {
  std::vector<float> logits;
  sampling::Settings settings;
  int64_t draw[2] = {1, 2};

  explicit Operands(int64_t tokens) {
    for (int64_t i = 0; i < tokens; ++i)
      logits.push_back(2.5f * random_normal(1, static_cast<uint64_t>(i)) + (i % 1000 == 17 ? 11.0f : 0.0f));
  }
  std::vector<std::pair<const void*, size_t>> bytes() const {
    return {{logits.data(), logits.size() * sizeof(float)}, {&settings, sizeof settings}, {draw, sizeof draw}};
  }
};

Result<Problem> problem_of(int64_t tokens, int threads) {
  RUNG_TRY(BenchProblem read, read_problem(fmt::format("y = sample(x:f32[{}], s:f32[8], d:i64[2])", tokens), threads));
  return read.problem;
}

double median_of(std::vector<double> times) {
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

// `floor_us`: the time that reading the logits takes.
void print(std::string_view row, int64_t tokens, const char* filters, double us, double floor_us) {
  std::printf("  %-16s %7lld %-20s %9.2f us, floor %7.2f\n", std::string(row).c_str(), static_cast<long long>(tokens),
              filters, us, floor_us);
}

// Returns the median of calls, in microseconds.
template <class Call>
double time_us(const Call& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> us;
  for (int i = 0; i < 201; ++i) {
    const auto start = Clock::now();
    call();
    us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return median_of(us);
}

// Returns the time of one thread that reads the logits, where the calls before have left them.
double reading_us(const std::vector<float>& logits) {
  [[maybe_unused]] static volatile uint64_t folded;
  return time_us([&] {
    uint64_t words = 0, word = 0;
    for (size_t i = 0; i + 2 <= logits.size(); i += 2) std::memcpy(&word, &logits[i], sizeof word), words ^= word;
    folded = words;
  });
}

Status time_row(const Kernel& row, const Problem& problem, Operands& operands, cpu::Team& team) {
  const double floor_us = reading_us(operands.logits);
  for (const auto& [name, settings] : kFilters) {
    operands.settings = settings;
    int64_t token = 0;
    const auto bound = cpu::bind(row, problem, {operands.logits.data(), &operands.settings, operands.draw}, &token);
    std::atomic<Fault> fault{Fault::none};
    const double us = time_us([&] { bound.run(team, &fault), ++operands.draw[1]; });
    if (fault != Fault::none) return fail("{} has nothing to draw", row.name);
    print(row.name, static_cast<int64_t>(operands.logits.size()), name, us, floor_us);
  }
  return {};
}

Status time_cpu(int threads, const std::string& filter) {
  cpu::Team team(threads);
  std::printf("%s, %d threads\n", cpu::cpu_info().name.c_str(), threads);
  for (int64_t tokens : kVocabularies) {
    RUNG_TRY(const Problem problem, problem_of(tokens, threads));
    Operands operands(tokens);
    for (const Kernel* row : cpu_target().kernels_for("sample"))
      if (row->role == Role::fast && row->supports(problem, cpu::cpu_info()) &&
          row->name.find(filter) != std::string_view::npos)
        RUNG_CHECK(time_row(*row, problem, operands, team));
  }
  return {};
}

// The memory of a call on a GPU.
struct DeviceOperands {
  std::vector<std::shared_ptr<gpu::Block>> blocks;
  std::vector<gpu::Address> inputs;
  gpu::Address output = 0, scratch = 0, fault = 0;

  Result<gpu::Address> allocate(gpu::Gpu& gpu, size_t bytes) {
    RUNG_TRY(blocks.emplace_back(), gpu.allocate(bytes));
    return blocks.back()->address();
  }
  Status make(gpu::Gpu& gpu, const Operands& operands, size_t scratch_bytes) {
    for (const auto& [data, bytes] : operands.bytes()) {
      RUNG_TRY(inputs.emplace_back(), allocate(gpu, bytes));
    }
    RUNG_TRY(output, allocate(gpu, sizeof(int64_t)));
    RUNG_TRY(scratch, allocate(gpu, scratch_bytes));
    RUNG_TRY(fault, allocate(gpu, sizeof(Fault)));
    return {};
  }
  Status upload(gpu::Queue& queue, const Operands& operands) const {
    const auto contents = operands.bytes();
    for (size_t i = 0; i < contents.size(); ++i)
      RUNG_CHECK(queue.upload(inputs[i], contents[i].first, contents[i].second));
    RUNG_CHECK(queue.fill(fault, 0, sizeof(Fault)));
    return queue.wait();
  }
};

// Returns the median of replays of 32 draws in one graph, for one draw.
Result<double> time_on(gpu::Queue& queue, const gpu::Call& call, const Kernel& row) {
  constexpr int kDraws = 32, kReplays = 51;
  const auto draws = [&]() -> Status {
    for (int i = 0; i < kDraws; ++i) RUNG_CHECK(gpu::enqueue(row, call));
    return {};
  };
  RUNG_CHECK(draws());
  RUNG_CHECK(queue.wait());
  RUNG_TRY(auto graph, gpu::TimedGraph::record(queue, draws));
  std::vector<double> us;
  for (int i = 0; i < kReplays; ++i) {
    RUNG_CHECK(graph->replay());
    us.push_back(graph->ms() * 1e3 / kDraws);
  }
  return median_of(us);
}

Status time_gpu(const DeviceWord& word) {
  RUNG_TRY(const Target* target, open_target(word));
  RUNG_TRY(const gpu::GpuPeaks peaks, gpu::measure_peaks(*target->gpu, target->machine.gpu.preferred_library()));
  std::printf("%s, copies %.0f GB/s\n", target->fingerprint.c_str(), peaks.read_gbps);
  RUNG_TRY(const auto queue, gpu::Queue::make(*target->gpu));
  const gpu::CurrentContext current(*target->gpu);
  for (int64_t tokens : kVocabularies) {
    RUNG_TRY(const Problem problem, problem_of(tokens, 0));
    Operands operands(tokens);
    for (const Kernel* row : target->kernels_for("sample")) {
      DeviceOperands memory;
      RUNG_CHECK(memory.make(*target->gpu, operands, row->scratch_for(problem, target->machine)));
      for (const auto& [name, settings] : kFilters) {
        operands.settings = settings;
        RUNG_CHECK(memory.upload(*queue, operands));
        const gpu::Call call{problem, memory.inputs.data(), memory.output, memory.scratch,
                             nullptr, memory.fault,         *queue};
        RUNG_TRY(const double us, time_on(*queue, call, *row));
        Fault fault{};
        RUNG_CHECK(queue->download(&fault, memory.fault, sizeof fault));
        if (fault != Fault::none) return fail("{} has nothing to draw", row->name);
        print(row->name, tokens, name, us, static_cast<double>(tokens * sizeof(float)) / peaks.read_gbps * 1e-3);
      }
    }
  }
  return {};
}

}  // namespace
}  // namespace rung

int main(int argc, char** argv) {
  using namespace rung;
  const std::string where = argc > 1 ? argv[1] : "";
  const auto device = parse_device(where);
  const bool is_gpu = device && device->kind != "cpu";
  const int threads = argc > 1 && !is_gpu ? std::max(1, std::atoi(argv[1])) : cpu::cpu_info().cores;
  const Status timed = is_gpu ? time_gpu(*device) : time_cpu(threads, argc > 2 ? argv[2] : "");
  if (!timed) std::fprintf(stderr, "%s\n", timed.error().message.c_str());
  return timed ? 0 : 1;
}
