// Binds, runs, and gives back. The GIL is held but for the run itself.
// SPDX-License-Identifier: Apache-2.0
#include "core/session.hpp"

#include "core/errors.hpp"
#include "core/gil.hpp"
#include "core/memory.hpp"
#include "core/names.hpp"
#include "core/options.hpp"
#include "core/torch.hpp"

namespace rung::python {
namespace {

bool same(nb::handle a, nb::handle b) { return a.is(b) || PyUnicode_Compare(a.ptr(), b.ptr()) == 0; }

}  // namespace

Session::Use::Use(Session& session) : session_(session) {
  if (session.closed()) raise(RUNG_USAGE, "the session is closed");
  if (session.in_use_)
    raise(RUNG_USAGE, "the session is in use by another thread; each thread wants one of its own: model.session()");
  session.in_use_ = true;
}

Session::Use::~Use() {
  for (std::deque<Port>* ports : {&session_.inputs(), &session_.outputs()})
    for (Port& port : *ports) {
      port.array.reset();
      port.given.reset();
      port.is_given = false;
    }
  session_.in_use_ = false;
}

Session::Bound::Bound(std::shared_ptr<const ModelFacts> of) : facts(std::move(of)) {
  for (const PortFacts& port : facts->inputs) inputs.emplace_back(port);
  for (const PortFacts& port : facts->outputs) outputs.emplace_back(port);
}

Session::Session(ModelHandle model, const std::vector<std::shared_ptr<const ModelFacts>>& plans)
    : plans_(plans.begin(), plans.end()), model_(std::move(model)) {
  rung_session* opened = nullptr;
  rung_status status = RUNG_OK;
  {
    const ReleasedGil released;
    status = rung_session_open(model_.get(), &opened);
  }
  check(status);
  session_ = SessionHandle(opened, rung_session_close);
}

void Session::select(nb::handle shapes) {
  Use use(*this);
  NamedShapes named;
  for (nb::handle pair : nb::list(shapes.attr("items")())) named.add(pair[0], pair[1]);
  select(named);
}

void Session::select(const NamedShapes& shapes) {
  check(rung_session_select(session_.get(), shapes.data(), shapes.size()));
  selected_ = rung_session_selected(session_.get());
}

// The plan for the shapes of the arrays.
void Session::select_for(const nb::kwargs& arguments) {
  if (plans_.size() == 1) return;
  NamedShapes shapes;
  for (auto [name, value] : arguments)
    if (!same(Names::get().out, name) && nb::hasattr(value, "shape")) shapes.add(name, value.attr("shape"));
  select(shapes);
}

nb::dict Session::call(const nb::args& unnamed, const nb::kwargs& arguments) {
  if (unnamed.size() > 0) refuse_unnamed(unnamed[0]);
  Use use(*this);
  try {
    select_for(arguments);
    take(arguments);
    const Family fresh = family();
    bind_inputs(fresh);
    bind_outputs(fresh);
    launch(fresh);
    tell_written();
  } catch (...) {
    restore_own();
    throw;
  }
  restore_own();
  nb::dict results;
  for (Port& port : outputs()) results[port.facts->name] = port.given;
  return results;
}

void Session::refuse_unnamed(nb::handle first) const {
  const std::string name = facts().inputs.empty() ? "name" : facts().inputs.front().port.name;
  const bool is_text = nb::isinstance<nb::str>(first), is_mapping = nb::hasattr(first, "keys");
  const std::string remedy = is_text      ? "model(**model.encode(text))"
                             : is_mapping ? "model(**inputs)"
                                          : "model(" + name + "=" + name + ")";
  raise(RUNG_USAGE, "got " + class_of(first) + " without a name, wanted inputs by their names: " + remedy);
}

// Autograd, and whoever looks at a tensor's version, learns that its values are others.
void Session::tell_written() const {
  const Torch* torch = Torch::loaded();
  for (const Port& port : outputs())
    if (port.array && port.array->is_torch() && port.is_given) torch->increment_version(port.given);
}

void Session::take(const nb::kwargs& arguments) {
  nb::object out = nb::none();
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(arguments.ptr(), &at, &name, &value);) {
    Port* found = nullptr;
    for (Port& port : inputs())
      if (same(port.facts->name, name)) found = &port;
    if (found)
      found->array.emplace(value, found->place("input"), false);
    else if (same(Names::get().out, name))
      out = nb::borrow(value);
    else
      check_frozen(name, value);
  }
  take_out(out);
}

