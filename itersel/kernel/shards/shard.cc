#include "shards/shard.hh"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/checksum.hh"
#include "base/error.hh"
#include "base/hash.hh"
#include "base/text.hh"
#include "grammar/sentence.hh"

namespace itersel {

class Shard::Mapping {
 public:
  explicit Mapping(const std::string& path) {
    int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || ::fstat(file, &status) != 0) {
      int error = errno;
      if (file >= 0) ::close(file);
      throw InputError(path, std::string("cannot read: ") + std::strerror(error));
    }
    size_ = S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0;
    if (size_) {
      void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
      int error = errno;
      ::close(file);
      if (mapped == MAP_FAILED) throw InputError(path, std::string("cannot map: ") + std::strerror(error));
      data_ = static_cast<const char*>(mapped);
    } else {
      ::close(file);
    }
  }
  ~Mapping() {
    if (data_) ::munmap(const_cast<char*>(data_), size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

void Shard::fail(const std::string& message) const { throw InputError(path_, message); }

std::shared_ptr<const Shard> Shard::open(const std::string& path) {
  auto shard = std::make_shared<Shard>();
  shard->path_ = path;
  shard->mapping_ = std::make_shared<Mapping>(path);
  std::string_view bytes = shard->mapping_->bytes();
  ShardHeader header;
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kShardMagic, sizeof kShardMagic) != 0)
    shard->fail("not a shard file (its first bytes are wrong); make it with 'itersel shard'");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kShardVersion)
    shard->fail("a shard of format version " + std::to_string(header.version) + "; this program reads version " +
                std::to_string(kShardVersion) + ": compile it again");
  if (header.file_size != bytes.size() || header.section_count != static_cast<std::uint32_t>(Section::kCount) ||
      bytes.size() < sizeof header + sizeof(SectionRecord) * header.section_count)
    shard->fail("the shard is truncated: it has " + std::to_string(bytes.size()) + " of " +
                std::to_string(header.file_size) + " bytes; compile or copy it again");
  if (header.checksum != itersel::checksum(bytes.substr(sizeof header)))
    shard->fail("the shard's content was altered (its checksum is wrong); compile or copy it again");
  shard->checksum_ = header.checksum;

  Shard& made = *shard;
  made.lexicon_.words = made.strings(Section::kWordBytes, Section::kWordOffsets);
  made.lexicon_.labels = made.strings(Section::kLabelBytes, Section::kLabelOffsets);
  made.lexicon_.features = made.strings(Section::kFeatureBytes, Section::kFeatureOffsets);
  made.ids_ = made.strings(Section::kIdBytes, Section::kIdOffsets);
  made.tasks_ = made.strings(Section::kTaskBytes, Section::kTaskOffsets);
  made.table_.symbols = made.column<Symbol>(Section::kSymbols);
  made.table_.patterns = made.column<Pattern>(Section::kPatterns);
  made.table_.rules = made.column<Rule>(Section::kRules);
  made.table_.values = made.column<float>(Section::kValues);
  made.table_.sparse = made.column<std::uint32_t>(Section::kSparse);
  made.table_.schemas = made.column<Range>(Section::kSchemas);
  made.table_.schema_features = made.column<std::uint32_t>(Section::kSchemaFeatures);
  made.table_.alignments = made.column<Link>(Section::kAlignments);
  made.sentences_ = made.column<SentenceRecord>(Section::kSentences);
  made.rule_lists_ = made.column<std::uint8_t>(Section::kRuleLists);
  made.numbers_ = made.column<std::uint32_t>(Section::kNumbers);
  made.references_ = made.column<Range>(Section::kReferences);
  Column<ModelRecord> model = made.column<ModelRecord>(Section::kModel);
  if (model.size() != 1) made.fail("the shard has no model record");
  made.model_ = model[0];
  made.validate();
  return shard;
}

