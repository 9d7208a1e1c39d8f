// Models, which hold a plan and its weights, and sessions, which run it.
// SPDX-License-Identifier: Apache-2.0
//
// Every option has an initialiser, if only `= {}`: GCC's -Wextra warns of others that a caller leaves out.
#pragma once
#include <rung/status.hpp>
#include <rung/tensor.hpp>

#include <memory>
#include <string_view>

namespace rung::api {

// Options for opening a path.
struct Options {
  // A word that rung_options lists. Empty: the device that a plan was built for, the processor for a model directory.
  std::string device = {};
  int threads = 0;
  std::string dtype = {};  // empty: each as it is stored
  // Shapes of a model directory's inputs, in elements: {"input_ids", {1, 128}}. For a plan file they select one of its
  // plans.
  std::map<std::string, std::vector<int64_t>> shapes = {};
  // Runs the encoder alone of a model directory that has a head; a head that is not supported is refused otherwise.
  bool drop_head = false;
  // Runs the machine code that a plan's file holds: you trust whoever made the file. See rung_options.
  bool trust_code = false;
};

// The treatment of a text that has more tokens than the plan has room for; see rung_truncate.
enum class Truncate { cut = RUNG_TRUNCATE_CUT, error = RUNG_TRUNCATE_ERROR };

// The treatment of blanks before English marks and endings in a decoded text; see rung_clean_up.
enum class CleanUp { as_saved = RUNG_CLEAN_UP_AS_SAVED, off = RUNG_CLEAN_UP_OFF, on = RUNG_CLEAN_UP_ON };

// How ids become a text; see rung_decode_options.
struct DecodeOptions {
  bool keep_special = false;  // special tokens, such as [SEP], stand in the text
  CleanUp clean_up = CleanUp::as_saved;
};

// Inputs made from a text. They hold `kept` of its `tokens`, both counted with the special tokens.
struct Encoded : Tensors {
  int64_t tokens = 0, kept = 0;
  // Returns whether the text was cut.
  bool truncated() const { return kept < tokens; }
};

namespace detail {

template <auto close>
struct Closer {
  template <class Handle>
  void operator()(Handle* handle) const {
    close(handle);
  }
};

using Shapes = std::map<std::string, std::vector<int64_t>>;

// Returns shapes that point into `from`, which must stay unchanged.
inline std::vector<rung_named_shape> c_shapes(const Shapes& from) {
  std::vector<rung_named_shape> shapes;
  for (const auto& [name, shape] : from)
    shapes.push_back({name.c_str(), shape.data(), static_cast<int32_t>(shape.size())});
  return shapes;
}

// The options with what their pointers refer to.
struct COptions {
  explicit COptions(const Options& from) : shapes(c_shapes(from.shapes)) {
    if (!from.device.empty()) options.device = from.device.c_str();
    if (!from.dtype.empty()) options.dtype = from.dtype.c_str();
    options.threads = from.threads;
    options.drop_head = from.drop_head;
    options.trust_code = from.trust_code;
    options.shapes = shapes.data();
    options.shape_count = shapes.size();
  }
  std::vector<rung_named_shape> shapes;
  rung_options options RUNG_OPTIONS_INIT;
};

// Refuses a text with a NUL: C would end it there, and take another file or input than was meant.
inline Status check_nul(std::string_view what, std::string_view text) {
  if (text.find('\0') == std::string_view::npos) return {};
  return {Kind::usage, std::string(what) + ": got a text with a NUL in it"};
}
template <class Texts>
Status check_nuls(std::string_view what, const Texts& texts) {
  for (const auto& text : texts)
    if (Status status = check_nul(what, text); !status) return status;
  return {};
}
inline Status check_nuls(const Options& options) {
  for (const auto& [name, shape] : options.shapes)
    if (Status status = check_nul("shapes", name); !status) return status;
  if (Status status = check_nul("dtype", options.dtype); !status) return status;
  return check_nul("device", options.device);
}
// Checks the texts of a call that opens a path.
inline Status check_nuls(const std::string& path, const Options& options) {
  if (Status status = check_nul("path", path); !status) return status;
  return check_nuls(options);
}

inline std::vector<const char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<const char*> all;
  for (const auto& text : texts) all.push_back(text.c_str());
  return all;
}

inline Port to_port(const rung_port& port) {
  return {port.name, from_c(port.dtype), {port.shape, port.shape + port.ndim}, port.bytes, port.required};
}

// Makes a tensor over memory that is written to only if it is bound to an output.
inline rung_tensor over(const void* data, DType dtype, const std::vector<int64_t>& shape) {
  return {const_cast<void*>(data),
          {RUNG_CPU, 0},
          static_cast<int32_t>(shape.size()),
          to_c(dtype),
          const_cast<int64_t*>(shape.data()),
          nullptr,
          0};
}

inline size_t bytes_of(DType dtype, const std::vector<int64_t>& shape) {
  size_t bytes = to_c(dtype).bits / 8;
  for (int64_t extent : shape) bytes *= static_cast<size_t>(extent);
  return bytes;
}

// Checks that a tensor has as many bytes as its shape says: the C interface takes only an address and a shape.
inline Status check_bytes(const std::string& name, const Tensor& tensor) {
  if (Status status = check_nul("an input's name", name); !status) return status;
  const size_t wanted = bytes_of(tensor.dtype, tensor.shape);
  if (tensor.bytes.size() == wanted) return {};
  return {Kind::mismatch, "input '" + name + "': got " + std::to_string(tensor.bytes.size()) + " bytes, wanted " +
                              std::to_string(wanted) + " for its shape"};
}

inline Status check_bytes(const Tensors& tensors) {
  for (const auto& [name, tensor] : tensors)
    if (Status status = check_bytes(name, tensor); !status) return status;
  return {};
}

// Tensors with their names, which point into `from`: it must stay unchanged.
struct CTensors {
  explicit CTensors(const Tensors& from) {
    tensors.reserve(from.size());
    for (const auto& [name, tensor] : from) {
      tensors.push_back(over(tensor.bytes.data(), tensor.dtype, tensor.shape));
      named.push_back({name.c_str(), &tensors.back()});
    }
  }
  std::vector<rung_tensor> tensors;
  std::vector<rung_named_tensor> named;
};

// Returns the text of ids that `decode` writes to a place, or says how much room it takes.
template <class Decode>
Result<std::string> decoded(const std::vector<int64_t>& ids, DecodeOptions options, const Decode& decode) {
  const rung_decode_options how{sizeof how, options.keep_special, static_cast<rung_clean_up>(options.clean_up)};
  std::string text(16 * ids.size() + 64, '\0');
  for (;;) {
    rung_text place{text.data(), text.size(), 0};
    if (auto code = decode(how, &place)) return Status::of(code);
    const bool fits = place.bytes < text.size();
    text.resize(fits ? place.bytes : place.bytes + 1);
    if (fits) return text;
  }
}

}  // namespace detail

