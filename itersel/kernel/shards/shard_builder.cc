#include "shards/shard_builder.hh"

#include <algorithm>
#include <cstring>

#include "base/checksum.hh"
#include "base/error.hh"

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

void append_varint(std::string& bytes, std::uint32_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

// Collects sections and lays them out.
class Layout {
 public:
  template <class T>
  void add(Section section, const T* data, std::size_t count) {
    sections_[static_cast<std::size_t>(section)] = {reinterpret_cast<const char*>(data), count * sizeof(T)};
  }
  template <class Container>
  void add(Section section, const Container& container) {
    add(section, container.data(), container.size());
  }

  std::string bytes() const {
    constexpr std::size_t kCount = static_cast<std::size_t>(Section::kCount);
    SectionRecord records[kCount];
    std::uint64_t offset = sizeof(ShardHeader) + sizeof records;
    for (std::size_t at = 0; at < kCount; ++at) {
      records[at] = {offset, sections_[at].size()};
      offset += (sections_[at].size() + 7) / 8 * 8;
    }
    std::string file(offset, '\0');
    std::memcpy(file.data() + sizeof(ShardHeader), records, sizeof records);
    for (std::size_t at = 0; at < kCount; ++at)
      if (!sections_[at].empty())
        std::memcpy(file.data() + records[at].offset, sections_[at].data(), sections_[at].size());
    ShardHeader header{};
    std::memcpy(header.magic, kShardMagic, sizeof header.magic);
    header.version = kShardVersion;
    header.section_count = kCount;
    header.file_size = offset;
    header.checksum = checksum(std::string_view(file).substr(sizeof header));
    std::memcpy(file.data(), &header, sizeof header);
    return file;
  }

 private:
  std::string_view sections_[static_cast<std::size_t>(Section::kCount)];
};

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
  model_.glue_first = own_.glue_first();
  model_.glue_next = own_.glue_next();
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
  std::uint32_t id = static_cast<std::uint32_t>(table_.rules.size());
  rule.target = static_cast<std::uint32_t>(table_.symbols.size());
  rule.values = static_cast<std::uint32_t>(table_.values.size());
  rule.alignment = static_cast<std::uint32_t>(table_.alignments.size());
  append_templates(rule, target);
  table_.symbols.append(target.begin(), target.end());
  table_.values.append(values.begin(), values.end());
  table_.alignments.append(links, links + rule.alignment_length);
  table_.rules.push_back(rule);
  rules_by_hash_.add(hash, id);
  if (table_.symbols.size() > 0xFFFFFFF0u || table_.values.size() > 0xFFFFFFF0u || table_.sparse.size() > 0xFFFFFFF0u)
    throw InputError("", "the shard is too large; put fewer sentences into one");
  return id;
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
  Renumbering words(grammar.lexicon.words, lexicon_.words), labels(grammar.lexicon.labels, lexicon_.labels),
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
  if (fresh) found->second = own_.pass_through(word);
  return found->second;
}

void ShardBuilder::add(std::string_view id, std::string_view task, const std::vector<std::string_view>& words,
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
  record.task = tasks_.intern(task);
  id_bytes_ += id;
  id_offsets_.push_back(static_cast<std::uint32_t>(id_bytes_.size()));
  sentences_.push_back(record);
}

// Rules pattern by pattern, so that ascending ids are what SourceIndex wants; returns the new id of each rule.
std::vector<std::uint32_t> ShardBuilder::sort_rules(Column<Rule>& sorted) const {
  std::vector<std::uint32_t> order(table_.rules.size()), place(table_.rules.size());
  for (std::uint32_t rule = 0; rule < order.size(); ++rule) order[rule] = rule;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return table_.rules[a].pattern < table_.rules[b].pattern; });
  for (std::uint32_t at = 0; at < order.size(); ++at) {
    place[order[at]] = at;
    sorted.push_back(table_.rules[order[at]]);
  }
  return place;
}

std::string ShardBuilder::finish() {
  Column<Rule> rules;
  std::vector<std::uint32_t> place = sort_rules(rules);
  model_.glue_first = place[model_.glue_first];
  model_.glue_next = place[model_.glue_next];
  std::string lists;
  for (std::size_t sentence = 0; sentence < sentences_.size(); ++sentence) {
    SentenceRecord& record = sentences_[sentence];
    std::vector<std::uint32_t>& ids = sentence_rules_[sentence];
    for (std::uint32_t& id : ids) id = place[id];
    std::sort(ids.begin(), ids.end());
    record.rules = lists.size();
    record.rule_count = static_cast<std::uint32_t>(ids.size());
    std::uint32_t last = 0;
    for (std::uint32_t id : ids) {
      append_varint(lists, id - last);
      last = id;
    }
    for (std::uint32_t at = record.words + record.word_count; at < record.words + 2 * record.word_count; ++at)
      if (numbers_[at] != StringTable::kNone) numbers_[at] = place[numbers_[at]];
  }
  Layout layout;
  layout.add(Section::kWordBytes, lexicon_.words.bytes());
  layout.add(Section::kWordOffsets, lexicon_.words.offsets());
  layout.add(Section::kLabelBytes, lexicon_.labels.bytes());
  layout.add(Section::kLabelOffsets, lexicon_.labels.offsets());
  layout.add(Section::kFeatureBytes, lexicon_.features.bytes());
  layout.add(Section::kFeatureOffsets, lexicon_.features.offsets());
  layout.add(Section::kSymbols, table_.symbols);
  layout.add(Section::kPatterns, table_.patterns);
  layout.add(Section::kRules, rules);
  layout.add(Section::kValues, table_.values);
  layout.add(Section::kSparse, table_.sparse);
  layout.add(Section::kSchemas, table_.schemas);
  layout.add(Section::kSchemaFeatures, table_.schema_features);
  layout.add(Section::kAlignments, table_.alignments);
  layout.add(Section::kSentences, sentences_);
  layout.add(Section::kRuleLists, lists);
  layout.add(Section::kNumbers, numbers_);
  layout.add(Section::kReferences, references_);
  layout.add(Section::kIdBytes, id_bytes_);
  layout.add(Section::kIdOffsets, id_offsets_);
  layout.add(Section::kTaskBytes, tasks_.bytes());
  layout.add(Section::kTaskOffsets, tasks_.offsets());
  layout.add(Section::kModel, &model_, 1);
  return layout.bytes();
}

}  // namespace itersel
