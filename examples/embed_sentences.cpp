// Embeds sentences with a sentence encoder and prints how alike they are: embed_sentences MODEL|PLAN SENTENCE...
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <numeric>
#include <rung/rung.hpp>

namespace {

using namespace rung::api;
using Embedding = std::vector<float>;

// The model normalises its embeddings, so that their product is the cosine.
float similarity(const Embedding& a, const Embedding& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0f);
}

Result<Embedding> embed(Session& session, const char* sentence) {
  Result<Tensors> inputs = session.model().encode(sentence);
  if (!inputs) return inputs.error();
  Tensors outputs;
  if (Status status = session.run(*inputs, outputs); !status) return status;
  auto found = outputs.find("sentence_embedding");
  if (found == outputs.end()) return Status(Kind::mismatch, "the model gives no 'sentence_embedding'");
  return found->second.values<float>();
}

int fail(const Status& status) {
  std::fprintf(stderr, "embed_sentences: %s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return fail({Kind::usage, "wanted MODEL|PLAN SENTENCE..."});
  Result<Model> model = Model::open(arguments[1]);
  if (!model) return fail(model.error());
  Result<Session> session = model->session();
  if (!session) return fail(session.error());
  std::vector<Embedding> embeddings;
  for (int i = 2; i < count; ++i) {
    Result<Embedding> embedding = embed(*session, arguments[i]);
    if (!embedding) return fail(embedding.error());
    embeddings.push_back(*embedding);
  }
  for (const Embedding& a : embeddings) {
    for (const Embedding& b : embeddings) std::printf("%8.4f", static_cast<double>(similarity(a, b)));
    std::printf("\n");
  }
}