class Session;

// A plan and its weights. Copies are the same model; any number of threads may use one.
class Model {
 public:
  // Opens a plan (*.rung) or a model directory. See rung_model_open().
  static Result<Model> open(const std::string& path, const Options& options = {}) {
    if (Status status = detail::check_nuls(path, options); !status) return status;
    rung_model* model = nullptr;
    const detail::COptions c(options);
    if (auto code = rung_model_open(path.c_str(), &c.options, &model)) return Status::of(code);
    return Model(model);
  }
  // Takes the handle.
  explicit Model(rung_model* model) : handle_(model, &rung_model_close) {
    for (size_t i = 0; i < rung_model_input_count(model); ++i) {
      rung_port port{};
      if (rung_model_input(model, i, &port) == RUNG_OK) inputs_.push_back(detail::to_port(port));
    }
    for (size_t i = 0; i < rung_model_output_count(model); ++i) {
      rung_port port{};
      if (rung_model_output(model, i, &port) == RUNG_OK) outputs_.push_back(detail::to_port(port));
    }
  }

  // Returns the number of plans, one for each set of input shapes that the model serves. See rung_model_plan_count().
  size_t plan_count() const { return rung_model_plan_count(handle_.get()); }
  // Opens a model of that plan alone, over the same weights. See rung_model_plan().
  Result<Model> plan(size_t index) const {
    rung_model* plan = nullptr;
    if (auto code = rung_model_plan(handle_.get(), index, &plan)) return Status::of(code);
    return Model(plan);
  }