// An input that the plan took as a constant may still be given: at that value.
void Session::check_frozen(nb::handle name, nb::handle value) const {
  const std::string text = c_text_of(name, "an input's name");
  size_t index = 0;
  if (!rung_model_is_frozen(model_.get(), text.c_str()))
    check(rung_model_find_input(model_.get(), text.c_str(), &index));
  Borrowed array(value, Place{"input", text.c_str()}, false);
  check(rung_model_check_frozen(model_.get(), text.c_str(), &array.tensor()));
}

void Session::bind_inputs(Family family) {
  for (size_t i = 0; i < inputs().size(); ++i) {
    Port& port = inputs()[i];
    if (!port.array) {
      if (port.facts->port.required && !port.own)
        raise(RUNG_MISMATCH, std::string("input '") + port.facts->port.name + "' is missing");
      restore_input(i);
      continue;
    }
    bind(port, i, family, rung_session_bind_input);
  }
}

// Memory that is pinned is copied straight where the call waits for the run. A call that only enqueues has the host
// copy it: its memory may be another tensor's when the stream comes to it.
void Session::bind(Port& port, size_t index, Family family, Bind* to) {
  port.array->set_pinned(facts().on_gpu() && family != Family::torch_device);
  port.array->check(to(session_.get(), index, &port.array->tensor()));
  port.is_callers = true;
}

// Whose outputs are that a call makes: PyTorch's where inputs are; NumPy's where any input is no tensor of PyTorch's.
Family Session::family() const {
  bool any = false, all_torch = true;
  for (const std::deque<Port>* ports : {&inputs(), &outputs()})
    for (const Port& port : *ports) {
      if (!port.array) continue;
      if (port.array->family() == Family::torch_device && facts().on_gpu()) return Family::torch_device;
      if (ports == &outputs()) continue;
      any = true;
      all_torch = all_torch && port.array->family() == Family::torch_host;
    }
  return any && all_torch ? Family::torch_host : Family::numpy;
}

void Session::take_out(nb::handle out) {
  if (out.is_none()) return;
  if (!nb::hasattr(out, "keys"))
    raise(RUNG_USAGE, "out: got " + text_of(nb::repr(out.type())) + ", wanted a mapping of outputs' names to arrays");
  for (nb::handle name : nb::list(out.attr("keys")())) {
    size_t index = 0;
    check(rung_model_find_output(model_.get(), c_text_of(name, "out").c_str(), &index));
    Port& port = outputs()[index];
    port.given = out[name];
    port.is_given = true;
    port.array.emplace(port.given, port.place("output"), true);
  }
}

void Session::bind_outputs(Family fresh) {
  for (size_t i = 0; i < outputs().size(); ++i) {
    Port& port = outputs()[i];
    if (!port.array) {
      const rung_device device = fresh == Family::torch_device ? facts().device : rung_device{RUNG_CPU, 0};
      Made made = port.maker.make(fresh, device);
      port.given = made.array;
      if (fresh == Family::numpy)
        port.array.emplace(made.memory, port.place("output"), true);
      else
        port.array.emplace(made.data, port.place("output"), port.facts->port, device);
    }
    bind(port, i, fresh, rung_session_bind_output);
  }
}

