// Reads the three text files of a word-aligned bitext and lays out the index file.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/error.hh"
#include "base/text.hh"
#include "grammar/bitext_index.hh"
#include "grammar/suffix_array.hh"

namespace itersel {
namespace {

constexpr std::size_t kMaxSentence = 65534;  // word positions are 16-bit
constexpr std::uint32_t kFrequentPhrases = 100, kFrequentLength = 4, kFrequentCount = 1000;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// `[X,1]`: brackets around a name, a comma and digits.
bool is_nonterminal(std::string_view word) {
  if (word.size() < 5 || word.front() != '[' || word.back() != ']') return false;
  const std::size_t comma = word.rfind(',');
  if (comma == std::string_view::npos || comma < 2 || comma + 2 >= word.size()) return false;
  return std::all_of(word.begin() + comma + 1, word.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
}

class Lines {
 public:
  Lines(std::string_view text, const std::string& name) : rest_(text), name_(name) {}
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    ++number_;
    return true;
  }
  std::string where() const { return name_ + ":" + std::to_string(number_); }
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::string name_;
  std::size_t number_ = 0;
};

struct Names {
  std::unordered_map<std::string_view, std::uint32_t> ids;
  std::vector<std::uint32_t> start{0, 0, 0};  // the names of NULL and the separator are empty
  std::vector<char> characters;

  std::uint32_t id(std::string_view word) {
    auto [found, added] = ids.try_emplace(word, static_cast<std::uint32_t>(ids.size()) + kFirstWord);
    if (added) {
      characters.insert(characters.end(), word.begin(), word.end());
      if (characters.size() > UINT32_MAX) throw InputError("", "vocabulary of more than 4 GB");
      start.push_back(static_cast<std::uint32_t>(characters.size()));
    }
    return found->second;
  }
};

// The same sections as BitextIndex, as vectors.
struct Builder {
  std::vector<std::uint32_t> source, suffixes, bucket, sentence, source_start{0}, target, target_start{0};
  std::vector<LinkSpan> source_span, target_span;
  std::vector<std::uint32_t> link_start{0};
  std::vector<std::uint16_t> links;
  std::vector<std::uint32_t> lexical_start;
  std::vector<LexicalCount> lexical;
  std::vector<std::uint32_t> source_total, target_total;
  std::vector<FrequentPhrase> frequent;
  std::vector<std::uint32_t> source_name_start;
  std::vector<char> source_names;
  std::vector<std::uint32_t> target_name_start;
  std::vector<char> target_names;

  void read(const BitextText& text);
  void index();
  std::string bytes() const;

 private:
  void add_sentence(std::string_view line, const std::string& where, Names& names, std::vector<std::uint32_t>& words);
  void add_links(std::string_view line, const std::string& where);
  void find_frequent();

