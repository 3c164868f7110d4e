#include "shards/shard_builder.hh"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "base/error.hh"
#include "base/varint.hh"
#include "shards/template_coder.hh"

namespace itersel {
namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ull;

template <class T>
std::uint64_t hash_more(std::uint64_t hash, const T* data, std::size_t count) {
  static_assert(sizeof(T) == 4);
  for (std::size_t at = 0; at < count; ++at) {
    std::uint32_t word;
    std::memcpy(&word, data + at, 4);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  }
  return hash;
}

std::string string_section(std::uint32_t count, const std::uint32_t* offsets, std::string_view text) {
  std::string bytes;
  append_varint(bytes, count);
  for (std::uint32_t at = 0; at < count; ++at) append_varint(bytes, offsets[at + 1] - offsets[at]);
  return bytes += text;
}

std::string string_section(const StringTable& strings) {
  return string_section(strings.size(), strings.offsets().data(), {strings.bytes().data(), strings.bytes().size()});
}

}  // namespace

ShardBuilder::ShardBuilder(const TemplateOptions& templates, const ModelNames& names, PassThrough pass_through)
    : templates_(templates),
      names_(names),
      pass_through_(pass_through),
      goal_(lexicon_.labels.intern(names.goal)),
      default_nonterminal_(lexicon_.labels.intern(names.default_nonterminal)),
      own_(lexicon_, goal_, default_nonterminal_, templates_, lexicon_.words, lexicon_.features, table_, schemas_),
      namer_(templates_, lexicon_.words, lexicon_.labels, lexicon_.features) {
  model_.goal = goal_;
  model_.default_nonterminal = default_nonterminal_;
  model_.glue_first = add_own(own_.glue_first());
  model_.glue_next = add_own(own_.glue_next());
  model_.word_penalty = lexicon_.features.intern("WordPenalty");
  model_.language_model = lexicon_.features.intern("LanguageModel");
  model_.unknown_words = lexicon_.features.intern("LanguageModel_OOV");
  model_.templates =
      templates.identity | templates.source_bigrams << 1 | templates.target_bigrams << 2 | templates.shape << 3;
  model_.pass_through_all = pass_through == PassThrough::kAll;
}

std::uint32_t ShardBuilder::intern_pattern(const std::vector<Symbol>& symbols) {
  std::uint64_t hash = hash_more(symbols.size(), symbols.data(), symbols.size());
  const std::uint32_t known = patterns_by_hash_.find(hash, [&](std::uint32_t number) {
    const Pattern& pattern = table_.patterns[number];
    return pattern.length == symbols.size() && std::equal(symbols.begin(), symbols.end(), table_.source(pattern));
  });
  if (known != HashIndex::kNone) return known;
  std::uint32_t id = static_cast<std::uint32_t>(table_.patterns.size());
  std::uint16_t arity = static_cast<std::uint16_t>(
      std::count_if(symbols.begin(), symbols.end(), [](Symbol symbol) { return symbol < 0; }));
  table_.patterns.push_back(
      {static_cast<std::uint32_t>(table_.symbols.size()), static_cast<std::uint16_t>(symbols.size()), arity});
  table_.symbols.append(symbols.begin(), symbols.end());
  patterns_by_hash_.add(hash, id);
  return id;
}

std::uint32_t ShardBuilder::intern_rule(Rule rule, const std::vector<Symbol>& target, const std::vector<float>& values,
                                        const Link* links) {
  std::uint32_t fixed[] = {rule.pattern, rule.schema, rule.lhs};
  std::uint64_t hash = hash_more(target.size(), fixed, 3);
  hash = hash_more(hash, target.data(), target.size());
  hash = hash_more(hash, values.data(), values.size());
  const std::uint32_t known = rules_by_hash_.find(hash, [&](std::uint32_t number) {
    const Rule& other = table_.rules[number];
    // The template features follow from the symbols, so they need no comparison.
    return other.pattern == rule.pattern && other.schema == rule.schema && other.lhs == rule.lhs &&
           other.target_length == target.size() && std::equal(target.begin(), target.end(), table_.target(other)) &&
           (values.empty() ||
            std::memcmp(values.data(), table_.values.data() + other.values, values.size() * sizeof(float)) == 0);
  });
  if (known != HashIndex::kNone) return known;
  const std::uint32_t form = intern_form(rule, target, links);
  std::uint32_t id = static_cast<std::uint32_t>(table_.rules.size());
  rule = forms_[form];
  rule.values = static_cast<std::uint32_t>(table_.values.size());
  table_.values.append(values.begin(), values.end());
  table_.rules.push_back(rule);
  rule_forms_.push_back(form);
  rules_by_hash_.add(hash, id);
  if (table_.symbols.size() > 0x7FFFFFF0u || table_.values.size() > 0xFFFFFFF0u || table_.sparse.size() > 0xFFFFFFF0u)
    throw InputError("", "the shard is too large; put fewer sentences into one");
  return id;
}

