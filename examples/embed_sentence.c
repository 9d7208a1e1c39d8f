// Embeds one sentence with a sentence encoder and prints the first values: embed_sentence MODEL|PLAN SENTENCE
// SPDX-License-Identifier: Apache-2.0
#include <rung/rung.h>
#include <stdio.h>

// Binds what the tokenizer made of the sentence, by the model's own names.
static rung_status bind(const rung_model* model, rung_session* session, const rung_tensors* inputs) {
  for (size_t i = 0; i < rung_tensors_count(inputs); ++i) {
    size_t index = 0;
    const rung_tensor values = rung_tensors_get(inputs, i);
    rung_status status = rung_model_find_input(model, rung_tensors_name(inputs, i), &index);
    if (status == RUNG_OK) status = rung_session_bind_input(session, index, &values);
    if (status != RUNG_OK) return status;
  }
  return RUNG_OK;
}

// The session's own memory holds the embedding after each run.
static rung_status embed(const rung_model* model, rung_session* session, const char* sentence, rung_tensor* embedding) {
  rung_tensors* inputs = NULL;
  size_t index = 0;
  rung_status status = rung_model_find_output(model, "sentence_embedding", &index);
  if (status == RUNG_OK) status = rung_session_output(session, index, RUNG_CPU, embedding);
  if (status == RUNG_OK) status = rung_model_encode(model, sentence, &inputs);
  if (status == RUNG_OK) status = bind(model, session, inputs);
  if (status == RUNG_OK) status = rung_session_run(session);
  rung_tensors_free(inputs);
  return status;
}

int main(int count, char** arguments) {
  rung_model* model = NULL;
  rung_session* session = NULL;
  rung_tensor embedding;
  if (count != 3) {
    fprintf(stderr, "embed_sentence: wanted MODEL|PLAN SENTENCE\n");
    return 2;
  }
  rung_status status = rung_model_open(arguments[1], NULL, &model);
  if (status == RUNG_OK) status = rung_session_open(model, &session);
  if (status == RUNG_OK) status = embed(model, session, arguments[2], &embedding);
  if (status == RUNG_OK) {
    const int64_t width = embedding.shape[embedding.ndim - 1];
    for (int64_t i = 0; i < width && i < 4; ++i) printf("%9.5f", (double)((const float*)embedding.data)[i]);
    printf("\n");
  } else {
    fprintf(stderr, "embed_sentence: %s\n", rung_error());
  }
  rung_session_close(session);
  rung_model_close(model);
  return status == RUNG_OK ? 0 : 1;
}
