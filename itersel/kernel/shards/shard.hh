// A compiled shard: sentences with references and domain labels, and their rules. The file is mapped, and parts are
// decompressed when they are needed: what the rules of all sentences share when the first is asked for, the rules of a
// sentence when it is its turn. So a shard that is only looked up takes little memory.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "grammar/problem.hh"
#include "grammar/rules.hh"
#include "grammar/source_index.hh"
#include "shards/sentence_block.hh"
#include "shards/shard_file.hh"

namespace itersel {

// A feature of a shard by the id that it has between processes, a hash of its name.
struct FeatureId {
  std::uint64_t hash;
  std::uint32_t feature;
};

// The rules of one sentence at a time, for one thread. `table` has rules and values of its own; it sees the rest in the
// shard, which must live as long.
class SentenceRules {
 public:
  RuleTable table;
  std::vector<std::uint32_t> ids;  // of all rules, ascending: pattern by pattern

 private:
  friend class Shard;
  Decompressor decompressor_;
  BlockReader reader_;
  std::vector<Rule> rules_;
  std::vector<float> values_;
};

class Shard {
 public:
  // Maps and checks the file. A truncated, altered or foreign file is an InputError that names it.
  static std::shared_ptr<const Shard> open(const std::string& path);

  std::uint32_t size() const { return static_cast<std::uint32_t>(sentences_.size()); }
  const Lexicon& lexicon() const {
    read_shared();
    return lexicon_;
  }
  const ModelRecord& model() const { return model_; }
  std::uint64_t checksum() const { return file_->checksum(); }
  // All features, ascending by hash; put together when first asked for, by whichever thread. Two of one hash are an
  // InputError.
  const std::vector<FeatureId>& feature_ids() const;

  std::string_view id(std::uint32_t sentence) const { return ids_[sentence]; }
  std::string_view domain(std::uint32_t sentence) const { return domains_[sentences_[sentence].domain]; }
  std::vector<std::vector<std::uint32_t>> references(std::uint32_t sentence) const;
  // Replaces the rules by the sentence's. A block that does not fit the shard is an InputError that names both.
  void load(std::uint32_t sentence, SentenceRules& rules) const;
  std::string text(const std::uint32_t* words, std::size_t count) const;
  const std::uint32_t* words(std::uint32_t sentence) const { return numbers_.data() + sentences_[sentence].words; }
  std::uint32_t word_count(std::uint32_t sentence) const { return sentences_[sentence].word_count; }

  // Fills everything but the weights and the language model's numbers; `rules` and `index` are made for the sentence.
  void pose(std::uint32_t sentence, SentenceRules& rules, SourceIndex& index, Problem& problem) const;

 private:
  struct SentenceRecord {
    std::uint32_t words, word_count;  // into numbers_; the pass-through rules follow the words
    std::uint32_t references, reference_count;
    std::uint32_t domain;
  };

  // Features, forms and own rules, once, by whichever thread.
  void read_shared() const {
    std::call_once(shared_, [this] { const_cast<Shard*>(this)->read_shared_sections(); });
  }
  void read_shared_sections();

  // Reading the sections; each checks its numbers, so that nothing is followed out of bounds later.
  StringTable strings(Section section, Decompressor& decompressor) const;
  void read_model(Decompressor& decompressor);
  void read_patterns(Decompressor& decompressor);
  void read_schemas(Decompressor& decompressor);
  void read_forms();
  void read_form_patterns(VarintReader codes, std::vector<std::uint32_t>& patterns);
  void read_own_rules(Decompressor& decompressor);
  void read_sentences(Decompressor& decompressor);
  void check(bool good, const char* what) const {
    if (!good) file_->fail(std::string("the shard's ") + what + " do not fit together");
  }

  std::unique_ptr<const ShardFile> file_;
  Lexicon lexicon_;
  RuleTable table_;  // its rules are the decoder's own: glue and pass-through
  FormTable forms_;
  ModelRecord model_{};
  std::vector<SentenceRecord> sentences_;
  std::vector<std::uint32_t> numbers_;
  std::vector<Range> references_;
  StringTable ids_, domains_;
  mutable std::once_flag shared_, hashed_;
  mutable std::vector<FeatureId> feature_ids_;
};

}  // namespace itersel
