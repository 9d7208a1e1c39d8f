// Unpacks weights of few bits when they are loaded: until then a model holds the bytes of its file.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/block_codes.hpp"

#include "ir/grouped_weight.hpp"

namespace rung::onnx {
namespace {

class UnpackedWeight : public Weight {
 public:
  UnpackedWeight(SharedWeight packed, int bits, const Shape& to)
      : Weight(packed->name(), {DType::u8, to}), packed_(std::move(packed)), bits_(bits) {}

  Result<Tensor> load() const override {
    RUNG_TRY(const Tensor packed, packed_->load());
    Tensor codes(type());
    const auto count = static_cast<size_t>(type().shape.back()), each = static_cast<size_t>(8 / bits_);
    const size_t row_bytes = (count + each - 1) / each, mask = (size_t{1} << bits_) - 1;
    const auto bytes = packed.as<uint8_t>();
    const auto out = codes.as<uint8_t>();
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t row = i / count, column = i % count;
      const size_t shift = column % each * static_cast<size_t>(bits_);
      out[i] = static_cast<uint8_t>(bytes[row * row_bytes + column / each] >> shift & mask);
    }
    return codes;
  }

 private:
  SharedWeight packed_;
  int bits_;
};

Result<Tensor> floats(const SharedWeight& weight) {
  RUNG_TRY(const Tensor value, weight->load());
  return convert(value, DType::f32);
}

constexpr int kMiddle = 8;  // of codes of 4 bits: what products take from each

// Numbers that are added to those of 4 bits: 8 - zero.
class OffsetWeight : public Weight {
 public:
  OffsetWeight(SharedWeight zeros, const std::string& name, const Shape& shape)
      : Weight(name, {DType::i8, shape}), zeros_(std::move(zeros)) {}

  Result<Tensor> load() const override {
    Tensor offsets(type());
    if (!zeros_) return offsets;
    RUNG_TRY(const Tensor zeros, zeros_->load());
    const auto from = zeros.as<uint8_t>();
    for (size_t i = 0; i < from.size(); ++i) offsets.as<int8_t>()[i] = static_cast<int8_t>(kMiddle - from[i]);
    return offsets;
  }

 private:
  SharedWeight zeros_;
};

// Floats of blocks of codes. `Base`: Weight or GroupedWeight.
template <class Base>
class BlockWeight : public Base {
 public:
  template <class... Groups>
  BlockWeight(BlockCodes blocks, const Type& type, Groups... groups)
      : Base(blocks.codes->name(), type, std::move(groups)...), blocks_(std::move(blocks)) {}

  Result<Tensor> load() const override {
    const Type& type = this->type();
    RUNG_TRY(const Tensor codes, blocks_.codes->load());
    RUNG_TRY(const Tensor scales, floats(blocks_.scales));
    Tensor zeros;
    if (blocks_.zeros) {
      RUNG_TRY(zeros, floats(blocks_.zeros));
    }
    Tensor out({DType::f32, type.shape});
    const int64_t columns = out.shape()[1], stride = codes.shape().back();
    const int64_t blocks = scales.elements() / out.shape()[0];
    for (int64_t i = 0; i < out.elements(); ++i) {
      const int64_t row = i / columns, column = i % columns;
      const auto block = static_cast<size_t>(row * blocks + column / blocks_.block);
      const float zero = blocks_.zeros ? std::as_const(zeros).as<float>()[block] : blocks_.zero;
      const float code = codes.as<uint8_t>()[static_cast<size_t>(row * stride + column)];
      out.as<float>()[static_cast<size_t>(i)] = (code - zero) * scales.as<float>()[block];
    }
    return convert(out, type.dtype);
  }

 private:
  BlockCodes blocks_;
};

// Returns whether linear() has a form for the blocks: of 4 bits, without rest, all of f32 but zeros of the same codes.
bool has_groups(const BlockCodes& blocks, const Type& type) {
  return blocks.packed && type.dtype == DType::f32 && type.shape[1] % blocks.block == 0 && blocks.zero == kMiddle &&
         blocks.scales->type().dtype == DType::f32 && (!blocks.zeros || blocks.zeros->type().dtype == DType::u8);
}

}  // namespace

SharedWeight unpacked_codes(SharedWeight packed, int bits, const Shape& to) {
  return std::make_shared<UnpackedWeight>(std::move(packed), bits, to);
}

SharedWeight dequantised_blocks(BlockCodes blocks, const Type& type) {
  if (!has_groups(blocks, type)) return std::make_shared<BlockWeight<Weight>>(std::move(blocks), type);
  const Shape each{type.shape[0], type.shape[1] / blocks.block};
  auto offsets = std::make_shared<OffsetWeight>(blocks.zeros, blocks.codes->name() + ".offsets", each);
  const GroupedWeight::Groups groups{blocks.packed, blocks.scales, std::move(offsets)};
  return std::make_shared<BlockWeight<GroupedWeight>>(std::move(blocks), type, groups);
}

namespace {

class NamedWeight : public Weight {
 public:
  NamedWeight(NamedFloats floats, const Type& type) : Weight(floats.codes->name(), type), of_(std::move(floats)) {}

  Result<Tensor> load() const override {
    RUNG_TRY(const Tensor codes, of_.codes->load());
    RUNG_TRY(const Tensor scales, floats(of_.scales));
    Tensor out({DType::f32, type().shape});
    for (int64_t i = 0; i < out.elements(); ++i) {
      const unsigned pair = codes.as<uint8_t>()[static_cast<size_t>(i / 2)];
      const unsigned code = i % 2 == 0 ? pair >> 4 : pair & 15;
      out.as<float>()[static_cast<size_t>(i)] =
          of_.table[code] * scales.as<float>()[static_cast<size_t>(i / of_.block)];
    }
    return convert(out, type().dtype);
  }

 private:
  NamedFloats of_;
};

}  // namespace

SharedWeight named_floats(NamedFloats floats, const Type& type) {
  return std::make_shared<NamedWeight>(std::move(floats), type);
}

}  // namespace rung::onnx
