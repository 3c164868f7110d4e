// The index of a word-aligned training bitext: one memory-mapped file that rule extraction reads (Lopez 2007).
//
// Positions count source words over all sentences, each sentence followed by one separator; within a sentence, word
// positions are 16-bit. Word ids follow first appearance; 0 is the empty word NULL, 1 the separator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mapped_file.hh"

namespace itersel {

constexpr std::uint32_t kNullWord = 0;
constexpr std::uint32_t kSeparator = 1;
constexpr std::uint32_t kFirstWord = 2;
constexpr std::uint32_t kUnknownWord = UINT32_MAX;

// The words of the other side that a word is linked to lie in [low, high); low > high if it has no link.
struct LinkSpan {
  std::uint16_t low = UINT16_MAX;
  std::uint16_t high = 0;
  bool aligned() const { return high != 0; }
};

// How often a source word was linked to this target word.
struct LexicalCount {
  std::uint32_t target;
  std::uint32_t count;
};

// A frequent contiguous source phrase: its range of the suffix array, which starts at `low`, and its words.
struct FrequentPhrase {
  std::uint32_t low;
  std::uint32_t length;
};

template <class T>
struct Slice {
  const T* data = nullptr;
  std::size_t size = 0;
  const T& operator[](std::size_t i) const { return data[i]; }
  const T* begin() const { return data; }
  const T* end() const { return data + size; }
};

// One side of the bitext: words and separators, and where each word and phrase is.
struct IndexedText {
  Slice<std::uint32_t> source;        // words and separators
  Slice<std::uint32_t> suffixes;      // suffix array of `source`
  Slice<std::uint32_t> bucket;        // [w, w+1): the range of `suffixes` that start with word w
  Slice<std::uint32_t> sentence;      // of each position
  Slice<std::uint32_t> source_start;  // of each sentence, and the end
  Slice<FrequentPhrase> frequent;     // most frequent first
};

class BitextIndex : public IndexedText {
 public:
  // Maps the file and verifies its checksum; throws InputError naming it if it is no index, another version's,
  // truncated or altered.
  explicit BitextIndex(const std::string& path);

  const std::string& path() const { return path_; }
  std::uint64_t fingerprint() const { return fingerprint_; }
  std::uint32_t sentences() const { return static_cast<std::uint32_t>(source_start.size - 1); }
  std::uint32_t source_word(std::string_view word) const;
  std::string_view source_text(std::uint32_t word) const { return text(source_names, source_name_start, word); }
  std::string_view target_text(std::uint32_t word) const { return text(target_names, target_name_start, word); }

  // Counts of links; NULL stands for the other side of a word without links. No pointer: they were never linked.
  const LexicalCount* find_lexical(std::uint32_t source, std::uint32_t target) const;

  // Besides the source side; visit_sections() has the order of the file.
  Slice<std::uint32_t> target;         // words, no separators
  Slice<std::uint32_t> target_start;   // of each sentence, and the end
  Slice<LinkSpan> source_span;         // of each source position
  Slice<LinkSpan> target_span;         // of each target position
  Slice<std::uint32_t> link_start;     // [p, p+1): the links of source position p
  Slice<std::uint16_t> links;          // target words, ascending
  Slice<std::uint32_t> lexical_start;  // [w, w+1): the row of source word w
  Slice<LexicalCount> lexical;         // ascending by target word
  Slice<std::uint32_t> source_total;   // links of a source word, NULL's included
  Slice<std::uint32_t> target_total;
  Slice<std::uint32_t> source_name_start;
  Slice<char> source_names;
  Slice<std::uint32_t> target_name_start;
  Slice<char> target_names;

 private:
  static std::string_view text(const Slice<char>& names, const Slice<std::uint32_t>& start, std::uint32_t word) {
    return {names.data + start[word], start[word + 1] - start[word]};
  }

  std::string path_;
  MappedFile file_;
  std::uint64_t fingerprint_ = 0;
  std::unordered_map<std::string_view, std::uint32_t> source_ids_;
};

// The sections' layout, shared by the reader and the builder: visits every array in the file's order.
template <class Index, class Visitor>
void visit_sections(Index& index, Visitor&& visit) {
  visit(index.source), visit(index.suffixes), visit(index.bucket), visit(index.sentence), visit(index.source_start);
  visit(index.target), visit(index.target_start), visit(index.source_span), visit(index.target_span);
  visit(index.link_start), visit(index.links), visit(index.lexical_start), visit(index.lexical);
  visit(index.source_total), visit(index.target_total), visit(index.frequent);
  visit(index.source_name_start), visit(index.source_names), visit(index.target_name_start), visit(index.target_names);
}
constexpr std::size_t kSections = 20;

struct IndexHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t byte_order;  // kByteOrder as this machine stores it
  std::uint64_t file_size;
  std::uint64_t checksum;          // of everything after the header, and of `sizes`
  std::uint64_t sizes[kSections];  // elements of each section; sections start at multiples of 8 bytes
};
constexpr char kIndexMagic[8] = {'i', 't', 'e', 'r', 's', 'e', 'l', 'X'};
constexpr std::uint32_t kIndexVersion = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;

// 64-bit checksum of a file's content; the header's checksum field counts as 0.
std::uint64_t index_checksum(const char* data, std::size_t size);

// Plain text of the three files, and the names to use in messages. Throws InputError as `name:line`.
struct BitextText {
  std::string_view source, target, alignment;
  std::string source_name, target_name, alignment_name;
};

// The bytes of an index file.
std::string build_bitext_index(const BitextText& bitext);

// Splits at blanks; throws InputError(where) for a word that grammar files cannot hold, or invalid UTF-8.
void split_words(std::string_view line, const std::string& where, std::vector<std::string_view>& words);

}  // namespace itersel
