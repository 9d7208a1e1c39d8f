// GPU recorders: bind a plan to device addresses, and launch it step by step or as a graph recorded once.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/divide.hpp"
#include "base/words.hpp"
#include "device/gpu/current_context.hpp"
#include "device/gpu/mark.hpp"
#include "device/gpu/timed_graph.hpp"
#include "kernels/gpu/kernel.hpp"
#include "measure/statistics.hpp"
#include "plan/code.hpp"
#include "plan/joined.hpp"
#include "session/capture_doctor.hpp"
#include "session/fault_flags.hpp"
#include "session/gpu_copies.hpp"
#include "session/gpu_weights.hpp"
#include "session/recorder.hpp"
#include "session/small_states.hpp"
#include "session/states.hpp"

namespace rung {
namespace {

// A launch and all its data, at addresses that do not move.
struct BoundStep {
  const Kernel* kernel = nullptr;
  Problem problem;
  std::vector<gpu::Address> inputs;
  gpu::Address output = 0, scratch = 0, fault = 0;
  std::shared_ptr<void> state;
  size_t joined = 1;          // steps that the launch of this one does, itself and those after it
  gpu::Address barriers = 0;  // of that launch
};

// Each recorder has its own queue, so that several can run at once. Each public function makes the device's context
// current for its launches, on whichever thread it is called.
class GpuRecorder : public Recorder {
 public:
  GpuRecorder(const Plan& plan, const States& states, bool stepwise, std::map<uint32_t, gpu::Address> ports)
      : plan_(plan),
        states_(states),
        ports_(std::move(ports)),
        gpu_(*plan.target->gpu),
        runtime_(gpu_.runtime()),
        stepwise_(stepwise),
        counts_(plan.target->machine.gpu.counts_instructions) {}
  ~GpuRecorder() override {
    const gpu::CurrentContext current(gpu_);
    (void)finish();
    if (queue_) (void)queue_->wait();
    for (gpu::Event event : {start_, end_})
      if (event) runtime_.event_destroy(event);
  }

  Status bind() {
    const gpu::CurrentContext current(gpu_);
    RUNG_TRY(queue_, gpu::Queue::make(gpu_));
    RUNG_TRY(weights_, upload_weights(plan_, plan_.arena_bytes + plan_.steps.size() * sizeof(Fault)));
    RUNG_TRY(arena_, gpu_.allocate(plan_.arena_bytes));
    RUNG_TRY(faults_, FaultFlags::make(*queue_, plan_));
    RUNG_TRY(copies_, GpuCopies::make(gpu_, plan_, arena_->address()));
    RUNG_CHECK(clear_arena());
    RUNG_CHECK(check(runtime_.event_create(&start_)));
    RUNG_CHECK(check(runtime_.event_create(&end_)));
    RUNG_TRY(copied_in_, gpu::Mark::make(gpu_));
    RUNG_TRY(done_, gpu::Mark::make(gpu_));
    compile_code(plan_);
    for (const Step& step : plan_.steps) bind_step(step);
    RUNG_CHECK(join_steps());
    return queue_->wait();  // the first run may be in another stream
  }

  Status capture() {
    const gpu::CurrentContext current(gpu_);
    CaptureDoctor doctor(*queue_, plan_);
    RUNG_CHECK(doctor.examine([this](size_t index) { return enqueue(index); }));
    if (may_fault_) RUNG_CHECK(faults_->lower());
    RUNG_TRY(graph_, gpu::TimedGraph::record(*queue_, [this] { return enqueue_all(queue_->stream()); }));
    notes_ = doctor.notes();
    notes_.push_back(fmt::format("the whole run is one graph of {}; the host copies inputs and outputs{}",
                                 words::counted(graph_->nodes(), "node"),
                                 may_fault_ ? ", and looks for faults after each run" : ""));
    return {};
  }

  Status start(const RunCopies& copies, std::optional<gpu::Stream> stream) override {
    const gpu::CurrentContext current(gpu_);
    const gpu::Stream into = stream.value_or(queue_->stream());
    RUNG_CHECK(hold_back(into));
    RUNG_CHECK(faults_->lower_those_left());
    Status enqueued = stream ? enqueue_run(copies, into) : enqueue_timed_run(copies);
    flight_ = stream ? Flight::elsewhere : Flight::in_queue;
    Status marked = stream ? done_->set(into) : Status{};
    return enqueued ? marked : enqueued;
  }

