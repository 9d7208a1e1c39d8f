// GPU recorders: a plan bound to device addresses, launched one by one or as a graph recorded once.
// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <map>

#include "device/gpu/current_context.hpp"
#include "device/gpu/timed_graph.hpp"
#include "kernels/gpu/kernel.hpp"
#include "measure/statistics.hpp"
#include "session/capture_doctor.hpp"
#include "session/gpu_weights.hpp"
#include "session/recorder.hpp"

namespace rung {
namespace {

// A launch with all it needs at addresses that do not move.
struct BoundStep {
  const Kernel* kernel = nullptr;
  Problem problem;
  std::vector<gpu::Address> inputs;
  gpu::Address output = 0, scratch = 0, fault = 0;
  std::shared_ptr<void> state;
};

// Has a queue of its own, so that several run at once; each public function makes the device's context current for what
// it launches, on whichever thread it is called.
class GpuRecorder : public Recorder {
 public:
  GpuRecorder(const Plan& plan, bool stepwise)
      : plan_(plan), gpu_(*plan.target->gpu), runtime_(gpu_.runtime()), stepwise_(stepwise) {}
  ~GpuRecorder() override {
    const gpu::CurrentContext current(gpu_);
    if (queue_) (void)queue_->wait();
    for (gpu::Event event : {start_, end_})
      if (event) runtime_.event_destroy(event);
  }

  Status bind() {
    const gpu::CurrentContext current(gpu_);
    RUNG_TRY(queue_, gpu::Queue::make(gpu_));
    size_t fault_bytes = plan_.steps.size() * sizeof(Fault);
    RUNG_TRY(weights_, upload_weights(plan_, plan_.arena_bytes + fault_bytes));
    RUNG_TRY(arena_, gpu_.allocate(plan_.arena_bytes));
    RUNG_TRY(faults_, gpu_.allocate(fault_bytes));
    RUNG_CHECK(queue_->fill(arena_->address(), 0, plan_.arena_bytes));
    RUNG_CHECK(queue_->fill(faults_->address(), 0, fault_bytes));
    RUNG_CHECK(check(runtime_.event_create(&start_)));
    RUNG_CHECK(check(runtime_.event_create(&end_)));
    for (const Step& step : plan_.steps) bind_step(step);
    return {};
  }

  Status capture() {
    const gpu::CurrentContext current(gpu_);
    CaptureDoctor doctor(*queue_, plan_);
    RUNG_CHECK(doctor.examine([this](size_t index) { return enqueue(index); }));
    RUNG_TRY(graph_, gpu::TimedGraph::record(*queue_, [this] { return enqueue_all(); }));
    notes_ = doctor.notes();
    notes_.push_back(fmt::format("the whole run is one graph of {} nodes; the host copies inputs and outputs{}",
                                 graph_->nodes(), may_fault_ ? ", and looks for faults after each run" : ""));
    return {};
  }

  Status run() override {
    const gpu::CurrentContext current(gpu_);
    RUNG_CHECK(graph_ ? graph_->replay() : run_eagerly());
    return may_fault_ ? check_faults() : Status{};
  }

  Status write(uint32_t index, const void* from, size_t bytes) override {
    return queue_->upload(buffer(index), from, bytes);
  }
  Status read(uint32_t index, void* to, size_t bytes) const override {
    return queue_->download(to, buffer(index), bytes);
  }

  Status run_step(size_t index) override {
    const gpu::CurrentContext current(gpu_);
    RUNG_CHECK(enqueue(index));
    return queue_->wait();
  }

  std::vector<std::string> capture_notes() const override { return notes_; }

  Result<std::vector<double>> step_us() override {
    constexpr size_t kLaunches = 40;  // in one graph, at least
    std::map<std::string, std::vector<size_t>> groups;
    for (size_t i = 0; i < bound_.size(); ++i)
      groups[plan_.steps[i].choice.kernel + ' ' + plan_.steps[i].problem].push_back(i);
    std::vector<double> us(bound_.size());
    for (const auto& [problem, steps] : groups) {
      size_t rounds = (kLaunches + steps.size() - 1) / steps.size();
      RUNG_TRY(double all, time_rounds(steps, rounds));
      double each = all / static_cast<double>(rounds * steps.size());
      for (size_t i : steps) us[i] = each;
    }
    return us;
  }

  Result<std::optional<double>> together_us(std::span<const size_t> steps) override {
    RUNG_TRY(double us, time_rounds(steps, 1));
    return std::optional(us);
  }

  std::optional<double> device_ms() const override {
    if (graph_) return graph_->ms();
    const gpu::CurrentContext current(gpu_);
    float ms = 0;
    if (runtime_.event_elapsed_ms(&ms, start_, end_) != 0) return std::nullopt;
    return ms;
  }