std::uint32_t ShardBuilder::intern_form(Rule form, const std::vector<Symbol>& target, const Link* links) {
  std::uint32_t fixed[] = {form.pattern, form.schema, form.lhs};
  std::uint64_t hash = hash_more(target.size(), fixed, 3);
  hash = hash_more(hash, target.data(), target.size());
  hash = hash_more(hash, links, form.alignment_length);
  const std::uint32_t known = forms_by_hash_.find(hash, [&](std::uint32_t number) {
    const Rule& other = forms_[number];
    return other.pattern == form.pattern && other.schema == form.schema && other.lhs == form.lhs &&
           other.target_length == target.size() && other.alignment_length == form.alignment_length &&
           std::equal(target.begin(), target.end(), table_.target(other)) &&
           (form.alignment_length == 0 ||
            std::memcmp(links, table_.alignments.data() + other.alignment, form.alignment_length * sizeof(Link)) == 0);
  });
  if (known != HashIndex::kNone) return known;
  form.target = static_cast<std::uint32_t>(table_.symbols.size());
  form.alignment = static_cast<std::uint32_t>(table_.alignments.size());
  append_templates(form, target);
  table_.symbols.append(target.begin(), target.end());
  table_.alignments.append(links, links + form.alignment_length);
  forms_.push_back(form);
  forms_by_hash_.add(hash, static_cast<std::uint32_t>(forms_.size() - 1));
  return static_cast<std::uint32_t>(forms_.size() - 1);
}

std::uint32_t ShardBuilder::add_own(std::uint32_t rule) {
  rule_forms_.push_back(static_cast<std::uint32_t>(forms_.size()));
  forms_.push_back(table_.rules[rule]);
  own_rules_.push_back(rule);
  return static_cast<std::uint32_t>(own_rules_.size() - 1);
}

void ShardBuilder::append_templates(Rule& rule, const std::vector<Symbol>& target) {
  template_ids_.clear();
  if (templates_.any()) {
    if (named_pattern_ != rule.pattern) {
      const Pattern& pattern = table_.patterns[rule.pattern];
      namer_.set_source(table_.source(pattern), pattern.length);
      named_pattern_ = rule.pattern;
    }
    namer_.append(rule.lhs, target.data(), static_cast<std::uint32_t>(target.size()), template_ids_);
  }
  rule.sparse = static_cast<std::uint32_t>(table_.sparse.size());
  rule.sparse_length = static_cast<std::uint16_t>(template_ids_.size());
  table_.sparse.append(template_ids_.begin(), template_ids_.end());
}

void ShardBuilder::copy_rules(const Grammar& grammar, std::vector<std::uint32_t>& rules) {
  StringNumbers words(grammar.lexicon.words, lexicon_.words), labels(grammar.lexicon.labels, lexicon_.labels),
      features(grammar.lexicon.features, lexicon_.features);
  const RuleTable& from = grammar.table;
  std::vector<std::uint32_t> patterns(from.patterns.size(), StringTable::kNone);
  std::vector<std::uint32_t> schemas(from.schemas.size(), StringTable::kNone);
  std::vector<Symbol> symbols;
  std::vector<float> values;
  std::vector<std::uint32_t> ids;
  for (const Rule& rule : from.rules) {
    std::uint32_t& pattern = patterns[rule.pattern];
    if (pattern == StringTable::kNone) {
      const Pattern& source = from.patterns[rule.pattern];
      symbols.clear();
      for (std::uint32_t at = 0; at < source.length; ++at) {
        Symbol symbol = from.source(source)[at];
        symbols.push_back(symbol < 0 ? nonterminal(labels(label_of(symbol)))
                                     : static_cast<Symbol>(words(static_cast<std::uint32_t>(symbol))));
      }
      pattern = intern_pattern(symbols);
    }
    std::uint32_t& schema = schemas[rule.schema];
    const Range& range = from.schema(rule);
    if (schema == StringTable::kNone) {
      ids.clear();
      for (std::uint32_t at = range.begin; at < range.end; ++at) ids.push_back(features(from.schema_features[at]));
      schema = schemas_.intern(table_, ids);
    }
    Rule made = rule;
    made.pattern = pattern;
    made.schema = schema;
    made.lhs = static_cast<std::uint16_t>(labels(rule.lhs));
    symbols.clear();
    for (std::uint32_t at = 0; at < rule.target_length; ++at) {
      Symbol symbol = from.target(rule)[at];
      symbols.push_back(symbol < 0 ? symbol : static_cast<Symbol>(words(static_cast<std::uint32_t>(symbol))));
    }
    const float* first = from.values.data() + rule.values;
    values.assign(first, first + (range.end - range.begin));
    rules.push_back(intern_rule(made, symbols, values, from.alignments.data() + rule.alignment));
  }
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
}

