// Compiles sentences with their references, domain labels and grammars into one shard file. What rules of all sentences
// have in common is stored once: a form is a rule without its values. Each sentence has a block of its own, which lists
// the forms of its rules and their values.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash_index.hh"
#include "grammar/grammar.hh"
#include "grammar/sentence.hh"
#include "shards/sentence_block.hh"
#include "shards/shard_file.hh"

namespace itersel {

class ShardBuilder {
 public:
  ShardBuilder(const TemplateOptions& templates, const ModelNames& names, PassThrough pass_through);

  // `grammar` must have been parsed with the same names. Template features are made here, once for each distinct rule;
  // those that the grammar may have are not looked at.
  void add(std::string_view id, std::string_view domain, const std::vector<std::string_view>& words,
           const std::vector<std::vector<std::string_view>>& references, const Grammar& grammar);

  // The file's bytes. The builder is used up.
  std::string finish();

 private:
  struct SentenceRecord {
    std::uint32_t words, word_count;  // into numbers_; the pass-through rules follow the words
    std::uint32_t references, reference_count;
    std::uint32_t domain;
  };

  // Numbers of a grammar's strings in the shard's tables, made when first asked for.
  class StringNumbers {
   public:
    StringNumbers(const StringTable& from, StringTable& to)
        : from_(from), to_(to), ids_(from.size(), StringTable::kNone) {}
    std::uint32_t operator()(std::uint32_t id) {
      if (ids_[id] == StringTable::kNone) ids_[id] = to_.intern(from_[id]);
      return ids_[id];
    }

   private:
    const StringTable& from_;
    StringTable& to_;
    std::vector<std::uint32_t> ids_;
  };

  std::uint32_t intern_pattern(const std::vector<Symbol>& symbols);
  std::uint32_t intern_rule(Rule rule, const std::vector<Symbol>& target, const std::vector<float>& values,
                            const Link* links);
  std::uint32_t intern_form(Rule form, const std::vector<Symbol>& target, const Link* links);
  void append_templates(Rule& rule, const std::vector<Symbol>& target);
  void copy_rules(const Grammar& grammar, std::vector<std::uint32_t>& rules);
  std::uint32_t pass_through_rule(std::uint32_t word);
  // Notes a rule that `own_` made; returns its number among the decoder's own.
  std::uint32_t add_own(std::uint32_t rule);
  // The forms pattern by pattern; `place` gets the new place of each.
  FormTable sort_forms(std::vector<std::uint32_t>& place) const;
  void write_forms(ShardFileWriter& file) const;
  std::string write_sentences() const;

  TemplateOptions templates_;
  ModelNames names_;
  PassThrough pass_through_;
  Lexicon lexicon_;
  RuleTable table_;
  SchemaInterner schemas_;
  std::uint32_t goal_, default_nonterminal_;
  OwnRules<StringTable, StringTable> own_;
  ModelRecord model_{};
  TemplateNamer<StringTable, StringTable> namer_;
  std::uint32_t named_pattern_ = StringTable::kNone;  // whose source side the namer has
  std::vector<std::uint32_t> template_ids_;
  HashIndex patterns_by_hash_, rules_by_hash_, forms_by_hash_;
  std::vector<Rule> forms_;                // their values say nothing
  std::vector<std::uint32_t> rule_forms_;  // by rule
  std::vector<std::uint32_t> own_rules_;
  std::unordered_map<std::uint32_t, std::uint32_t> pass_through_rules_;  // by word, among own_rules_
  std::vector<SentenceRecord> sentences_;
  std::vector<std::vector<std::uint32_t>> sentence_rules_;
  std::vector<std::uint32_t> numbers_;
  std::vector<Range> references_;
  StringTable domains_;
  std::string id_bytes_;
  std::vector<std::uint32_t> id_offsets_{0};
};

}  // namespace itersel