 private:
  gpu::Address buffer(uint32_t index) const { return arena_->address() + plan_.buffers[index].offset; }
  Status check(int code) const { return gpu_.check(code, "plan"); }

  gpu::Address address(const PlanOperand& operand) const {
    gpu::Address base = operand.region == Region::weight ? weights_[operand.index]->address() : buffer(operand.index);
    return base + operand.offset;
  }

  void bind_step(const Step& step) {
    BoundStep& bound = bound_.emplace_back();
    bound.kernel = plan_.target->kernel_named(step.choice.kernel);
    bound.problem = problem_of(step, plan_.recipe.threads);
    for (const auto& input : step.inputs) bound.inputs.push_back(address(input));
    bound.output = buffer(step.output.index);
    if (step.scratch) bound.scratch = buffer(*step.scratch);
    bound.fault = faults_->address() + (bound_.size() - 1) * sizeof(Fault);
    bound.state = bound.kernel->state_for(bound.problem, plan_.target->machine);
    may_fault_ = may_fault_ || fault_of(bound.problem) != Fault::none;
  }

  Status enqueue(size_t index) {
    const BoundStep& bound = bound_[index];
    Status done = gpu::enqueue(*bound.kernel, {bound.problem, bound.inputs.data(), bound.output, bound.scratch,
                                               bound.state.get(), bound.fault, *queue_});
    bool earlier = device_failed(done) && !stepwise_;  // told late, by whoever comes next
    return named(index, std::move(done), earlier ? "at or before " : "");
  }

  // An error with the op of that launch in front.
  Status named(size_t index, Status done, std::string_view where = "") const {
    const Step& step = plan_.steps[index];
    if (!done)
      done.error().message = fmt::format("{}{} ({}) on {}: {}", where, step.label, name_of(step.op), step.choice.kernel,
                                         done.error().message);
    return done;
  }

  // Microseconds of a graph of these steps, `rounds` times.
  Result<double> time_rounds(std::span<const size_t> steps, size_t rounds) {
    constexpr int kReplays = 5;
    RUNG_TRY(auto graph, gpu::TimedGraph::record(*queue_, [&]() -> Status {
               for (size_t round = 0; round < rounds; ++round)
                 for (size_t i : steps) RUNG_CHECK(enqueue(i));
               return {};
             }));
    std::vector<double> us;
    for (int i = 0; i < kReplays; ++i) {
      RUNG_CHECK(graph->replay());
      us.push_back(graph->ms() * 1e3);
    }
    return median(std::move(us));
  }

  Status run_eagerly() {
    RUNG_CHECK(check(runtime_.event_record(start_, queue_->stream())));
    RUNG_CHECK(stepwise_ ? step_through() : enqueue_all());
    RUNG_CHECK(check(runtime_.event_record(end_, queue_->stream())));
    return queue_->wait();
  }

  Status enqueue_all() {
    for (size_t i = 0; i < bound_.size(); ++i) RUNG_CHECK(enqueue(i));
    return {};
  }

  // Waits for every launch before the next: a fault of the device is that of the launch before the wait.
  Status step_through() {
    for (size_t i = 0; i < bound_.size(); ++i) {
      Status done = enqueue(i);
      if (done) done = named(i, queue_->wait());
      if (device_failed(done))
        done.error().message =
            fmt::format("device fault in op {} of {}: {}", i + 1, bound_.size(), done.error().message);
      RUNG_CHECK(std::move(done));
    }
    return {};
  }

  Status check_faults() {
    std::vector<Fault> faults(bound_.size());
    RUNG_CHECK(queue_->download(faults.data(), faults_->address(), faults_->bytes()));
    Status status;
    for (size_t i = 0; i < faults.size() && status; ++i) status = check_fault(faults[i], plan_.steps[i]);
    if (!status) RUNG_CHECK(queue_->fill(faults_->address(), 0, faults_->bytes()));
    return status;
  }

  const Plan& plan_;
  gpu::Gpu& gpu_;
  const gpu::Runtime& runtime_;
  bool stepwise_;
  std::unique_ptr<gpu::Queue> queue_;
  std::vector<std::shared_ptr<gpu::Block>> weights_;
  std::shared_ptr<gpu::Block> arena_, faults_;
  std::deque<BoundStep> bound_;
  bool may_fault_ = false;  // some op checks its operands' values
  gpu::Event start_ = nullptr, end_ = nullptr;
  std::unique_ptr<gpu::TimedGraph> graph_;  // of all launches; null: eager
  std::vector<std::string> notes_;
};

}  // namespace

Result<std::unique_ptr<Recorder>> make_gpu_recorder(const Plan& plan, bool stepwise) {
  auto recorder = std::make_unique<GpuRecorder>(plan, stepwise);
  RUNG_CHECK(recorder->bind());
  if (plan.recipe.capture && !stepwise) RUNG_CHECK(recorder->capture());
  return recorder;
}

}  // namespace rung
