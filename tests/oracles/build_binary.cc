// Writes a KenLM binary of the given kind: `build_binary kind model.arpa model.binary`. For tests only.
#include <string>

#include "lm/model.hh"

namespace {

template <class Model>
void build(const char* arpa, lm::ngram::Config& config) {
  Model model(arpa, config);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const std::string kind = arguments[1];
  lm::ngram::Config config;
  config.write_mmap = arguments[3];
  config.messages = nullptr;
  config.show_progress = false;
  config.building_memory = 1 << 20;
  using namespace lm::ngram;
  if (kind == "probing") {
    build<ProbingModel>(arguments[2], config);
  } else if (kind == "rest") {
    config.rest_function = Config::REST_MAX;
    build<RestProbingModel>(arguments[2], config);
  } else if (kind == "trie") {
    build<TrieModel>(arguments[2], config);
  } else if (kind == "quantised") {
    build<QuantTrieModel>(arguments[2], config);
  } else if (kind == "array") {
    build<ArrayTrieModel>(arguments[2], config);
  } else if (kind == "quantised-array") {
    build<QuantArrayTrieModel>(arguments[2], config);
  } else {
    return 2;
  }
  return 0;
}
