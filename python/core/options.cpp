// Reads mappings and sequences; what does not fit is a usage error that says what would.
// SPDX-License-Identifier: Apache-2.0
#include "core/options.hpp"

#include "core/errors.hpp"

namespace rung::python {
namespace {

std::vector<int64_t> integers(nb::handle name, nb::handle sequence) {
  std::vector<int64_t> values;
  try {
    for (nb::handle extent : nb::iter(sequence)) values.push_back(nb::cast<int64_t>(extent));
  } catch (std::exception&) {
    raise(RUNG_USAGE, "shapes: got " + shown(sequence) + " for '" + text_of(name) +
                          "', wanted a sequence of integers, such as (1, 128)");
  }
  return values;
}

nb::list items_of(nb::handle mapping, const char* what) {
  if (!nb::hasattr(mapping, "items"))
    raise(RUNG_USAGE, std::string(what) + ": got " + shown(mapping) + ", wanted a mapping by name");
  return nb::list(mapping.attr("items")());
}

int64_t token_id(nb::handle id) {
  const nb::object number = nb::steal(PyNumber_Index(id.ptr()));
  int overflow = 0;
  const long long value = number.is_valid() ? PyLong_AsLongLongAndOverflow(number.ptr(), &overflow) : 0;
  PyErr_Clear();
  if (number.is_valid() && !overflow) return value;
  raise(RUNG_USAGE, "ids: got " + shown(id) + ", wanted a sequence of ints of 64 bits");
}

nb::object item(const nb::dict& from, const char* name) {
  return from.contains(name) ? nb::object(from[name]) : nb::none();
}

}  // namespace

std::vector<int64_t> token_ids(nb::handle ids) {
  std::vector<int64_t> numbers;
  if (!PySequence_Check(ids.ptr()) || nb::isinstance<nb::str>(ids) || nb::isinstance<nb::bytes>(ids))
    raise(RUNG_USAGE, "ids: got a " + text_of(nb::type_name(ids.type())) + ", wanted a sequence of ints");
  for (const nb::handle id : ids) numbers.push_back(token_id(id));
  return numbers;
}

OpenOptions::OpenOptions(const nb::dict& from) {
  if (nb::object device = item(from, "device"); !device.is_none()) {
    device_ = c_text_of(nb::str(device), "device");
    options_.device = device_.c_str();
  }
  if (nb::object dtype = item(from, "dtype"); !dtype.is_none()) {
    dtype_ = c_text_of(nb::str(dtype), "dtype");
    options_.dtype = dtype_.c_str();
  }
  if (nb::object threads = item(from, "threads"); !threads.is_none())
    if (!nb::try_cast(threads, options_.threads))
      raise(RUNG_USAGE, "threads: got " + shown(threads) + ", wanted an integer from 0 to 1024");
  if (nb::object drop = item(from, "drop_head"); !drop.is_none())
    if (!nb::try_cast(drop, options_.drop_head)) raise(RUNG_USAGE, "drop_head: got " + shown(drop) + ", wanted a bool");
  if (nb::object trust = item(from, "trust_code"); !trust.is_none())
    if (!nb::try_cast(trust, options_.trust_code))
      raise(RUNG_USAGE, "trust_code: got " + shown(trust) + ", wanted a bool");
  if (nb::object shapes = item(from, "shapes"); !shapes.is_none())
    for (nb::handle pair : items_of(shapes, "shapes")) shapes_.add(pair[0], pair[1]);
  options_.shapes = shapes_.data();
  options_.shape_count = shapes_.size();
}

void NamedShapes::add(nb::handle name, nb::handle extents) {
  names_.push_back(c_text_of(name, "shapes"));
  extents_.push_back(integers(name, extents));
  shapes_.push_back({names_.back().c_str(), extents_.back().data(), static_cast<int32_t>(extents_.back().size())});
}

NamedArrays::NamedArrays(nb::handle mapping, const char* kind) {
  if (mapping.is_none()) return;
  for (nb::handle pair : items_of(mapping, kind)) {
    names_.push_back(c_text_of(pair[0], kind));
    const Borrowed& array = arrays_.emplace_back(pair[1], Place{kind, names_.back().c_str()}, false);
    if (array.on_device())
      raise(RUNG_MISMATCH,
            std::string(kind) + " '" + names_.back() + "': got a tensor on a device, wanted host memory");
    tensors_.push_back({names_.back().c_str(), &array.tensor()});
  }
}

Words::Words(nb::handle sequence) {
  if (sequence.is_none()) return;
  if (nb::isinstance<nb::str>(sequence))
    raise(RUNG_USAGE, "got the text " + shown(sequence) + ", wanted a sequence of names");
  for (nb::handle word : nb::iter(sequence)) {
    words_.push_back(c_text_of(word, "a name"));
    pointers_.push_back(words_.back().c_str());
  }
}

}  // namespace rung::python
