#include "decode/workspace.hh"

#include "decode/scorer.hh"
#include "decode/search.hh"

namespace itersel {
namespace {

template <class Model>
class NgramWorkspace : public Workspace {
 public:
  NgramWorkspace(const Model& model, const SearchOptions& options) : scorer_(model), search_(scorer_, options) {}

  void search(const Problem& problem, double lm_weight) override {
    scorer_.set_weight(lm_weight);
    search_.run(problem, graph);
  }

 private:
  NgramScorer<Model> scorer_;
  Search<NgramScorer<Model>> search_;
};

class PlainWorkspace : public Workspace {
 public:
  explicit PlainWorkspace(const SearchOptions& options) : search_(scorer_, options) {}

  void search(const Problem& problem, double) override { search_.run(problem, graph); }

 private:
  NoScorer scorer_;
  Search<NoScorer> search_;
};

}  // namespace

std::unique_ptr<Workspace> Workspace::make(const LanguageModel* model, const SearchOptions& options) {
  if (!model) return std::make_unique<PlainWorkspace>(options);
  return model->visit([&](const auto& concrete) -> std::unique_ptr<Workspace> {
    return std::make_unique<NgramWorkspace<std::decay_t<decltype(concrete)>>>(concrete, options);
  });
}

}  // namespace itersel
