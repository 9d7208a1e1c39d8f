// Sessions of the C interface: ports by index, memory bound to them, runs.
// SPDX-License-Identifier: Apache-2.0
#include "api/handles.hpp"
#include "api/options.hpp"
#include "api/tensors.hpp"

namespace rung {
namespace {

enum class Side : bool { input, output };

// The name and type of a session's input or output.
struct Port {
  PortName name;
  const Type* type;
};

template <class PlanPort>
Result<Port> port_among(const std::vector<PlanPort>& ports, size_t index, const char* side) {
  if (index >= ports.size()) return wrong_usage("got {} {}, wanted less than {}", side, index, ports.size());
  return Port{{side, ports[index].name}, &ports[index].type};
}

Result<Port> port_of(const OpenSession& session, Side side, size_t index) {
  const Plan& plan = *session.model->plans[session.session.selected_index()];
  return side == Side::input ? port_among(plan.inputs, index, "input") : port_among(plan.outputs, index, "output");
}

Result<Place> place_asked_for(const OpenSession& session, rung_device_type where) {
  if (where == RUNG_CPU) return Place::host;
  if (static_cast<int32_t>(where) == session.model->device.type) return Place::device;
  return mismatch("got memory of device type {}, wanted {} or, of the host, {}", static_cast<int>(where),
                  session.model->device.type, static_cast<int>(RUNG_CPU));
}

// Returns the kind of a session's memory that the host reads and writes: pinned where its device is a GPU.
rung_device host_memory_of(rung_device device) {
  if (device.type == RUNG_CUDA) return {RUNG_CUDA_HOST, 0};
  if (device.type == RUNG_ROCM) return {RUNG_ROCM_HOST, 0};
  return {RUNG_CPU, 0};
}

rung_status own_memory(rung_session* handle, Side side, size_t index, rung_device_type where, rung_tensor* tensor) {
  return answer([&]() -> Status {
    const auto session = table<Sessions>().use(handle);
    RUNG_CHECK(want_open(session, "session"));
    RUNG_CHECK(want(tensor, "tensor"));
    RUNG_TRY(Port port, port_of(*session, side, index));
    RUNG_TRY(Place place, place_asked_for(*session, where));
    auto& own = session->session.selected();
    RUNG_TRY(std::byte * data, side == Side::input ? own.own_input(index, place) : own.own_output(index, place));
    const rung_device device = session->model->device;
    *tensor = tensor_over(data, *port.type, place == Place::host ? host_memory_of(device) : device);
    return {};
  });
}

rung_status bind(rung_session* handle, Side side, size_t index, const rung_tensor* tensor) {
  return answer([&]() -> Status {
    const auto session = table<Sessions>().use(handle);
    RUNG_CHECK(want_open(session, "session"));
    RUNG_TRY(Port port, port_of(*session, side, index));
    auto& own = session->session.selected();
    if (!tensor) return side == Side::input ? own.unbind_input(index) : own.unbind_output(index);
    RUNG_TRY(Placed at, place_of(port.name, *port.type, *tensor, session->model->device));
    return side == Side::input ? own.bind_input(index, at.place, at.data) : own.bind_output(index, at.place, at.data);
  });
}

// Calls `call` with the selected plan's session.
template <class Call>
rung_status in_session(rung_session* handle, const Call& call) {
  return answer([&]() -> Status {
    const auto session = table<Sessions>().use(handle);
    RUNG_CHECK(want_open(session, "session"));
    return call(session->session.selected());
  });
}

}  // namespace
}  // namespace rung

using rung::answer;
using rung::Sessions;
using rung::Side;
using rung::Status;
using rung::table;

rung_status rung_session_open(const rung_model* model, rung_session** session) {
  return answer([&]() -> Status {
    const auto open = table<rung::Models>().use(model);
    RUNG_CHECK(rung::want_open(open, "model"));
    RUNG_CHECK(rung::want(session, "session"));
    RUNG_TRY(rung::SetSession opened, rung::SetSession::create((*open)->plans));
    *session =
        table<Sessions>().open(std::unique_ptr<rung::OpenSession>(new rung::OpenSession{*open, std::move(opened)}));
    return {};
  });
}

void rung_session_close(rung_session* session) { table<Sessions>().close(session); }

rung_status rung_session_select(rung_session* session, const rung_named_shape* shapes, size_t count) {
  return answer([&]() -> Status {
    const auto open = table<Sessions>().use(session);
    RUNG_CHECK(rung::want_open(open, "session"));
    RUNG_TRY(rung::Shapes given, rung::shapes_of(shapes, count));
    return open->session.select(given);
  });
}

size_t rung_session_selected(const rung_session* session) {
  const auto open = table<Sessions>().use(session);
  return open ? open->session.selected_index() : 0;
}

rung_status rung_session_input(rung_session* session, size_t index, rung_device_type where, rung_tensor* tensor) {
  return rung::own_memory(session, Side::input, index, where, tensor);
}

rung_status rung_session_output(rung_session* session, size_t index, rung_device_type where, rung_tensor* tensor) {
  return rung::own_memory(session, Side::output, index, where, tensor);
}

rung_status rung_session_bind_input(rung_session* session, size_t index, const rung_tensor* tensor) {
  return rung::bind(session, Side::input, index, tensor);
}

rung_status rung_session_bind_output(rung_session* session, size_t index, const rung_tensor* tensor) {
  return rung::bind(session, Side::output, index, tensor);
}

rung_status rung_session_run(rung_session* session) {
  return rung::in_session(session, [](rung::Session& own) { return own.run(); });
}

rung_status rung_session_run_async(rung_session* session, void* stream) {
  return rung::in_session(session, [stream](rung::Session& own) { return own.run_async(stream); });
}

rung_status rung_session_wait(rung_session* session) {
  return rung::in_session(session, [](rung::Session& own) { return own.wait(); });
}