  // Returns a model that holds the plans of all of these, over weights that stand once. See rung_model_join().
  static Result<Model> join(const std::vector<Model>& models) {
    std::vector<const rung_model*> handles;
    for (const Model& model : models) handles.push_back(model.handle());
    rung_model* joined = nullptr;
    if (auto code = rung_model_join(handles.data(), handles.size(), &joined)) return Status::of(code);
    return Model(joined);
  }

  // The first plan's inputs and outputs, in its order; a frozen input is not among them.
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  // Returns the device that the model runs on.
  rung_device device() const { return rung_model_device(handle_.get()); }

  // Tokenizes a text with the model's own tokenizer: inputs of shape {1, length} each, and whether the text was cut.
  // See rung_model_encode_text().
  Result<Encoded> encode(std::string_view text, Truncate truncate = Truncate::cut) const {
    return encode_texts(text, {}, truncate);
  }
  // Does the same with two texts that the model reads together, such as a question and a passage.
  Result<Encoded> encode_pair(std::string_view first, std::string_view second,
                              Truncate truncate = Truncate::cut) const {
    return encode_texts(first, second.data() ? second : std::string_view(""), truncate);
  }

  // Returns the text of token ids, by the model's own tokenizer. See rung_model_decode().
  Result<std::string> decode(const std::vector<int64_t>& ids, DecodeOptions options = {}) const {
    return detail::decoded(ids, options, [&](const rung_decode_options& how, rung_text* place) {
      return rung_model_decode(handle_.get(), ids.data(), ids.size(), &how, place);
    });
  }

  // Writes the model's plans to a file (*.rung). See rung_model_save().
  Status save(const std::string& path) const {
    if (Status status = detail::check_nul("path", path); !status) return status;
    return Status::of(rung_model_save(handle_.get(), path.c_str()));
  }

  // Opens a session, which one thread runs; it may outlive this object.
  Result<Session> session() const;

  // Returns the handle for the C interface; this object still owns it.
  rung_model* handle() const { return handle_.get(); }

 private:
  // A second text without memory is none.
  Result<Encoded> encode_texts(std::string_view text, std::string_view second, Truncate truncate) const {
    rung_text_options c RUNG_TEXT_OPTIONS_INIT;
    c.bytes = text.size();
    c.truncate = static_cast<rung_truncate>(truncate);
    c.second = second.data();
    c.second_bytes = second.size();
    rung_tensors* made = nullptr;
    const char* data = text.data() ? text.data() : "";
    if (auto code = rung_model_encode_text(handle_.get(), data, &c, &made)) return Status::of(code);
    const std::unique_ptr<rung_tensors, detail::Closer<&rung_tensors_free>> owner(made);
    Encoded inputs;
    inputs.tokens = rung_tensors_text_tokens(made);
    inputs.kept = rung_tensors_text_kept(made);
    for (size_t i = 0; i < rung_tensors_count(made); ++i) {
      const rung_tensor tensor = rung_tensors_get(made, i);
      Tensor& input = inputs[rung_tensors_name(made, i)];
      input = {from_c(tensor.dtype), {tensor.shape, tensor.shape + tensor.ndim}, {}};
      const auto* bytes = static_cast<const std::byte*>(tensor.data);
      input.bytes.assign(bytes, bytes + detail::bytes_of(input.dtype, input.shape));
    }
    return inputs;
  }

