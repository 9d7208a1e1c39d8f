// Reads the beginning of a text once, and writes several texts that go on from it: continue_text MODEL|PLAN TEXT
// [COUNT]
// SPDX-License-Identifier: Apache-2.0
#include <rung/rung.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

using rung::api::Generation;
using rung::api::LanguageModel;
using rung::api::Piece;
using rung::api::Result;
using rung::api::Status;
using rung::api::TextSession;

// Writes a text as it is made.
Status write_text(Result<Generation> generation) {
  if (!generation) return generation.error();
  for (;;) {
    const Result<std::optional<Piece>> piece = generation->next();
    if (!piece) return piece.error();
    if (!*piece) break;
    std::fwrite((*piece)->text.data(), 1, (*piece)->text.size(), stdout);
    std::fflush(stdout);
  }
  std::printf("\n");
  return {};
}

Status continue_text(const char* path, const char* beginning, int count) {
  const Result<LanguageModel> model = LanguageModel::open(path);
  if (!model) return model.error();
  const auto tokens = model->tokens({.text = beginning});
  if (!tokens) return tokens.error();
  Result<TextSession> session = model->session();
  if (!session) return session.error();
  if (const auto scores = session->feed(*tokens); !scores) return scores.error();
  for (int seed = 0; seed < count; ++seed) {
    Result<TextSession> fork = session->fork();
    if (!fork) return fork.error();
    if (Status status = write_text(fork->generate({}, {.most = 64, .seed = static_cast<uint64_t>(seed)})); !status)
      return status;
  }
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3 || count > 4) {
    std::fprintf(stderr, "continue_text: wanted MODEL|PLAN TEXT [COUNT]\n");
    return 2;
  }
  const Status status = continue_text(arguments[1], arguments[2], count > 3 ? std::atoi(arguments[3]) : 3);
  if (!status) std::fprintf(stderr, "continue_text: %s\n", status.message().c_str());
  return status ? 0 : 1;
}
