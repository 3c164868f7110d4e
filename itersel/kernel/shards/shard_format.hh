// The layout of a shard file, version 3: a header, a table of pieces, the pieces.
//
// A piece is a byte string, stored as it is or compressed (compression.hh). The first pieces are the sections below,
// which describe what the sentences share; one piece for each sentence follows, with its rules (sentence_block.hh), and
// is read when the sentence is. Numbers are little-endian. The header's checksum is of the table, which has every
// piece's.
#pragma once

#include <cstdint>

namespace itersel {

constexpr char kShardMagic[8] = {'I', 'T', 'S', 'H', 'A', 'R', 'D', '\n'};
constexpr std::uint32_t kShardVersion = 3;

// String tables are a count, the lengths and the bytes. Everything else is columns of variable-length numbers
// (varint.hh), unless another form is named. A form is a rule without its values.
enum class Section : std::uint32_t {
  kModel,  // one ModelRecord
  kWords,
  kLabels,
  kFeatures,
  kIds,  // of sentences, as given
  kDomains,
  kPatternLengths,
  kPatternSymbols,
  kSchemas,         // count; length and features of each
  kFormPatterns,    // 0: that of the form before; 1: the next that no form had yet; else number + 2
  kFormHeads,       // left-hand side, schema
  kFormLengths,     // of the target side
  kFormSymbols,     // target sides
  kFormLinkCounts,  //
  kFormLinks,       // source position, target position
  kFormTemplates,   // features that do not follow from what came before (template_coder.hh)
  kOwnRules,        // the decoder's own: forms
  kOwnValues,       // floats
  kSentences,       // words, pass-through rules, references, domain
  kCount
};

struct ShardHeader {
  char magic[8];
  std::uint32_t version, piece_count;
  std::uint64_t file_size;
  std::uint64_t checksum;  // of the table of pieces
};

struct PieceRecord {
  std::uint64_t offset;
  std::uint32_t stored, size;  // bytes in the file, and of the content; the same if it is not compressed
  std::uint64_t checksum;      // of the stored bytes
};

struct ModelRecord {
  std::uint32_t goal, default_nonterminal, glue_first, glue_next;  // the glue rules are own rules
  std::uint32_t word_penalty, language_model, unknown_words;
  std::uint32_t templates;         // bits: identity, source bigrams, target bigrams, shape
  std::uint32_t pass_through_all;  // 0 or 1
  std::uint32_t rules;             // distinct ones, with the decoder's own
};

// Symbols as unsigned numbers: words are even, non-terminals odd.
inline std::uint32_t symbol_code(std::int32_t symbol) {
  return symbol < 0 ? 2 * static_cast<std::uint32_t>(-1 - symbol) + 1 : 2 * static_cast<std::uint32_t>(symbol);
}
inline std::int32_t symbol_of_code(std::uint32_t code) {
  const auto half = static_cast<std::int32_t>(code >> 1);
  return code & 1 ? -1 - half : half;
}

}  // namespace itersel