  std::shared_ptr<rung_model> handle_;
  std::vector<Port> inputs_, outputs_;
};

// A model's launches with memory of their own. One thread at a time uses it.
class Session {
 public:
  // Selects, among the model's plans, the one that serves these shapes: the session runs it from now on, and the
  // functions below bind its inputs and outputs. See rung_session_select().
  Status select(const std::map<std::string, std::vector<int64_t>>& shapes) {
    for (const auto& [name, shape] : shapes)
      if (Status status = detail::check_nul("shapes", name); !status) return status;
    const auto c = detail::c_shapes(shapes);
    return Status::of(rung_session_select(handle_.get(), c.data(), c.size()));
  }
  // Returns the plan that the session runs.
  const Model& selected() const { return plans_[rung_session_selected(handle_.get())]; }

  // Binds that input or output to memory of the session's own, the same at every call: a control loop writes, calls
  // run() and reads. See rung_session_input() and rung_session_output().
  Result<Memory> input(std::string_view name, Place place = Place::host) {
    return own(selected().inputs(), name, place, &rung_model_find_input, &rung_session_input);
  }
  Result<Memory> output(std::string_view name, Place place = Place::host) {
    return own(selected().outputs(), name, place, &rung_model_find_output, &rung_session_output);
  }

  // Binds the caller's memory, which every run reads or writes until another is bound. See rung_session_bind_input().
  Status bind_input(std::string_view name, const rung_tensor& tensor) {
    return bind(name, &tensor, &rung_model_find_input, &rung_session_bind_input);
  }
  Status bind_output(std::string_view name, const rung_tensor& tensor) {
    return bind(name, &tensor, &rung_model_find_output, &rung_session_bind_output);
  }
  Status unbind_input(std::string_view name) {
    return bind(name, nullptr, &rung_model_find_input, &rung_session_bind_input);
  }
  Status unbind_output(std::string_view name) {
    return bind(name, nullptr, &rung_model_find_output, &rung_session_bind_output);
  }
  // Binds row-major values in host memory, as many as the port has, in its shape.
  template <Element T>
  Status bind_input(std::string_view name, std::span<const T> values) {
    return bind_values(selected().inputs(), name, values, [&](const rung_tensor& t) { return bind_input(name, t); });
  }
  template <Element T>
  Status bind_output(std::string_view name, std::span<T> values) {
    return bind_values(selected().outputs(), name, std::span<const T>(values),
                       [&](const rung_tensor& t) { return bind_output(name, t); });
  }

  // Runs one inference, complete on return. See rung_session_run().
  Status run() { return Status::of(rung_session_run(handle_.get())); }
  // Enqueues one inference in a stream of the caller's on a GPU. See rung_session_run_async().
  Status run_async(void* stream) { return Status::of(rung_session_run_async(handle_.get(), stream)); }
  // Waits until everything enqueued is done. See rung_session_wait().
  Status wait() { return Status::of(rung_session_wait(handle_.get())); }

  // Runs one inference from copies to copies: inputs left out take their defaults, `outputs` then holds the model's
  // outputs alone. An error leaves both unchanged. Whatever was bound before is unbound. Of several plans, the run
  // selects the one for the shapes of the inputs.
  Status run(const Tensors& inputs, Tensors& outputs) {
    if (plans_.size() > 1) {
      detail::Shapes shapes;
      for (const auto& [name, tensor] : inputs) shapes[name] = tensor.shape;
      if (Status status = select(shapes); !status) return status;
    }
    Status status = run_copies(inputs, outputs);
    for (size_t i = 0; i < model_.inputs().size(); ++i) (void)rung_session_bind_input(handle_.get(), i, nullptr);
    for (size_t i = 0; i < model_.outputs().size(); ++i) (void)rung_session_bind_output(handle_.get(), i, nullptr);
    return status;
  }

  // Returns the model that the session runs, and the handle for the C interface, which this object still owns.
  const Model& model() const { return model_; }
  rung_session* handle() const { return handle_.get(); }

