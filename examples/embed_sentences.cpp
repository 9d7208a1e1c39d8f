// Embeds sentences with a sentence encoder and prints how alike they are: embed_sentences MODEL|PLAN SENTENCE...
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <numeric>
#include <rung/rung.hpp>

namespace {

using rung::api::Model;
using rung::api::Status;
using rung::api::Tensors;
using Embedding = std::vector<float>;

// The model normalises its embeddings, so that their product is the cosine.
float similarity(const Embedding& a, const Embedding& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0f);
}

Status embed(Model& model, const char* sentence, Embedding& embedding) {
  Tensors inputs, outputs;
  if (Status status = model.encode(sentence, inputs); !status) return status;
  if (Status status = model.run(inputs, outputs); !status) return status;
  auto found = outputs.find("sentence_embedding");
  if (found == outputs.end()) return Status("the model gives no 'sentence_embedding'");
  embedding = found->second.values<float>();
  return {};
}

int fail(const Status& status) {
  std::fprintf(stderr, "embed_sentences: %s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return fail(Status("wanted MODEL|PLAN SENTENCE..."));
  Model model;
  if (Status status = model.open(arguments[1]); !status) return fail(status);
  std::vector<Embedding> embeddings;
  for (int i = 2; i < count; ++i)
    if (Status status = embed(model, arguments[i], embeddings.emplace_back()); !status) return fail(status);
  for (const Embedding& a : embeddings) {
    for (const Embedding& b : embeddings) std::printf("%8.4f", static_cast<double>(similarity(a, b)));
    std::printf("\n");
  }
}