  Status finish() override {
    const gpu::CurrentContext current(gpu_);
    const Flight was = std::exchange(flight_, Flight::none);
    if (was == Flight::none) return {};
    RUNG_CHECK(was == Flight::in_queue ? queue_->wait() : done_->wait());
    if (std::exchange(timed_, false) && graph_) RUNG_CHECK(graph_->take_time());
    return may_fault_ ? faults_->check() : Status{};
  }

  bool in_flight() const override { return flight_ != Flight::none; }

  Status enqueue_launches(gpu::Stream stream) override {
    return stepwise_ ? step_through(stream) : enqueue_all(stream);
  }
  Status check_faults() override {
    if (!may_fault_) return {};
    RUNG_CHECK(queue_->download(faults_->on_host(), faults_->address(0), faults_->bytes()));
    return faults_->check();
  }

  Status finish_copies_in() override {
    const gpu::CurrentContext current(gpu_);
    return in_flight() ? copied_in_->wait() : Status{};
  }

  Status write(uint32_t index, const void* from, size_t bytes) override {
    RUNG_CHECK(hold_back(queue_->stream()));
    return queue_->upload(buffer(index), from, bytes);
  }
  Status read(uint32_t index, void* to, size_t bytes) const override {
    RUNG_CHECK(hold_back(queue_->stream()));
    return queue_->download(to, buffer(index), bytes);
  }

  Result<std::byte*> memory(uint32_t index, Place place) override {
    if (place == Place::device) return static_cast<std::byte*>(gpu::device_pointer(buffer(index)));
    auto it = pinned_.find(index);
    if (it == pinned_.end()) {
      RUNG_TRY(auto made, gpu::Pinned::make(gpu_, plan_.buffers[index].bytes));
      it = pinned_.emplace(index, std::move(made)).first;
    }
    return it->second->data();
  }

  Status run_step(size_t index) override {
    const gpu::CurrentContext current(gpu_);
    RUNG_CHECK(hold_back(queue_->stream()));
    if (may_fault_) faults_->disown();
    RUNG_CHECK(enqueue(index));
    return queue_->wait();
  }

  std::vector<std::string> capture_notes() const override { return notes_; }

  Result<std::vector<double>> step_us() override {
    const size_t least = counts_ ? 1 : 40;  // launches in one graph
    std::map<std::string, std::vector<size_t>> groups;
    for (size_t i = 0; i < bound_.size(); ++i)
      groups[plan_.steps[i].choice.kernel + ' ' + plan_.steps[i].problem].push_back(i);
    std::vector<double> us(bound_.size());
    RUNG_TRY(const SmallStates held, hold());
    for (const auto& [problem, steps] : groups) {
      RUNG_CHECK(make_operands(held, steps[0]));
      size_t rounds = (least + steps.size() - 1) / steps.size();
      RUNG_TRY(double all, time_rounds(steps, rounds, held));
      double each = all / static_cast<double>(rounds * steps.size());
      for (size_t i : steps) us[i] = each;
    }
    RUNG_CHECK(restore(held));
    return us;
  }

