#include "shards/shard.hh"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.hh"
#include "base/hash.hh"
#include "base/text.hh"
#include "base/varint.hh"
#include "grammar/sentence.hh"
#include "shards/template_coder.hh"

namespace itersel {
namespace {

template <class T>
Column<T> view(const Column<T>& column) {
  return Column<T>(column.data(), column.size());
}

template <class T>
Column<T> view(const std::vector<T>& column) {
  return Column<T>(column.data(), column.size());
}

}  // namespace

std::shared_ptr<const Shard> Shard::open(const std::string& path) {
  auto shard = std::make_shared<Shard>();
  shard->file_ = std::make_unique<ShardFile>(path);
  Decompressor decompressor;
  shard->lexicon_.words = shard->strings(Section::kWords, decompressor);
  shard->lexicon_.labels = shard->strings(Section::kLabels, decompressor);
  shard->ids_ = shard->strings(Section::kIds, decompressor);
  shard->domains_ = shard->strings(Section::kDomains, decompressor);
  shard->read_model(decompressor);
  shard->read_sentences(decompressor);
  return shard;
}

void Shard::read_shared_sections() {
  {
    Decompressor names;  // its memory is large
    lexicon_.features = strings(Section::kFeatures, names);
  }
  Decompressor decompressor;
  const std::uint32_t features = lexicon_.features.size();
  check(model_.word_penalty < features && model_.language_model < features && model_.unknown_words < features,
        "model record's numbers");
  table_ = RuleTable();  // nothing of an attempt that failed
  read_patterns(decompressor);
  read_schemas(decompressor);
  read_forms();
  read_own_rules(decompressor);
}

const std::vector<FeatureId>& Shard::feature_ids() const {
  std::call_once(hashed_, [this] {
    const StringTable& names = lexicon().features;
    std::vector<FeatureId> ids;
    ids.reserve(names.size());
    for (std::uint32_t feature = 0; feature < names.size(); ++feature)
      ids.push_back({feature_hash(names[feature]), feature});
    std::sort(ids.begin(), ids.end(), [](const FeatureId& a, const FeatureId& b) { return a.hash < b.hash; });
    for (std::size_t i = 1; i < ids.size(); ++i)
      if (ids[i - 1].hash == ids[i].hash)
        throw InputError("", "the features '" + std::string(names[ids[i - 1].feature]) + "' and '" +
                                 std::string(names[ids[i].feature]) + "' have the same 64-bit id; rename one of them");
    feature_ids_ = std::move(ids);
  });
  return feature_ids_;
}

StringTable Shard::strings(Section section, Decompressor& decompressor) const {
  VarintReader table(file_->section(section, decompressor));
  const std::uint32_t count = table.count();
  Column<std::uint32_t> offsets;
  offsets.resize(std::size_t{count} + 1);
  std::uint64_t end = 0;
  for (std::uint32_t at = 0; at < count; ++at) {
    end += table.next();
    check(end <= 0xFFFFFFFFu, "string tables");
    offsets.own(at + 1) = static_cast<std::uint32_t>(end);
  }
  const std::string_view text = table.bytes(end);
  check(table.complete(), "string tables");
  for (std::uint32_t at = 0; at < count; ++at)
    for (std::string_view rest = text.substr(offsets[at], offsets[at + 1] - offsets[at]); !rest.empty();) {
      std::size_t length = utf8_length(rest);
      if (length == 0) file_->fail("a string table is not UTF-8");
      rest.remove_prefix(length);
    }
  Column<char> bytes;
  bytes.append(text.begin(), text.end());
  return StringTable(std::move(bytes), std::move(offsets));
}

void Shard::read_model(Decompressor& decompressor) {
  const std::string_view bytes = file_->section(Section::kModel, decompressor);
  if (bytes.size() != sizeof model_) file_->fail("the shard has no model record");
  std::memcpy(&model_, bytes.data(), sizeof model_);
  const std::uint32_t labels = lexicon_.labels.size();
  check(model_.goal < labels && model_.default_nonterminal < labels, "model record's numbers");
}

void Shard::read_patterns(Decompressor& decompressor) {
  const std::uint32_t words = lexicon_.words.size(), labels = lexicon_.labels.size();
  VarintReader lengths(file_->section(Section::kPatternLengths, decompressor));
  const std::uint32_t count = lengths.count();
  std::uint64_t size = 0;
  table_.patterns.resize(count);
  for (std::uint32_t at = 0; at < count; ++at) {
    const std::uint32_t length = lengths.next();
    check(length > 0 && length <= 0xFFFF && size + length <= 0xFFFFFFFFu, "source sides");
    table_.patterns.own(at) = {static_cast<std::uint32_t>(size), static_cast<std::uint16_t>(length), 0};
    size += length;
  }
  check(lengths.complete(), "source sides");
  VarintReader symbols(file_->section(Section::kPatternSymbols, decompressor));
  check(size <= symbols.left(), "source sides");
  table_.symbols.resize(size);
  for (std::uint32_t at = 0; at < count; ++at) {
    Pattern& pattern = table_.patterns.own(at);
    for (std::uint32_t place = 0; place < pattern.length; ++place) {
      const Symbol symbol = symbol_of_code(symbols.next());
      check(symbol < 0 ? label_of(symbol) < labels : static_cast<std::uint32_t>(symbol) < words, "source sides");
      pattern.arity = static_cast<std::uint16_t>(pattern.arity + (symbol < 0));
      table_.symbols.own(pattern.symbols + place) = symbol;
    }
    check(pattern.arity <= kMaxNonterminals, "non-terminals");
  }
  check(symbols.complete(), "source sides");
}

void Shard::read_schemas(Decompressor& decompressor) {
  VarintReader schemas(file_->section(Section::kSchemas, decompressor));
  const std::uint32_t count = schemas.count();
  for (std::uint32_t at = 0; at < count; ++at) {
    const auto begin = static_cast<std::uint32_t>(table_.schema_features.size());
    for (std::uint32_t left = schemas.count(); left > 0; --left) {
      table_.schema_features.push_back(schemas.next());
      check(*(table_.schema_features.end() - 1) < lexicon_.features.size(), "features");
    }
    table_.schemas.push_back({begin, static_cast<std::uint32_t>(table_.schema_features.size())});
  }
  check(schemas.complete(), "feature lists");
}

// The pattern of each form, in the order of the file, and how the forms lie pattern by pattern.
void Shard::read_form_patterns(VarintReader codes, std::vector<std::uint32_t>& patterns) {
  patterns.resize(codes.count());
  forms_.first.assign(table_.patterns.size() + 1, 0);
  std::uint32_t pattern = 0, next = 0;
  for (std::uint32_t& form_pattern : patterns) {
    const std::uint32_t code = codes.next();
    pattern = code == 0 ? pattern : code == 1 ? next : code - 2;
    check(pattern < table_.patterns.size(), "rules");
    next = std::max(next, pattern + 1);
    ++forms_.first[pattern + 1];
    form_pattern = pattern;
  }
  check(codes.complete(), "rules");
  std::partial_sum(forms_.first.begin(), forms_.first.end(), forms_.first.begin());
  forms_.forms.resize(patterns.size());
}

void Shard::read_forms() {
  Decompressor memory[7];  // the columns are read side by side
  auto column = [&](Section section, int place) { return VarintReader(file_->section(section, memory[place])); };
  std::vector<std::uint32_t> patterns;
  read_form_patterns(column(Section::kFormPatterns, 0), patterns);
  VarintReader heads = column(Section::kFormHeads, 1), lengths = column(Section::kFormLengths, 2),
               symbols = column(Section::kFormSymbols, 3), link_counts = column(Section::kFormLinkCounts, 4),
               links = column(Section::kFormLinks, 5), templates = column(Section::kFormTemplates, 6);
  const TemplateOptions options{(model_.templates & 1) != 0, (model_.templates & 2) != 0, (model_.templates & 4) != 0,
                                (model_.templates & 8) != 0};
  TemplateCoder coder(options);

  // Sizes first, so that the columns are made once.
  std::uint64_t symbol_count = 0, link_count = 0, sparse_count = 0;
  VarintReader all_lengths = lengths, all_links = link_counts;
  for (std::uint32_t pattern : patterns) {
    Rule form{};
    const std::uint32_t length = all_lengths.next(), form_links = all_links.next();
    check(length <= 0xFFFF && form_links <= 0xFFFF, "rules");
    form.target_length = static_cast<std::uint16_t>(length);
    symbol_count += length;
    link_count += form_links;
    sparse_count += coder.count(table_.patterns[pattern], form);
  }
  check(all_lengths.complete() && all_links.complete() && symbol_count <= symbols.left() &&
            2 * link_count <= links.left() && sparse_count <= 0xFFFFFFFFu,
        "rules");
  auto target = static_cast<std::uint32_t>(table_.symbols.size());
  std::uint32_t alignment = 0, sparse = 0;
  table_.symbols.resize(table_.symbols.size() + symbol_count);
  table_.alignments.resize(link_count);
  table_.sparse.resize(sparse_count);

  const std::uint32_t words = lexicon_.words.size(), labels = lexicon_.labels.size();
  std::vector<std::uint32_t> next(forms_.first.begin(), forms_.first.end() - 1);
  for (std::uint32_t pattern : patterns) {
    Rule& form = forms_.forms[next[pattern]++];
    form.pattern = pattern;
    const std::uint32_t lhs = heads.next();
    form.schema = heads.next();
    check(lhs < labels && lhs <= 0xFFFF && form.schema < table_.schemas.size(), "rules");
    form.lhs = static_cast<std::uint16_t>(lhs);
    form.target = target;
    form.target_length = static_cast<std::uint16_t>(lengths.next());
    const std::uint32_t arity = table_.patterns[pattern].arity;
    std::uint32_t seen = 0;
    for (std::uint32_t at = 0; at < form.target_length; ++at) {
      const Symbol symbol = symbol_of_code(symbols.next());
      check(symbol < 0 ? label_of(symbol) < arity : static_cast<std::uint32_t>(symbol) < words, "target sides");
      if (symbol < 0) seen += 1u << (8 * label_of(symbol));
      table_.symbols.own(target++) = symbol;
    }
    check(seen == (arity == 0 ? 0u : arity == 1 ? 1u : 0x101u), "non-terminals");
    form.alignment = alignment;
    form.alignment_length = static_cast<std::uint16_t>(link_counts.next());
    for (std::uint32_t at = 0; at < form.alignment_length; ++at) {
      const std::uint32_t from = links.next(), to = links.next();
      check(from <= 0xFFFF && to <= 0xFFFF, "alignments");
      table_.alignments.own(alignment++) = {static_cast<std::uint16_t>(from), static_cast<std::uint16_t>(to)};
    }
    const std::uint32_t count = coder.count(table_.patterns[pattern], form);
    check(count <= 0xFFFF, "features");
    form.sparse = sparse;
    form.sparse_length = static_cast<std::uint16_t>(count);
    if (count > 0) coder.read(table_, form, templates, &table_.sparse.own(sparse));
    sparse += count;
  }
  check(heads.complete() && symbols.complete() && links.complete() && templates.complete(), "rules");
  for (std::uint32_t feature : table_.sparse) check(feature < lexicon_.features.size(), "features");
  hash_words(table_, forms_);
}

void Shard::read_own_rules(Decompressor& decompressor) {
  VarintReader rules(file_->section(Section::kOwnRules, decompressor));
  std::uint32_t values = 0;
  for (std::uint32_t left = rules.count(); left > 0; --left) {
    const std::uint32_t form = rules.next();
    check(form < forms_.forms.size(), "own rules");
    Rule rule = forms_.forms[form];
    rule.values = values;
    values += table_.schema(rule).end - table_.schema(rule).begin;
    table_.rules.push_back(rule);
  }
  check(rules.complete(), "own rules");
  const std::string_view bytes = file_->section(Section::kOwnValues, decompressor);
  check(bytes.size() == values * sizeof(float), "values");
  table_.values.resize(values);
  if (values > 0) std::memcpy(&table_.values.own(0), bytes.data(), bytes.size());
  const auto arity = [&](std::uint32_t rule) { return table_.patterns[table_.rules[rule].pattern].arity; };
  check(model_.glue_first < table_.rules.size() && model_.glue_next < table_.rules.size() &&
            arity(model_.glue_first) == 1 && arity(model_.glue_next) == 2,
        "glue rules");
  for (const SentenceRecord& record : sentences_)
    for (std::uint32_t at = record.words + record.word_count; at < record.words + 2 * record.word_count; ++at)
      check(numbers_[at] == StringTable::kNone || (numbers_[at] < table_.rules.size() && arity(numbers_[at]) == 0),
            "pass-through rules");
}

void Shard::read_sentences(Decompressor& decompressor) {
  VarintReader in(file_->section(Section::kSentences, decompressor));
  const std::uint32_t words = lexicon_.words.size();
  check(ids_.size() == file_->sentences(), "sentence ids");
  auto read_words = [&](std::uint32_t count) {
    for (; count > 0; --count) {
      numbers_.push_back(in.next());
      check(numbers_.back() < words, "sentences");
    }
  };
  for (std::uint32_t sentence = 0; sentence < file_->sentences(); ++sentence) {
    SentenceRecord record{};
    record.words = static_cast<std::uint32_t>(numbers_.size());
    record.word_count = in.count();
    check(record.word_count <= kMaxWords, "sentences");
    read_words(record.word_count);
    for (std::uint32_t at = 0; at < record.word_count; ++at) {
      const std::uint32_t copy = in.next();  // 0: none
      numbers_.push_back(copy == 0 ? StringTable::kNone : copy - 1);
    }
    record.references = static_cast<std::uint32_t>(references_.size());
    record.reference_count = in.count();
    for (std::uint32_t left = record.reference_count; left > 0; --left) {
      const auto begin = static_cast<std::uint32_t>(numbers_.size());
      read_words(in.count());
      references_.push_back({begin, static_cast<std::uint32_t>(numbers_.size())});
    }
    record.domain = in.next();
    check(in.good() && record.domain < domains_.size(), "sentences");
    sentences_.push_back(record);
  }
  check(in.complete(), "sentences");
}

void Shard::load(std::uint32_t sentence, SentenceRules& rules) const {
  read_shared();
  if (!rules.reader_.read(file_->sentence(sentence, rules.decompressor_), table_, forms_, rules.rules_, rules.values_))
    file_->fail(sentence, "does not fit the shard; compile or copy the shard again");
  rules.table.rules = view(rules.rules_);
  rules.table.values = view(rules.values_);
  rules.table.symbols = view(table_.symbols);
  rules.table.patterns = view(table_.patterns);
  rules.table.sparse = view(table_.sparse);
  rules.table.schemas = view(table_.schemas);
  rules.table.schema_features = view(table_.schema_features);
  rules.table.alignments = view(table_.alignments);
  rules.ids.resize(rules.rules_.size());
  std::iota(rules.ids.begin(), rules.ids.end(), 0u);
}

std::vector<std::vector<std::uint32_t>> Shard::references(std::uint32_t sentence) const {
  const SentenceRecord& record = sentences_[sentence];
  std::vector<std::vector<std::uint32_t>> found;
  for (std::uint32_t at = 0; at < record.reference_count; ++at) {
    const Range& range = references_[record.references + at];
    found.emplace_back(numbers_.data() + range.begin, numbers_.data() + range.end);
  }
  return found;
}

std::string Shard::text(const std::uint32_t* words, std::size_t count) const {
  std::string text;
  for (std::size_t at = 0; at < count; ++at) {
    if (at) text += ' ';
    text += lexicon_.words[words[at]];
  }
  return text;
}

void Shard::pose(std::uint32_t sentence, SentenceRules& rules, SourceIndex& index, Problem& problem) const {
  const SentenceRecord& record = sentences_[sentence];
  load(sentence, rules);
  index.clear();
  index.add(rules.table, rules.ids.data(), rules.ids.size());
  index.order_labels(lexicon_.labels, {model_.default_nonterminal, model_.goal});
  problem.table = &rules.table;
  problem.extra = &table_;
  problem.index = &index;
  const std::uint32_t* words = numbers_.data() + record.words;
  problem.words.assign(words, words + record.word_count);
  problem.pass_through.assign(words + record.word_count, words + 2 * record.word_count);
  problem.pass_through_all = model_.pass_through_all != 0;
  problem.glue_first = model_.glue_first;
  problem.glue_next = model_.glue_next;
  problem.goal = model_.goal;
  problem.default_nonterminal = model_.default_nonterminal;
  problem.features = {model_.word_penalty, model_.language_model, model_.unknown_words};
}

}  // namespace itersel
