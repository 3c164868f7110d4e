// Compiles sentences with their references, task labels and grammars into one shard file. Rules that sentences share
// are stored once; each sentence lists the ids of its rules.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash_index.hh"
#include "grammar/grammar.hh"
#include "grammar/sentence.hh"
#include "shards/shard_format.hh"

namespace itersel {

class ShardBuilder {
 public:
  ShardBuilder(const TemplateOptions& templates, const ModelNames& names, PassThrough pass_through);

  // `grammar` must have been parsed with the same names. Template features are made here, once for each distinct rule;
  // those that the grammar may have are not looked at.
  void add(std::string_view id, std::string_view task, const std::vector<std::string_view>& words,
           const std::vector<std::vector<std::string_view>>& references, const Grammar& grammar);

  // The file's bytes. The builder is used up.
  std::string finish();

 private:
  // Numbers of a grammar's strings in the shard's tables, made when first asked for.
  class Renumbering {
   public:
    Renumbering(const StringTable& from, StringTable& to)
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
  void append_templates(Rule& rule, const std::vector<Symbol>& target);
  void copy_rules(const Grammar& grammar, std::vector<std::uint32_t>& rules);
  std::uint32_t pass_through_rule(std::uint32_t word);
  std::vector<std::uint32_t> sort_rules(Column<Rule>& sorted) const;

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
  HashIndex patterns_by_hash_, rules_by_hash_;
  std::unordered_map<std::uint32_t, std::uint32_t> pass_through_rules_;  // by word
  std::vector<SentenceRecord> sentences_;
  std::vector<std::vector<std::uint32_t>> sentence_rules_;
  std::vector<std::uint32_t> numbers_;
  std::vector<Range> references_;
  StringTable tasks_;
  std::string id_bytes_;
  std::vector<std::uint32_t> id_offsets_{0};
};

}  // namespace itersel
