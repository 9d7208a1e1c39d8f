// A control loop: at a steady rate, observations that lie in host memory become actions in host memory. Prints what a
// step costs, copies included, beside the replay alone: control_loop PLAN [RATE_HZ [STEPS]]; a rate of 0 waits for
// none.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <rung/rung.hpp>
#include <thread>

namespace {

using namespace rung::api;
using Clock = std::chrono::steady_clock;

// What a camera or a sensor left in host memory, and where the plan reads it.
struct Observation {
  std::vector<std::byte> arrived;
  Memory input;
};

// Random pixels in [-1, 1] for f32, masks that hide nothing, and zeros, which are a token in every vocabulary.
std::vector<std::byte> sample(const Port& port, std::mt19937& random) {
  std::vector<std::byte> bytes(port.bytes, std::byte{port.dtype == DType::boolean});
  if (port.dtype != DType::f32) return bytes;
  std::uniform_real_distribution<float> value(-1, 1);
  for (size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
    const float pixel = value(random);
    std::memcpy(&bytes[i], &pixel, sizeof pixel);
  }
  return bytes;
}

Result<std::vector<Observation>> observe(Session& session) {
  std::mt19937 random(1);
  std::vector<Observation> all;
  for (const Port& port : session.model().inputs()) {
    if (!port.required) continue;
    Result<Memory> input = session.input(port.name);
    if (!input) return input.error();
    all.push_back({sample(port, random), *input});
  }
  return all;
}

// One step: from observations in host memory to actions in host memory.
Status step(Session& session, const std::vector<Observation>& observations) {
  for (const Observation& seen : observations) std::memcpy(seen.input.data, seen.arrived.data(), seen.arrived.size());
  return session.run();
}

template <class Work>
Result<double> ms_of(const Work& work) {
  const auto began = Clock::now();
  if (Status status = work(); !status) return status;
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

void print(const char* what, std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  const auto at = [&](double share) { return ms[static_cast<size_t>(share * static_cast<double>(ms.size() - 1))]; };
  std::printf("%-22s p50 %8.3f ms   p99 %8.3f   p99.9 %8.3f   worst %8.3f\n", what, at(0.5), at(0.99), at(0.999),
              ms.back());
}

// A session whose inputs, of the same values, stay on the device: a run of it copies nothing.
Result<Session> replaying(const Model& model, const std::vector<Observation>& observations) {
  Result<Session> session = model.session();
  if (!session) return session;
  for (const Observation& seen : observations) {
    Result<Memory> input = session->input(seen.input.port.name);
    if (!input) return input.error();
    std::memcpy(input->data, seen.arrived.data(), seen.arrived.size());
  }
  if (Status status = session->run(); !status) return status;
  for (const Observation& seen : observations)
    if (auto input = session->input(seen.input.port.name, Place::device); !input) return input.error();
  return session;
}

// Steps and replays in turn, so that both see the same machine.
Status loop(const Model& model, double rate_hz, int steps) {
  Result<Session> session = model.session();
  if (!session) return session.error();
  Result<std::vector<Observation>> observations = observe(*session);
  if (!observations) return observations.error();
  for (const Port& port : model.outputs())
    if (auto output = session->output(port.name); !output) return output.error();
  Result<Session> replay = replaying(model, *observations);
  if (!replay) return replay.error();
  std::vector<double> step_ms, replay_ms;
  auto next = Clock::now();
  for (int i = 0; i < steps; ++i) {
    Result<double> ms = ms_of([&] { return step(*session, *observations); });
    if (!ms) return ms.error();
    step_ms.push_back(*ms);
    ms = ms_of([&] { return replay->run(); });
    if (!ms) return ms.error();
    replay_ms.push_back(*ms);
    if (rate_hz <= 0) continue;
    next += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / rate_hz));
    std::this_thread::sleep_until(next);
  }
  print("step, copies included", std::move(step_ms));
  print("replay alone", std::move(replay_ms));
  return {};
}

int fail(const Status& status) {
  std::fprintf(stderr, "control_loop: %s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  const double rate_hz = count > 2 ? std::atof(arguments[2]) : 20;
  const int steps = count > 3 ? std::atoi(arguments[3]) : 200;
  if (count < 2 || count > 4 || steps < 1) return fail({Kind::usage, "wanted PLAN [RATE_HZ [STEPS]]"});
  Result<Model> model = Model::open(arguments[1]);
  if (!model) return fail(model.error());
  if (Status status = loop(*model, rate_hz, steps); !status) return fail(status);
}
