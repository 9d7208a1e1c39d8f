// Makes weights on demand, for directories that have only config.json: right shapes and sensible scales, no file.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string_view>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "import/checkpoint.hpp"

namespace rung {
namespace {

// The scale of random values: value = mean + scale * normal.
struct Scale {
  float mean = 0, scale = 0.1f;
};

bool has(std::string_view name, std::string_view part) { return name.find(part) != name.npos; }

// Returns whether a name is a token or position table, but not the convolution that embeds patches.
bool is_table(std::string_view name) { return (has(name, "embed") || has(name, "pos_emb")) && !has(name, "patch"); }

// Returns whether a weight's values lie near 1; RMSNorm weights, which most models apply as 1 + w, do not.
bool is_layer_norm_weight(std::string_view name) {
  bool layer_norm = has(name, "LayerNorm") || has(name, "layer_norm") || has(name, "post_layernorm");
  return layer_norm && name.ends_with("weight");
}

Scale initial_scale(std::string_view name, const Shape& shape) {
  if (shape.rank() < 2) return is_layer_norm_weight(name) ? Scale{1.0f, 0.1f} : Scale{};
  if (is_table(name)) return {0, 0.02f};
  auto fan_in = static_cast<double>(std::max<int64_t>(1, shape.product() / std::max<int64_t>(1, shape[0])));
  return {0, static_cast<float>(1.0 / std::sqrt(fan_in))};
}

template <class T>
void fill(Tensor& tensor, uint64_t seed, Scale s) {
  auto out = tensor.as<T>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = T(s.mean + s.scale * random_normal_fast(seed, i));
}

class RandomWeight : public Weight {
 public:
  RandomWeight(std::string name, Type type, uint64_t seed)
      : Weight(std::move(name), type), seed_(hash_text(this->name(), seed)) {}

  Result<Tensor> load() const override {
    Tensor tensor(type());
    Scale scale = initial_scale(name(), type().shape);
    switch (type().dtype) {
      case DType::f32:
        fill<float>(tensor, seed_, scale);
        break;
      case DType::f16:
        fill<f16>(tensor, seed_, scale);
        break;
      case DType::bf16:
        fill<bf16>(tensor, seed_, scale);
        break;
      default:
        return fail("random weights: got dtype {}, wanted f32, f16 or bf16", type().dtype);
    }
    return tensor;
  }

 private:
  uint64_t seed_;
};

class RandomCheckpoint : public Checkpoint {
 public:
  RandomCheckpoint(uint64_t seed, DType dtype) : seed_(seed), dtype_(dtype) {}
  Result<std::shared_ptr<const Weight>> get(const std::string& name, const Shape& shape) const override {
    return std::make_shared<RandomWeight>(name, Type{dtype_, shape}, seed_);
  }
  bool contains(const std::string&) const override { return true; }
  std::vector<std::string> names() const override { return {}; }
  std::optional<Type> type(const std::string&) const override { return std::nullopt; }

 private:
  uint64_t seed_;
  DType dtype_;
};

}  // namespace

std::unique_ptr<Checkpoint> random_checkpoint(uint64_t seed, DType dtype) {
  return std::make_unique<RandomCheckpoint>(seed, dtype);
}

}  // namespace rung
