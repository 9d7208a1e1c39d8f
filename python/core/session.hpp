// One thread's runs of a model: arrays of the caller's by name, or the session's own memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "core/handles.hpp"
#include "core/results.hpp"

namespace rung::python {

class NamedShapes;

class Session {
 public:
  // `plans`: those of the model, of which the first is selected.
  Session(ModelHandle model, const std::vector<std::shared_ptr<const ModelFacts>>& plans);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // One inference on the arrays given by name; `out` among them maps outputs' names to arrays to write.
  nb::dict call(const nb::args& unnamed, const nb::kwargs& arguments);
  // The plan for these shapes of inputs, a mapping of names to sequences, is what the functions below bind and run.
  void select(nb::handle shapes);
  // The session's own memory of a port, as NumPy (where = "host") or as an object with DLPack ("device").
  nb::object input(nb::handle port, const std::string& where);
  nb::object output(nb::handle port, const std::string& where);
  // One inference on what is bound. `stream`: none, an address, or an object with .cuda_stream.
  void run(nb::handle stream);
  void wait();
  void close();

  bool closed() const { return !session_; }
  const ModelFacts& facts() const { return *plans_[selected_].facts; }

 private:
  // Who uses the session now: calls end in the order in which they began, or are refused.
  class Use {
   public:
    explicit Use(Session& session);
    ~Use();

   private:
    Session& session_;
  };
  // What a port is bound to: memory of the session's own, if a program took it, while no array of a caller's is.
  struct Port {
    explicit Port(const PortFacts& of) : facts(&of), maker(of) {}
    Place place(const char* kind) const {
      const rung_port& port = facts->port;
      return {kind, port.name, facts->type, port.ndim > 0 ? port.shape[port.ndim - 1] : 0};
    }

    const PortFacts* facts;
    ResultMaker maker;
    std::optional<rung_device_type> own;
    bool is_callers = false;
    std::optional<Borrowed> array;  // during a call
    nb::object given;               // during a call: the object that the call gives back
    bool is_given = false;          // is that the caller's own?
  };

  // The ports of one plan.
  struct Bound {
    explicit Bound(std::shared_ptr<const ModelFacts> of);
    std::shared_ptr<const ModelFacts> facts;
    std::deque<Port> inputs, outputs;
  };
  std::deque<Port>& inputs() { return plans_[selected_].inputs; }
  std::deque<Port>& outputs() { return plans_[selected_].outputs; }
  const std::deque<Port>& inputs() const { return plans_[selected_].inputs; }
  const std::deque<Port>& outputs() const { return plans_[selected_].outputs; }
  void select(const NamedShapes& shapes);
  void select_for(const nb::kwargs& arguments);

  // What a call gives, before anything is bound.
  [[noreturn]] void refuse_unnamed(nb::handle first) const;
  void take(const nb::kwargs& arguments);
  void check_frozen(nb::handle name, nb::handle value) const;
  void bind_inputs(Family family);
  void bind_outputs(Family family);
  void take_out(nb::handle out);
  void restore_input(size_t index);
  void restore_output(size_t index);
  void restore_own();
  using Bind = rung_status(rung_session*, size_t, const rung_tensor*);
  void bind(Port& port, size_t index, Family family, Bind* to);
  Family family() const;
  void launch(Family family);
  void tell_written() const;
  using OwnMemory = rung_status (*)(rung_session*, size_t, rung_device_type, rung_tensor*);
  nb::object own_memory(Port& port, size_t index, const std::string& where, OwnMemory lend);

  std::deque<Bound> plans_;
  size_t selected_ = 0;
  ModelHandle model_;
  SessionHandle session_;
  bool in_use_ = false;
};

}  // namespace rung::python