std::uint32_t ShardBuilder::pass_through_rule(std::uint32_t word) {
  auto [found, fresh] = pass_through_rules_.emplace(word, 0);
  if (fresh) found->second = add_own(own_.pass_through(word));
  return found->second;
}

void ShardBuilder::add(std::string_view id, std::string_view domain, const std::vector<std::string_view>& words,
                       const std::vector<std::vector<std::string_view>>& references, const Grammar& grammar) {
  if (words.size() > kMaxWords)
    throw InputError("", "sentence " + std::string(id) + " has " + std::to_string(words.size()) +
                             " words; at most 32,000 can be decoded");
  SentenceRecord record{};
  sentence_rules_.emplace_back();
  copy_rules(grammar, sentence_rules_.back());
  record.words = static_cast<std::uint32_t>(numbers_.size());
  record.word_count = static_cast<std::uint32_t>(words.size());
  for (std::string_view word : words) numbers_.push_back(lexicon_.words.intern(word));
  for (std::string_view word : words) {
    std::uint32_t known = grammar.lexicon.words.find(word);
    bool copy = pass_through_ == PassThrough::kAll || known == StringTable::kNone ||
                !translates_alone(grammar.index, known, grammar.default_nonterminal);
    numbers_.push_back(copy ? pass_through_rule(lexicon_.words.intern(word)) : StringTable::kNone);
  }
  record.references = static_cast<std::uint32_t>(references_.size());
  record.reference_count = static_cast<std::uint32_t>(references.size());
  for (const auto& reference : references) {
    std::uint32_t begin = static_cast<std::uint32_t>(numbers_.size());
    for (std::string_view word : reference) numbers_.push_back(lexicon_.words.intern(word));
    references_.push_back({begin, static_cast<std::uint32_t>(numbers_.size())});
  }
  record.domain = domains_.intern(domain);
  id_bytes_ += id;
  id_offsets_.push_back(static_cast<std::uint32_t>(id_bytes_.size()));
  sentences_.push_back(record);
}

FormTable ShardBuilder::sort_forms(std::vector<std::uint32_t>& place) const {
  FormTable sorted;
  sorted.first.assign(table_.patterns.size() + 1, 0);
  for (const Rule& form : forms_) ++sorted.first[form.pattern + 1];
  std::partial_sum(sorted.first.begin(), sorted.first.end(), sorted.first.begin());
  std::vector<std::uint32_t> next(sorted.first.begin(), sorted.first.end() - 1);
  sorted.forms.resize(forms_.size());
  place.resize(forms_.size());
  for (std::size_t form = 0; form < forms_.size(); ++form) {
    place[form] = next[forms_[form].pattern]++;
    sorted.forms[place[form]] = forms_[form];
  }
  hash_words(table_, sorted);
  return sorted;
}

