// A compiled shard, memory-mapped: sentences ready to decode, with references and task labels.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "grammar/problem.hh"
#include "grammar/rules.hh"
#include "grammar/source_index.hh"
#include "shards/shard_format.hh"

namespace itersel {

// A feature of a shard by the id that it has between processes, a hash of its name.
struct FeatureId {
  std::uint64_t hash;
  std::uint32_t feature;
};

class Shard {
 public:
  // Maps and checks the file. A truncated, altered or foreign file is an InputError that names it.
  static std::shared_ptr<const Shard> open(const std::string& path);

  std::uint32_t size() const { return static_cast<std::uint32_t>(sentences_.size()); }
  const Lexicon& lexicon() const { return lexicon_; }
  const RuleTable& table() const { return table_; }
  const ModelRecord& model() const { return model_; }
  std::uint64_t checksum() const { return checksum_; }
  // All features, ascending by hash; put together when first asked for, by whichever thread. Two of one hash are an
  // InputError.
  const std::vector<FeatureId>& feature_ids() const;

  std::string_view id(std::uint32_t sentence) const { return ids_[sentence]; }
  std::string_view task(std::uint32_t sentence) const { return tasks_[sentences_[sentence].task]; }
  std::vector<std::vector<std::uint32_t>> references(std::uint32_t sentence) const;
  std::vector<std::uint32_t> rules(std::uint32_t sentence) const;
  std::string text(const std::uint32_t* words, std::size_t count) const;
  const std::uint32_t* words(std::uint32_t sentence) const { return numbers_.data() + sentences_[sentence].words; }
  std::uint32_t word_count(std::uint32_t sentence) const { return sentences_[sentence].word_count; }

  // Fills everything but the weights and the language model's numbers; `index` is rebuilt for the sentence.
  void pose(std::uint32_t sentence, SourceIndex& index, Problem& problem) const;

 private:
  class Mapping;

  template <class T>
  Column<T> column(Section section) const;
  StringTable strings(Section bytes, Section offsets) const;
  void validate() const;
  [[noreturn]] void fail(const std::string& message) const;

  std::string path_;
  std::shared_ptr<const Mapping> mapping_;
  std::uint64_t checksum_ = 0;
  Lexicon lexicon_;
  RuleTable table_;
  ModelRecord model_{};
  Column<SentenceRecord> sentences_;
  Column<std::uint8_t> rule_lists_;
  Column<std::uint32_t> numbers_;
  Column<Range> references_;
  StringTable ids_, tasks_;
  mutable std::once_flag hashed_;
  mutable std::vector<FeatureId> feature_ids_;
};

}  // namespace itersel