  std::vector<std::string_view> words_;
  std::vector<std::pair<std::uint16_t, std::uint16_t>> pairs_;
  std::vector<std::uint64_t> linked_;  // source word << 32 | target word, one per link, NULL's included
};

void Builder::add_sentence(std::string_view line, const std::string& where, Names& names,
                           std::vector<std::uint32_t>& words) {
  split_words(line, where, words_);
  if (words_.empty()) throw InputError(where, "empty sentence; both sides of every pair need at least one word");
  if (words_.size() > kMaxSentence) {
    throw InputError(
        where, "sentence of " + std::to_string(words_.size()) + " words, the limit is " + std::to_string(kMaxSentence));
  }
  for (std::string_view word : words_) words.push_back(names.id(word));
}

void Builder::add_links(std::string_view line, const std::string& where) {
  const std::uint32_t source_begin = source_start.back(), target_begin = target_start.back();
  const std::size_t source_size = source.size() - source_begin, target_size = target.size() - target_begin;
  pairs_.clear();
  for (std::size_t i = 0; i < line.size();) {
    if (is_blank(line[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < line.size() && !is_blank(line[end])) ++end;
    const std::string_view link = line.substr(i, end - i);
    std::size_t number[2] = {0, 0}, digits[2] = {0, 0};
    int side = 0;
    bool valid = true;
    for (char c : link) {
      if (c == '-' && side == 0) {
        side = 1;
      } else if (c >= '0' && c <= '9' && digits[side] < 9) {
        number[side] = number[side] * 10 + static_cast<std::size_t>(c - '0');
        ++digits[side];
      } else {
        valid = false;
      }
    }
    if (!valid || digits[0] == 0 || digits[1] == 0) {
      throw InputError(where, "expected links such as 0-0 1-2, found '" + std::string(link.substr(0, 40)) + "'");
    }
    if (number[0] >= source_size || number[1] >= target_size) {
      throw InputError(where, "link " + std::string(link) + " is out of range: the sentences have " +
                                  std::to_string(source_size) + " and " + std::to_string(target_size) + " words");
    }
    pairs_.emplace_back(static_cast<std::uint16_t>(number[0]), static_cast<std::uint16_t>(number[1]));
    i = end;
  }
  std::sort(pairs_.begin(), pairs_.end());
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());

  source_span.resize(source.size());
  target_span.resize(target.size());
  const auto widen = [](LinkSpan& span, std::uint16_t word) {
    span.low = std::min(span.low, word);
    span.high = std::max<std::uint16_t>(span.high, word + 1);
  };
  for (auto [from, to] : pairs_) {
    widen(source_span[source_begin + from], to);
    widen(target_span[target_begin + to], from);
    linked_.push_back(std::uint64_t{source[source_begin + from]} << 32 | target[target_begin + to]);
  }
  auto link = pairs_.begin();
  for (std::size_t i = 0; i < source_size; ++i) {
    for (; link != pairs_.end() && link->first == i; ++link) links.push_back(link->second);
    link_start.push_back(static_cast<std::uint32_t>(links.size()));
    if (!source_span[source_begin + i].aligned()) linked_.push_back(std::uint64_t{source[source_begin + i]} << 32);
  }
  for (std::size_t i = 0; i < target_size; ++i) {
    if (!target_span[target_begin + i].aligned()) linked_.push_back(target[target_begin + i]);
  }
}

void Builder::read(const BitextText& text) {
  Names source_words, target_words;
  Lines source_lines(text.source, text.source_name), target_lines(text.target, text.target_name),
      alignment_lines(text.alignment, text.alignment_name);
  std::string_view source_line, target_line, alignment_line;
  while (true) {
    const bool more = source_lines.next(source_line), more_target = target_lines.next(target_line),
               more_alignment = alignment_lines.next(alignment_line);
    if (more != more_target || more != more_alignment) {
      const Lines& shortest = !more ? source_lines : !more_target ? target_lines : alignment_lines;
      const std::string& name = !more ? text.source_name : !more_target ? text.target_name : text.alignment_name;
      throw InputError(name + ":" + std::to_string(shortest.number()),
                       "ends after " + std::to_string(shortest.number()) + " lines, but " +
                           (more          ? text.source_name
                            : more_target ? text.target_name
                                          : text.alignment_name) +
                           " continues; source, target and alignment need the same number of lines");
    }
    if (!more) break;
    add_sentence(source_line, source_lines.where(), source_words, source);
    add_sentence(target_line, target_lines.where(), target_words, target);
    add_links(alignment_line, alignment_lines.where());
    sentence.resize(source.size() + 1, static_cast<std::uint32_t>(source_lines.number() - 1));
    source.push_back(kSeparator);
    source_span.emplace_back();
    link_start.push_back(static_cast<std::uint32_t>(links.size()));
    if (source.size() >= INT32_MAX || target.size() >= INT32_MAX) {
      throw InputError(source_lines.where(), "more than 2^31 words; split the bitext");
    }
    source_start.push_back(static_cast<std::uint32_t>(source.size()));
    target_start.push_back(static_cast<std::uint32_t>(target.size()));
  }
  if (source.empty()) throw InputError(text.source_name, "no sentences");
  source_name_start = std::move(source_words.start);
  source_names = std::move(source_words.characters);
  target_name_start = std::move(target_words.start);
  target_names = std::move(target_words.characters);
}

void Builder::index() {
  const std::size_t source_words = source_name_start.size() - 1, target_words = target_name_start.size() - 1;
  suffixes = suffix_array(source, static_cast<std::uint32_t>(source_words));
  bucket.assign(source_words + 1, 0);
  for (std::uint32_t word : source) ++bucket[word + 1];
  for (std::size_t word = 0; word < source_words; ++word) bucket[word + 1] += bucket[word];
  find_frequent();

  std::sort(linked_.begin(), linked_.end());
  lexical_start.assign(source_words + 1, 0);
  source_total.assign(source_words, 0);
  target_total.assign(target_words, 0);
  for (std::size_t i = 0; i < linked_.size();) {
    std::size_t end = i;
    while (end < linked_.size() && linked_[end] == linked_[i]) ++end;
    const auto from = static_cast<std::uint32_t>(linked_[i] >> 32), to = static_cast<std::uint32_t>(linked_[i]);
    const auto count = static_cast<std::uint32_t>(end - i);
    lexical.push_back({to, count});
    ++lexical_start[from + 1];
    source_total[from] += count;
    target_total[to] += count;
    i = end;
  }
  for (std::size_t word = 0; word < source_words; ++word) lexical_start[word + 1] += lexical_start[word];
}

// Equal phrases are neighbours in the suffix array; a run ends where two neighbours differ in the first `length` words.
void Builder::find_frequent() {
  const auto common = [&](std::uint32_t a, std::uint32_t b) {
    std::uint32_t length = 0;
    while (length < kFrequentLength && a + length < source.size() && b + length < source.size() &&
           source[a + length] == source[b + length]) {
      ++length;
    }
    return length;
  };
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> runs;  // count, low, length
  std::uint32_t start[kFrequentLength] = {};
  for (std::uint32_t i = 1; i <= suffixes.size(); ++i) {
    const std::uint32_t shared = i < suffixes.size() ? common(suffixes[i - 1], suffixes[i]) : 0;
    for (std::uint32_t length = shared + 1; length <= kFrequentLength; ++length) {
      const std::uint32_t low = start[length - 1], first = suffixes[low];
      start[length - 1] = i;
      if (i - low < kFrequentCount || first + length > source.size()) continue;
      const auto begin = source.begin() + first;
      if (std::find(begin, begin + length, kSeparator) == begin + length) runs.emplace_back(i - low, low, length);
    }
  }
  std::sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) {
    return std::make_tuple(std::get<0>(b), suffixes[std::get<1>(b)], std::get<2>(b)) <
           std::make_tuple(std::get<0>(a), suffixes[std::get<1>(a)], std::get<2>(a));
  });
  for (std::size_t i = 0; i < runs.size() && i < kFrequentPhrases; ++i) {
    frequent.push_back({std::get<1>(runs[i]), std::get<2>(runs[i])});
  }
}

std::string Builder::bytes() const {
  IndexHeader header = {};
  std::memcpy(header.magic, kIndexMagic, sizeof kIndexMagic);
  header.version = kIndexVersion;
  header.byte_order = kByteOrder;
  header.file_size = sizeof header;
  std::size_t section = 0;
  visit_sections(*this, [&](const auto& values) {
    header.sizes[section++] = values.size();
    header.file_size += (values.size() * sizeof(values[0]) + 7) / 8 * 8;
  });
  std::string result(header.file_size, '\0');
  std::memcpy(result.data(), &header, sizeof header);
  std::size_t offset = sizeof header;
  visit_sections(*this, [&](const auto& values) {
    const std::size_t size = values.size() * sizeof(values[0]);
    if (size > 0) std::memcpy(result.data() + offset, values.data(), size);
    offset += (size + 7) / 8 * 8;
  });
  header.checksum = index_checksum(result.data(), result.size());
  std::memcpy(result.data(), &header, sizeof header);
  return result;
}

}  // namespace

void split_words(std::string_view line, const std::string& where, std::vector<std::string_view>& words) {
  words.clear();
  for (std::size_t i = 0; i < line.size();) {
    if (is_blank(line[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < line.size() && !is_blank(line[end])) {
      const std::size_t length = utf8_length(line.substr(end));
      if (length == 0) throw InputError(where, "invalid UTF-8 at byte " + std::to_string(end + 1) + " of the line");
      end += length;
    }
    const std::string_view word = line.substr(i, end - i);
    if (word.find("|||") != std::string_view::npos) {
      throw InputError(where, "'|||' inside a word; grammar files use it between fields, so escape it first");
    }
    if (is_nonterminal(word)) {
      throw InputError(where, "word '" + std::string(word) + "' looks like a non-terminal; escape its brackets first");
    }
    words.push_back(word);
    i = end;
  }
}

std::string build_bitext_index(const BitextText& bitext) {
  Builder builder;
  builder.read(bitext);
  builder.index();
  return builder.bytes();
}

}  // namespace itersel