 private:
  friend class Model;
  Session(Model model, std::vector<Model> plans, rung_session* session)
      : model_(std::move(model)), plans_(std::move(plans)), handle_(session) {}

  using Find = rung_status (*)(const rung_model*, const char*, size_t*);
  using Own = rung_status (*)(rung_session*, size_t, rung_device_type, rung_tensor*);
  using Bind = rung_status (*)(rung_session*, size_t, const rung_tensor*);

  Result<size_t> index_of(std::string_view name, Find find) const {
    if (Status status = detail::check_nul("a name", name); !status) return status;
    size_t index = 0;
    if (auto code = find(model_.handle(), std::string(name).c_str(), &index)) return Status::of(code);
    return index;
  }
  Result<Memory> own(const std::vector<Port>& ports, std::string_view name, Place place, Find find, Own take) {
    const Result<size_t> index = index_of(name, find);
    if (!index) return index.error();
    rung_tensor tensor{};
    const int32_t where = place == Place::host ? int32_t{RUNG_CPU} : model_.device().type;
    if (auto code = take(handle_.get(), *index, static_cast<rung_device_type>(where), &tensor)) return Status::of(code);
    return Memory{tensor.data, tensor.device, ports[*index]};
  }
  Status bind(std::string_view name, const rung_tensor* tensor, Find find, Bind take) {
    const Result<size_t> index = index_of(name, find);
    return index ? Status::of(take(handle_.get(), *index, tensor)) : index.error();
  }
  // `bind` reports an unknown name, whatever the shape.
  template <class T, class BindTensor>
  Status bind_values(const std::vector<Port>& ports, std::string_view name, std::span<const T> values,
                     const BindTensor& bind) {
    std::vector<int64_t> shape{static_cast<int64_t>(values.size())};
    for (const Port& port : ports)
      if (port.name == name && port.bytes == values.size_bytes()) shape = port.shape;
    return bind(detail::over(values.data(), dtype_of<T>(), shape));
  }

  Status run_copies(const Tensors& inputs, Tensors& outputs) {
    for (size_t i = 0; i < model_.inputs().size(); ++i) (void)rung_session_bind_input(handle_.get(), i, nullptr);
    for (const auto& [name, tensor] : inputs)
      if (Status bound = bind_copy(name, tensor); !bound) return bound;
    Tensors made;
    for (const Port& port : selected().outputs()) {
      Tensor& tensor = made[port.name] = {port.dtype, port.shape, std::vector<std::byte>(port.bytes)};
      if (Status bound = bind_output(port.name, detail::over(tensor.bytes.data(), port.dtype, tensor.shape)); !bound)
        return bound;
    }
    if (Status ran = run(); !ran) return ran;
    outputs = std::move(made);
    return {};
  }
  // A name that no input has may be a frozen input's, which takes only the value it is frozen at.
  Status bind_copy(const std::string& name, const Tensor& tensor) {
    if (Status status = detail::check_bytes(name, tensor); !status) return status;
    const rung_tensor over = detail::over(tensor.bytes.data(), tensor.dtype, tensor.shape);
    if (rung_model_is_frozen(model_.handle(), name.c_str()))
      return Status::of(rung_model_check_frozen(selected().handle(), name.c_str(), &over));
    return bind_input(name, over);
  }

  Model model_;
  std::vector<Model> plans_;  // of model_
  std::unique_ptr<rung_session, detail::Closer<&rung_session_close>> handle_;
};

inline Result<Session> Model::session() const {
  std::vector<Model> plans;
  for (size_t i = 0; i < plan_count(); ++i) {
    Result<Model> plan = this->plan(i);
    if (!plan) return plan.error();
    plans.push_back(std::move(*plan));
  }
  rung_session* session = nullptr;
  if (auto code = rung_session_open(handle_.get(), &session)) return Status::of(code);
  return Session(*this, std::move(plans), session);
}

}  // namespace rung::api