  Result<std::optional<double>> together_us(std::span<const size_t> steps) override {
    RUNG_TRY(const SmallStates held, hold());
    if (!steps.empty()) RUNG_CHECK(make_operands(held, std::ranges::min(steps)));
    RUNG_TRY(double us, time_rounds(steps, 1, held));
    RUNG_CHECK(restore(held));
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
  gpu::Address buffer(uint32_t index) const {
    if (const gpu::Address state = states_.address(plan_, index)) return state;
    const auto port = ports_.find(index);
    return port == ports_.end() ? arena_->address() + plan_.buffers[index].offset : port->second;
  }
  Status check(int code) const { return gpu_.check(code, "plan"); }

  // On an emulator, clears only ports: zeros elsewhere would hide reads of unwritten memory, which it reports.
  Status clear_arena() {
    if (!counts_) return queue_->fill(arena_->address(), 0, plan_.arena_bytes);
    const auto clear = [this](uint32_t index) { return queue_->fill(buffer(index), 0, plan_.buffers[index].bytes); };
    for (const PlanInput& input : plan_.inputs) RUNG_CHECK(clear(input.buffer));
    for (const PlanOutput& output : plan_.outputs) RUNG_CHECK(clear(output.buffer));
    return {};
  }

  gpu::Address address(const PlanOperand& operand) const {
    gpu::Address base = operand.storage == Storage::weight ? weights_[operand.index]->address() : buffer(operand.index);
    return base + operand.offset;
  }

  void bind_step(const Step& step) {
    BoundStep& bound = bound_.emplace_back();
    bound.kernel = plan_.target->kernel_named(step.choice.kernel);
    bound.problem = problem_of(step, plan_.recipe.threads);
    for (const auto& input : step.inputs) bound.inputs.push_back(address(input));
    bound.output = buffer(step.output.index);
    if (step.scratch) bound.scratch = buffer(*step.scratch);
    bound.fault = faults_->address(bound_.size() - 1);
    const Machine& machine = plan_.target->machine;
    bound.state = step.code ? gpu::state_with(bound.problem, machine, step.code)
                            : bound.kernel->state_for(bound.problem, machine);
    may_fault_ = may_fault_ || fault_of(bound.problem) != Fault::none;
  }

  // Gives each launch that does several steps memory for its barriers.
  Status join_steps() {
    uint64_t bytes = 0;
    for (size_t first = 0; const size_t count : steps_of_launches(plan_)) {
      bound_[first].joined = count, bound_[first].barriers = bytes;
      if (count > 1) bytes += round_up(bound_[first].kernel->joining->barrier_bytes, kBufferAlignment);
      first += count;
    }
    if (bytes == 0) return {};
    RUNG_TRY(barriers_, gpu_.allocate(bytes));
    for (BoundStep& bound : bound_) bound.barriers += barriers_->address();
    return queue_->fill(barriers_->address(), 0, bytes);
  }

  gpu::Call call_of(size_t index, gpu::Stream stream) {
    const BoundStep& bound = bound_[index];
    return {
        bound.problem, bound.inputs.data(), bound.output, bound.scratch, bound.state.get(), bound.fault, *queue_, gpu_,
        stream};
  }
  // Returns the shared memory that a step's blocks ask for; 0: there is no such step, or it does not say.
  uint32_t shared_bytes_of(size_t index) const {
    if (index >= bound_.size() || !bound_[index].kernel->shared_bytes) return 0;
    return bound_[index].kernel->shared_bytes(bound_[index].problem, plan_.target->machine);
  }
  // Enqueues the launch that begins with this step.
  Status enqueue_joined(size_t index, gpu::Stream stream) {
    const BoundStep& bound = bound_[index];
    if (bound.joined == 1) return enqueue(index, stream);
    std::vector<gpu::Call> calls;
    for (size_t i = 0; i < bound.joined; ++i) calls.push_back(call_of(index + i, stream));
    return named(index,
                 gpu::enqueue_joined(*bound.kernel, calls, bound.barriers, shared_bytes_of(index + bound.joined)));
  }

  Status enqueue(size_t index) { return enqueue(index, queue_->stream()); }
  Status enqueue(size_t index, gpu::Stream stream) {
    Status done = gpu::enqueue(*bound_[index].kernel, call_of(index, stream));
    bool earlier = device_failed(done) && !stepwise_;  // an earlier run's fault, reported late
    return named(index, std::move(done), earlier ? "at or before " : "");
  }

  // Prefixes an error with the op of that launch.
  Status named(size_t index, Status done, std::string_view where = "") const {
    const Step& step = plan_.steps[index];
    if (!done)
      done.error().message = fmt::format("{}{} ({}) on {}: {}", where, step.label, name_of(step.op), step.choice.kernel,
                                         done.error().message);
    return done;
  }

  Result<SmallStates> hold() {
    const gpu::CurrentContext current(gpu_);
    RUNG_CHECK(hold_back(queue_->stream()));
    return SmallStates::of(*queue_, plan_, states_);
  }
  Status restore(const SmallStates& held) {
    const gpu::CurrentContext current(gpu_);
    return held.restore(*queue_);
  }

  // Runs the steps before `end` once, where steps that ran alone have moved a decoder's position and what follows from
  // it: attention would be timed on a text of another length. Later steps may have the length's memory for results.
  Status make_operands(const SmallStates& held, size_t end) {
    if (held.empty()) return {};
    const gpu::CurrentContext current(gpu_);
    RUNG_CHECK(held.restore(*queue_));
    if (may_fault_) faults_->disown();
    for (size_t i = 0; i < end; ++i) RUNG_CHECK(enqueue(i));
    return held.restore(*queue_);
  }

  // Returns the microseconds of a graph that repeats these steps `rounds` times; each replay finds the states held.
  Result<double> time_rounds(std::span<const size_t> steps, size_t rounds, const SmallStates& held) {
    const int replays = counts_ ? 1 : 5;
    RUNG_TRY(auto graph, gpu::TimedGraph::record(*queue_, [&]() -> Status {
               for (size_t round = 0; round < rounds; ++round)
                 for (size_t i : steps) RUNG_CHECK(enqueue(i));
               return {};
             }));
    RUNG_CHECK(hold_back(queue_->stream()));
    if (may_fault_) faults_->disown();
    std::vector<double> us;
    for (int i = 0; i < replays; ++i) {
      RUNG_CHECK(restore(held));
      RUNG_CHECK(graph->replay());
      us.push_back(graph->ms() * 1e3);
    }
    return median(std::move(us));
  }

  // Makes the stream wait for the runs in flight.
  Status hold_back(gpu::Stream stream) const {
    if (flight_ == Flight::none || (flight_ == Flight::in_queue && stream == queue_->stream())) return {};
    const gpu::CurrentContext current(gpu_);
    if (flight_ == Flight::in_queue) RUNG_CHECK(done_->set(queue_->stream()));
    return done_->hold_back(stream);
  }

  Status enqueue_run(const RunCopies& copies, gpu::Stream stream) {
    const auto from_host = [](const CopyIn& copy) { return copy.way != Way::device; };
    RUNG_CHECK(copies_->in(copies.in, stream));
    if (std::any_of(copies.in.begin(), copies.in.end(), from_host)) RUNG_CHECK(copied_in_->set(stream));
    RUNG_CHECK(graph_ ? graph_->launch(stream) : enqueue_launches(stream));
    return enqueue_copies_out(copies, stream);
  }

  Status enqueue_timed_run(const RunCopies& copies) {
    RUNG_CHECK(copies_->in(copies.in, queue_->stream()));
    RUNG_CHECK(graph_ ? graph_->start() : start_launches());
    timed_ = true;
    return enqueue_copies_out(copies, queue_->stream());
  }

  Status enqueue_copies_out(const RunCopies& copies, gpu::Stream stream) {
    return copies_->out(copies.out, may_fault_ ? faults_.get() : nullptr, stream);
  }

  Status start_launches() {
    RUNG_CHECK(check(runtime_.event_record(start_, queue_->stream())));
    RUNG_CHECK(enqueue_launches(queue_->stream()));
    return check(runtime_.event_record(end_, queue_->stream()));
  }

  Status enqueue_all(gpu::Stream stream) {
    for (size_t i = 0; i < bound_.size(); i += bound_[i].joined) RUNG_CHECK(enqueue_joined(i, stream));
    return {};
  }

  // Waits for every launch before the next: then a device fault belongs to the launch just before the wait.
  Status step_through(gpu::Stream stream) {
    for (size_t i = 0; i < bound_.size(); ++i) {
      Status done = enqueue(i, stream);
      if (done) done = named(i, gpu_.check(runtime_.stream_synchronize(stream), "waiting for the device"));
      if (device_failed(done))
        done.error().message =
            fmt::format("device fault in op {} of {}: {}", i + 1, bound_.size(), done.error().message);
      RUNG_CHECK(std::move(done));
    }
    return {};
  }

  const Plan& plan_;
  const States& states_;
  const std::map<uint32_t, gpu::Address> ports_;  // that have their memory elsewhere, by buffer
  gpu::Gpu& gpu_;
  const gpu::Runtime& runtime_;
  bool stepwise_;
  const bool counts_;  // the device counts instructions, and a second measurement gives the same count
  std::unique_ptr<gpu::Queue> queue_;
  std::vector<std::shared_ptr<gpu::Block>> weights_;
  std::shared_ptr<gpu::Block> arena_, barriers_;
  std::map<uint32_t, std::unique_ptr<gpu::Pinned>> pinned_;  // by buffer
  std::unique_ptr<FaultFlags> faults_;
  std::unique_ptr<GpuCopies> copies_;
  std::deque<BoundStep> bound_;
  bool may_fault_ = false;                      // some op checks its operands' values
  gpu::Event start_ = nullptr, end_ = nullptr;  // around eager launches in the queue
  // The place of runs that were not waited for yet. All are complete when the last one is: each waits for the one
  // before.
  enum class Flight : uint8_t { none, in_queue, elsewhere } flight_ = Flight::none;
  bool timed_ = false;                           // the run in the queue has events around its launches
  std::unique_ptr<gpu::Mark> copied_in_, done_;  // marks after the last streamed run's copies in, and after that run
  std::unique_ptr<gpu::TimedGraph> graph_;       // of all launches; null: eager
  std::vector<std::string> notes_;
};

}  // namespace

Result<std::unique_ptr<Recorder>> make_gpu_recorder(const Plan& plan, const States& states, bool stepwise,
                                                    std::map<uint32_t, gpu::Address> ports) {
  auto recorder = std::make_unique<GpuRecorder>(plan, states, stepwise, std::move(ports));
  RUNG_CHECK(recorder->bind());
  if (plan.recipe.capture && !stepwise) RUNG_CHECK(recorder->capture());
  return recorder;
}

}  // namespace rung
