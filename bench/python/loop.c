// A plan driven from C in one loop, with which the same runs from Python are compared (overhead.py).
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <time.h>

#include "rung/rung.h"

enum { kMost = 16 };  // inputs, and outputs

typedef struct loop {
  rung_model* model;
  rung_session* session;
  size_t inputs, outputs;
  rung_tensor in[kMost], out[kMost];  // memory of the caller's
} loop;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static rung_tensor memory_for(const rung_port* port) {
  rung_tensor tensor = {
      calloc(1, port->bytes + 1), {RUNG_CPU, 0}, port->ndim, port->dtype, (int64_t*)port->shape, 0, 0};
  return tensor;
}

// NULL: rung_error() says why.
loop* loop_open(const char* path) {
  loop* opened = calloc(1, sizeof *opened);
  rung_port port;
  if (!opened || rung_model_open(path, NULL, &opened->model) != RUNG_OK ||
      rung_session_open(opened->model, &opened->session) != RUNG_OK)
    return NULL;
  opened->inputs = rung_model_input_count(opened->model);
  opened->outputs = rung_model_output_count(opened->model);
  if (opened->inputs > kMost || opened->outputs > kMost) return NULL;
  for (size_t i = 0; i < opened->inputs; ++i)
    if (rung_model_input(opened->model, i, &port) == RUNG_OK) opened->in[i] = memory_for(&port);
  for (size_t i = 0; i < opened->outputs; ++i)
    if (rung_model_output(opened->model, i, &port) == RUNG_OK) opened->out[i] = memory_for(&port);
  return opened;
}

static rung_status bind_all(loop* self) {
  rung_status status = RUNG_OK;
  for (size_t i = 0; i < self->inputs && status == RUNG_OK; ++i)
    status = rung_session_bind_input(self->session, i, &self->in[i]);
  for (size_t i = 0; i < self->outputs && status == RUNG_OK; ++i)
    status = rung_session_bind_output(self->session, i, &self->out[i]);
  return status;
}

// Seconds of `runs` runs, each of which binds all inputs and outputs to the caller's memory; below 0: one failed.
double loop_bound(loop* self, int runs) {
  const double start = now();
  for (int run = 0; run < runs; ++run) {
    if (bind_all(self) != RUNG_OK) return -1;
    if (rung_session_run(self->session) != RUNG_OK) return -1;
  }
  return now() - start;
}

// The same in the session's own memory, which is bound once.
double loop_own(loop* self, int runs) {
  rung_tensor tensor;
  for (size_t i = 0; i < self->inputs; ++i)
    if (rung_session_input(self->session, i, RUNG_CPU, &tensor) != RUNG_OK) return -1;
  for (size_t i = 0; i < self->outputs; ++i)
    if (rung_session_output(self->session, i, RUNG_CPU, &tensor) != RUNG_OK) return -1;
  const double start = now();
  for (int run = 0; run < runs; ++run)
    if (rung_session_run(self->session) != RUNG_OK) return -1;
  return now() - start;
}

// Inputs and outputs in memory of the caller's on the device from now on: addresses in the model's order.
void loop_place(loop* self, void* const* in, void* const* out) {
  const rung_device device = rung_model_device(self->model);
  for (size_t i = 0; i < self->inputs; ++i) self->in[i].data = in[i], self->in[i].device = device;
  for (size_t i = 0; i < self->outputs; ++i) self->out[i].data = out[i], self->out[i].device = device;
}

// Seconds to enqueue `runs` runs in a stream, each of which binds that memory; the caller waits for the stream.
double loop_enqueued(loop* self, int runs, void* stream) {
  const double start = now();
  for (int run = 0; run < runs; ++run) {
    if (bind_all(self) != RUNG_OK) return -1;
    if (rung_session_run_async(self->session, stream) != RUNG_OK) return -1;
  }
  return now() - start;
}
