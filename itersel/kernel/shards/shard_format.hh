// The layout of a shard file: a header, a table of sections, the sections. Little-endian, sections aligned to 8 bytes,
// so that a mapped file is used in place.
#pragma once

#include <cstdint>

namespace itersel {

constexpr char kShardMagic[8] = {'I', 'T', 'S', 'H', 'A', 'R', 'D', '\n'};
constexpr std::uint32_t kShardVersion = 1;

enum class Section : std::uint32_t {
  kWordBytes,
  kWordOffsets,
  kLabelBytes,
  kLabelOffsets,
  kFeatureBytes,
  kFeatureOffsets,
  kSymbols,
  kPatterns,
  kRules,
  kValues,
  kSparse,
  kSchemas,
  kSchemaFeatures,
  kAlignments,
  kSentences,   // SentenceRecord
  kRuleLists,   // per sentence: ascending rule ids as differences in variable-length bytes
  kNumbers,     // source words, pass-through rules and reference words
  kReferences,  // Range into kNumbers
  kIdBytes,     // sentence ids, as given
  kIdOffsets,
  kTaskBytes,
  kTaskOffsets,
  kModel,  // one ModelRecord
  kCount
};

struct ShardHeader {
  char magic[8];
  std::uint32_t version, section_count;
  std::uint64_t file_size;
  std::uint64_t checksum;  // of everything after the header
};

struct SectionRecord {
  std::uint64_t offset, size;  // bytes
};

struct SentenceRecord {
  std::uint64_t rules;  // offset into kRuleLists
  std::uint32_t rule_count;
  std::uint32_t words, word_count;  // into kNumbers; the pass-through rules follow the words
  std::uint32_t references, reference_count;
  std::uint32_t task;
};

struct ModelRecord {
  std::uint32_t goal, default_nonterminal, glue_first, glue_next;
  std::uint32_t word_penalty, language_model, unknown_words;
  std::uint32_t templates;         // bits: identity, source bigrams, target bigrams, shape
  std::uint32_t pass_through_all;  // 0 or 1
  std::uint32_t reserved;
};

}  // namespace itersel
