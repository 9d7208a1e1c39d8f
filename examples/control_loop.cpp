// A control loop: at a steady rate, observations that lie in host memory become actions in host memory. Prints what a
// step costs, copies included, where they arrive in any memory and where they arrive in the session's own, beside the
// replay alone: control_loop PLAN [RATE_HZ [STEPS]]; a rate of 0 waits for none.
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

// What a camera or a sensor left in host memory, and the input that reads it.
struct Observation {
  Port port;
  std::vector<std::byte> arrived;
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

std::vector<Observation> observe(const Model& model) {
  std::mt19937 random(1);
  std::vector<Observation> all;
  for (const Port& port : model.inputs())
    if (port.required) all.push_back({port, sample(port, random)});
  return all;
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

// Outputs in the session's own memory, from where the arm reads.
Result<Session> acting(const Model& model) {
  Result<Session> session = model.session();
  if (!session) return session;
  for (const Port& port : model.outputs())
    if (auto output = session->output(port.name); !output) return output.error();
  return session;
}

// A session that reads observations where they arrived.
Result<Session> reading(const Model& model, std::vector<Observation>& observations) {
  Result<Session> session = acting(model);
  if (!session) return session;
  for (auto& [port, arrived] : observations) {
    const rung_tensor there{arrived.data(),
                            {RUNG_CPU, 0},
                            static_cast<int32_t>(port.shape.size()),
                            to_c(port.dtype),
                            port.shape.data(),
                            nullptr,
                            0};
    if (Status status = session->bind_input(port.name, there); !status) return status;
  }
  return session;
}

// A session in whose own memory they arrive.
Result<Session> receiving(const Model& model, const std::vector<Observation>& observations) {
  Result<Session> session = acting(model);
  if (!session) return session;
  for (const Observation& seen : observations) {
    Result<Memory> input = session->input(seen.port.name);
    if (!input) return input.error();
    std::memcpy(input->data, seen.arrived.data(), seen.arrived.size());
  }
  return session;
}

// A session whose inputs, of the same values, stay on the device, and its outputs: a run of it copies nothing.
Result<Session> replaying(const Model& model, const std::vector<Observation>& observations) {
  Result<Session> session = receiving(model, observations);
  if (!session) return session;
  if (Status status = session->run(); !status) return status;
  for (const Observation& seen : observations)
    if (auto input = session->input(seen.port.name, Place::device); !input) return input.error();
  for (const Port& port : model.outputs())
    if (auto output = session->output(port.name, Place::device); !output) return output.error();
  return session;
}

// What is measured, and its milliseconds so far.
struct Contestant {
  const char* name;
  Session session;
  std::vector<double> ms = {};
};

// Each of them once: what begins after a wait finds the machine colder than what follows another run, so that each
// waits for its turn.
Status take_turns(std::vector<Contestant>& contestants, Clock::duration period, Clock::time_point& turn) {
  for (auto& [name, session, all] : contestants) {
    const Result<double> ms = ms_of([&session = session] { return session.run(); });
    if (!ms) return ms.error();
    all.push_back(*ms);
    turn += period;
    if (period.count() > 0) std::this_thread::sleep_until(turn);
  }
  return {};
}

Status loop(const Model& model, double rate_hz, int steps) {
  std::vector<Observation> observations = observe(model);
  Result<Session> arriving = reading(model, observations), own = receiving(model, observations),
                  replay = replaying(model, observations);
  std::vector<Contestant> contestants;
  for (auto& [name, session] : {std::pair{"step, copies included", &arriving}, std::pair{"step, from own memory", &own},
                                std::pair{"replay alone", &replay}}) {
    if (!*session) return session->error();
    contestants.push_back({name, std::move(**session)});
  }
  const auto period = std::chrono::duration<double>(rate_hz > 0 ? 1 / rate_hz : 0);
  auto turn = Clock::now();
  for (int i = 0; i < steps; ++i)
    if (Status status = take_turns(contestants, std::chrono::duration_cast<Clock::duration>(period), turn); !status)
      return status;
  for (auto& [name, session, all] : contestants) print(name, std::move(all));
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