const std::vector<FeatureId>& Shard::feature_ids() const {
  std::call_once(hashed_, [this] {
    const StringTable& names = lexicon_.features;
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

template <class T>
Column<T> Shard::column(Section section) const {
  std::string_view bytes = mapping_->bytes();
  SectionRecord record;
  std::memcpy(&record, bytes.data() + sizeof(ShardHeader) + sizeof record * static_cast<std::size_t>(section),
              sizeof record);
  if (record.offset > bytes.size() || record.size > bytes.size() - record.offset || record.offset % 8 != 0 ||
      record.size % sizeof(T) != 0)
    fail("section " + std::to_string(static_cast<std::uint32_t>(section)) + " lies outside the shard");
  return Column<T>(reinterpret_cast<const T*>(bytes.data() + record.offset), record.size / sizeof(T));
}

StringTable Shard::strings(Section bytes, Section offsets) const {
  Column<char> text = column<char>(bytes);
  Column<std::uint32_t> ends = column<std::uint32_t>(offsets);
  if (ends.empty() || ends[0] != 0) fail("a string table has no beginning");
  for (std::size_t at = 1; at < ends.size(); ++at)
    if (ends[at] < ends[at - 1] || ends[at] > text.size()) fail("a string table points outside the shard");
  for (std::size_t at = 1; at < ends.size(); ++at)
    for (std::string_view rest(text.data() + ends[at - 1], ends[at] - ends[at - 1]); !rest.empty();) {
      std::size_t length = utf8_length(rest);
      if (length == 0) fail("a string table is not UTF-8");
      rest.remove_prefix(length);
    }
  return StringTable(std::move(text), std::move(ends));
}

// The checksum finds damage; this finds a file whose numbers do not fit together, before the decoder follows them.
void Shard::validate() const {
  auto check = [&](bool good, const char* what) {
    if (!good) fail(std::string("the shard's ") + what + " do not fit together");
  };
  auto within = [](std::uint64_t begin, std::uint64_t count, std::size_t size) { return begin + count <= size; };
  std::uint32_t words = lexicon_.words.size(), labels = lexicon_.labels.size(), features = lexicon_.features.size();
  for (const Pattern& pattern : table_.patterns) {
    check(within(pattern.symbols, pattern.length, table_.symbols.size()) && pattern.length > 0, "source sides");
    std::uint32_t arity = 0;
    for (std::uint32_t at = 0; at < pattern.length; ++at) {
      Symbol symbol = table_.source(pattern)[at];
      arity += symbol < 0;
      check(symbol < 0 ? label_of(symbol) < labels : static_cast<std::uint32_t>(symbol) < words, "source sides");
    }
    check(arity == pattern.arity && arity <= kMaxNonterminals, "non-terminals");
  }
  for (const Range& schema : table_.schemas)
    check(schema.begin <= schema.end && schema.end <= table_.schema_features.size(), "feature lists");
  for (std::uint32_t feature : table_.schema_features) check(feature < features, "features");
  for (std::uint32_t feature : table_.sparse) check(feature < features, "features");
  for (const Rule& rule : table_.rules) {
    check(rule.pattern < table_.patterns.size() && rule.lhs < labels && rule.schema < table_.schemas.size(), "rules");
    check(within(rule.target, rule.target_length, table_.symbols.size()), "target sides");
    const Range& schema = table_.schemas[rule.schema];
    check(within(rule.values, schema.end - schema.begin, table_.values.size()), "values");
    check(within(rule.sparse, rule.sparse_length, table_.sparse.size()), "features");
    check(within(rule.alignment, rule.alignment_length, table_.alignments.size()), "alignments");
    std::uint32_t arity = table_.patterns[rule.pattern].arity, seen = 0;
    for (std::uint32_t at = 0; at < rule.target_length; ++at) {
      Symbol symbol = table_.target(rule)[at];
      check(symbol < 0 ? label_of(symbol) < arity : static_cast<std::uint32_t>(symbol) < words, "target sides");
      if (symbol < 0) seen += 1u << (8 * label_of(symbol));
    }
    check(seen == (arity == 0 ? 0u : arity == 1 ? 1u : 0x101u), "non-terminals");
  }
  std::size_t rules = table_.rules.size();
  check(model_.goal < labels && model_.default_nonterminal < labels && model_.glue_first < rules &&
            model_.glue_next < rules && model_.word_penalty < features && model_.language_model < features &&
            model_.unknown_words < features,
        "model record's numbers");
  check(table_.patterns[table_.rules[model_.glue_first].pattern].arity == 1 &&
            table_.patterns[table_.rules[model_.glue_next].pattern].arity == 2,
        "glue rules");
  check(ids_.size() == sentences_.size(), "sentence ids");
  for (const Range& reference : references_) {
    check(reference.begin <= reference.end && reference.end <= numbers_.size(), "references");
    for (std::uint32_t at = reference.begin; at < reference.end; ++at) check(numbers_[at] < words, "references");
  }
  for (std::uint32_t sentence = 0; sentence < size(); ++sentence) {
    const SentenceRecord& record = sentences_[sentence];
    check(record.word_count <= kMaxWords && within(record.words, 2ull * record.word_count, numbers_.size()) &&
              within(record.references, record.reference_count, references_.size()) && record.task < tasks_.size() &&
              record.rules <= rule_lists_.size() && record.rule_count <= rules,
          "sentences");
    for (std::uint32_t at = 0; at < record.word_count; ++at) {
      check(numbers_[record.words + at] < words, "sentences");
      std::uint32_t copy = numbers_[record.words + record.word_count + at];
      check(copy == StringTable::kNone || (copy < rules && table_.patterns[table_.rules[copy].pattern].arity == 0),
            "pass-through rules");
    }
  }
}

std::vector<std::uint32_t> Shard::rules(std::uint32_t sentence) const {
  const SentenceRecord& record = sentences_[sentence];
  std::vector<std::uint32_t> ids(record.rule_count);
  const std::uint8_t *at = rule_lists_.begin() + record.rules, *end = rule_lists_.end();
  std::uint32_t last = 0;
  for (std::uint32_t& id : ids) {
    std::uint32_t difference = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at == end || shift > 28) fail("the rule list of sentence " + std::string(ids_[sentence]) + " is damaged");
      difference |= static_cast<std::uint32_t>(*at & 0x7F) << shift;
      if (!(*at++ & 0x80)) break;
    }
    id = last += difference;
    if (id >= table_.rules.size()) fail("the rule list of sentence " + std::string(ids_[sentence]) + " is damaged");
  }
  return ids;
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

void Shard::pose(std::uint32_t sentence, SourceIndex& index, Problem& problem) const {
  const SentenceRecord& record = sentences_[sentence];
  std::vector<std::uint32_t> ids = rules(sentence);
  index.clear();
  index.add(table_, ids.data(), ids.size());
  index.order_labels(lexicon_.labels, {model_.default_nonterminal, model_.goal});
  problem.table = problem.extra = &table_;
  problem.index = &index;
  const std::uint32_t* words = numbers_.data() + record.words;
  problem.words.assign(words, words + record.word_count);
  problem.pass_through.assign(words + record.word_count, words + 2 * record.word_count);
  problem.glue_first = model_.glue_first;
  problem.glue_next = model_.glue_next;
  problem.goal = model_.goal;
  problem.default_nonterminal = model_.default_nonterminal;
  problem.features = {model_.word_penalty, model_.language_model, model_.unknown_words};
}

}  // namespace itersel