void ShardBuilder::write_forms(ShardFileWriter& file) const {
  std::string lengths, symbols;
  append_varint(lengths, table_.patterns.size());
  for (const Pattern& pattern : table_.patterns) {
    append_varint(lengths, pattern.length);
    for (std::uint32_t at = 0; at < pattern.length; ++at)
      append_varint(symbols, symbol_code(table_.source(pattern)[at]));
  }
  file.add(std::move(lengths));
  file.add(std::move(symbols));
  std::string schemas;
  append_varint(schemas, table_.schemas.size());
  for (const Range& schema : table_.schemas) {
    append_varint(schemas, schema.end - schema.begin);
    for (std::uint32_t at = schema.begin; at < schema.end; ++at) append_varint(schemas, table_.schema_features[at]);
  }
  file.add(std::move(schemas));

  std::string patterns, heads, link_counts, links, templates;
  lengths.clear();
  symbols.clear();
  TemplateCoder coder(templates_);
  append_varint(patterns, forms_.size());
  std::uint32_t last = 0, next = 0;
  for (const Rule& form : forms_) {
    append_varint(patterns, form.pattern == last ? 0 : form.pattern == next ? 1 : std::uint64_t{form.pattern} + 2);
    last = form.pattern;
    next = std::max(next, last + 1);
    append_varint(heads, form.lhs);
    append_varint(heads, form.schema);
    append_varint(lengths, form.target_length);
    for (std::uint32_t at = 0; at < form.target_length; ++at)
      append_varint(symbols, symbol_code(table_.target(form)[at]));
    append_varint(link_counts, form.alignment_length);
    for (std::uint32_t at = 0; at < form.alignment_length; ++at) {
      const Link& link = table_.alignments[form.alignment + at];
      append_varint(links, link.source);
      append_varint(links, link.target);
    }
    if (!coder.write(table_, form, templates)) throw std::logic_error("a rule's features do not follow its templates");
  }
  for (std::string* column : {&patterns, &heads, &lengths, &symbols, &link_counts, &links, &templates})
    file.add(std::move(*column));
}

std::string ShardBuilder::write_sentences() const {
  std::string bytes;
  for (const SentenceRecord& record : sentences_) {
    const std::uint32_t* words = numbers_.data() + record.words;
    append_varint(bytes, record.word_count);
    for (std::uint32_t at = 0; at < record.word_count; ++at) append_varint(bytes, words[at]);
    for (std::uint32_t at = record.word_count; at < 2 * record.word_count; ++at)
      append_varint(bytes, words[at] == StringTable::kNone ? 0 : std::uint64_t{words[at]} + 1);
    append_varint(bytes, record.reference_count);
    for (std::uint32_t at = 0; at < record.reference_count; ++at) {
      const Range& reference = references_[record.references + at];
      append_varint(bytes, reference.end - reference.begin);
      for (std::uint32_t word = reference.begin; word < reference.end; ++word) append_varint(bytes, numbers_[word]);
    }
    append_varint(bytes, record.domain);
  }
  return bytes;
}

std::string ShardBuilder::finish() {
  model_.rules = static_cast<std::uint32_t>(table_.rules.size());
  ShardFileWriter file(true);
  file.add(std::string(reinterpret_cast<const char*>(&model_), sizeof model_));
  file.add(string_section(lexicon_.words));
  file.add(string_section(lexicon_.labels));
  file.add(string_section(lexicon_.features));
  file.add(string_section(static_cast<std::uint32_t>(id_offsets_.size() - 1), id_offsets_.data(), id_bytes_));
  file.add(string_section(domains_));
  write_forms(file);
  std::vector<std::uint32_t> place;
  const FormTable forms = sort_forms(place);
  std::string own, own_values;
  append_varint(own, own_rules_.size());
  for (std::uint32_t rule : own_rules_) {
    append_varint(own, place[rule_forms_[rule]]);
    const Range& schema = table_.schema(table_.rules[rule]);
    own_values.append(reinterpret_cast<const char*>(table_.values.data() + table_.rules[rule].values),
                      (schema.end - schema.begin) * sizeof(float));
  }
  file.add(std::move(own));
  file.add(std::move(own_values));
  file.add(write_sentences());

  // A sentence's rules pattern by pattern, and those of a pattern by their first appearance in the shard.
  BlockWriter writer(table_, forms);
  std::vector<BlockRule> block;
  for (std::vector<std::uint32_t>& ids : sentence_rules_) {
    std::stable_sort(ids.begin(), ids.end(), [&](std::uint32_t a, std::uint32_t b) {
      return table_.rules[a].pattern < table_.rules[b].pattern;
    });
    block.clear();
    for (std::uint32_t id : ids)
      block.push_back({place[rule_forms_[id]], table_.values.data() + table_.rules[id].values});
    file.add(writer.write(block));
  }
  return file.finish();
}

}  // namespace itersel