// With tensors of PyTorch's on the device: in its current stream, and nothing waits but for outputs on the host.
void Session::launch(Family family) {
  rung_status status = RUNG_OK;
  if (family != Family::torch_device) {
    const ReleasedGil released;
    status = rung_session_run(session_.get());
  } else {
    void* stream = Torch::loaded()->stream(facts().device);
    bool host_outputs = false;
    for (const Port& port : outputs()) host_outputs = host_outputs || !port.array->on_device();
    const ReleasedGil released;
    status = rung_session_run_async(session_.get(), stream);
    if (status == RUNG_OK && host_outputs) status = rung_session_wait(session_.get());
  }
  check(status);
}

// What was bound for a call is gone after it.
void Session::restore_input(size_t index) {
  Port& port = inputs()[index];
  if (!port.is_callers) return;
  rung_tensor tensor;
  check(port.own ? rung_session_input(session_.get(), index, *port.own, &tensor)
                 : rung_session_bind_input(session_.get(), index, nullptr));
  port.is_callers = false;
}

void Session::restore_output(size_t index) {
  Port& port = outputs()[index];
  if (!port.is_callers) return;
  rung_tensor tensor;
  check(port.own ? rung_session_output(session_.get(), index, *port.own, &tensor)
                 : rung_session_bind_output(session_.get(), index, nullptr));
  port.is_callers = false;
}

// Memory that a program took is bound again at once, before the program writes there. What fails is tried again by
// run().
void Session::restore_own() {
  rung_tensor tensor;
  for (size_t i = 0; i < inputs().size(); ++i) {
    Port& port = inputs()[i];
    if (port.own && port.is_callers)
      port.is_callers = rung_session_input(session_.get(), i, *port.own, &tensor) != RUNG_OK;
  }
  for (size_t i = 0; i < outputs().size(); ++i) {
    Port& port = outputs()[i];
    if (port.own && port.is_callers)
      port.is_callers = rung_session_output(session_.get(), i, *port.own, &tensor) != RUNG_OK;
  }
}

nb::object Session::input(nb::handle port, const std::string& where) {
  Use use(*this);
  const std::string name = c_text_of(port, "name");
  size_t index = 0;
  check(rung_model_find_input(model_.get(), name.c_str(), &index));
  return own_memory(inputs()[index], index, where, rung_session_input);
}

nb::object Session::output(nb::handle port, const std::string& where) {
  Use use(*this);
  const std::string name = c_text_of(port, "name");
  size_t index = 0;
  check(rung_model_find_output(model_.get(), name.c_str(), &index));
  return own_memory(outputs()[index], index, where, rung_session_output);
}

nb::object Session::own_memory(Port& port, size_t index, const std::string& where, OwnMemory lend) {
  if (where != "host" && where != "device") raise(RUNG_USAGE, "where: got '" + where + "', wanted 'host' or 'device'");
  auto type = static_cast<rung_device_type>(where == "host" ? RUNG_CPU : facts().device.type);
  rung_tensor tensor;
  check(lend(session_.get(), index, type, &tensor));
  port.own = type;
  port.is_callers = false;
  return array_over(tensor, own(session_));
}

void Session::run(nb::handle stream) {
  Use use(*this);
  for (size_t i = 0; i < inputs().size(); ++i) restore_input(i);
  for (size_t i = 0; i < outputs().size(); ++i) restore_output(i);
  rung_status status = RUNG_OK;
  if (stream.is_none()) {
    const ReleasedGil released;
    status = rung_session_run(session_.get());
  } else {
    nb::object number = nb::getattr(stream, "cuda_stream", nb::borrow(stream));
    void* address = reinterpret_cast<void*>(nb::cast<uintptr_t>(number));
    const ReleasedGil released;
    status = rung_session_run_async(session_.get(), address);
  }
  check(status);
}

void Session::wait() {
  Use use(*this);
  rung_status status = RUNG_OK;
  {
    const ReleasedGil released;
    status = rung_session_wait(session_.get());
  }
  check(status);
}

void Session::close() {
  if (in_use_) raise(RUNG_USAGE, "the session is in use by another thread: it cannot be closed now");
  session_.reset();
  model_.reset();
}

}  // namespace rung::python
