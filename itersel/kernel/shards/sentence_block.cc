#include "shards/sentence_block.hh"

#include <algorithm>
#include <cstring>

#include "base/hash_index.hh"

namespace itersel {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;
constexpr std::uint32_t kNoContext = 0, kCounts = 1, kWords = 2;  // kinds of contexts
constexpr std::size_t kSmallChunk = 64;

std::uint32_t schema_length(const RuleTable& table, const Rule& rule) {
  const Range& schema = table.schema(rule);
  return schema.end - schema.begin;
}

// Columns 1 and 2 before the others, if rules have that many values.
std::uint32_t column_at(std::uint32_t place, std::uint32_t columns) {
  if (columns < 3 || place > 2) return place;
  return place == 2 ? 0 : place + 1;
}

bool has_contexts(std::uint32_t column, std::uint32_t columns) { return columns < 3 || column == 0 || column > 2; }

std::uint32_t code_width(std::uint32_t distinct) { return distinct <= 0xFF ? 1 : 2; }

// Appends a chunk; one that is not worth statistics of its own joins the one before.
void add_chunk(std::vector<std::string>& chunks, std::string chunk) {
  if (!chunks.empty() && (chunk.size() < kSmallChunk || chunks.back().size() < kSmallChunk))
    chunks.back() += chunk;
  else
    chunks.push_back(std::move(chunk));
}

// A column while it is written: the values that no context gives, each different one once.
struct WrittenColumn {
  std::uint32_t context = kNoContext;
  std::vector<std::uint32_t> exceptions;  // places, as differences
  std::vector<std::uint32_t> distinct;    // bits
  std::vector<std::uint32_t> codes;       // 0: the next different value; else the place of a known one, plus 1

  void append_to(std::vector<std::string>& chunks) const {
    const bool all_new = distinct.size() == codes.size() || distinct.size() > 0xFFFF;
    std::string head;
    append_varint(head, context);
    append_varint(head, exceptions.size());
    for (std::uint32_t exception : exceptions) append_varint(head, exception);
    append_varint(head, codes.size());
    append_varint(head, all_new ? codes.size() : distinct.size());
    std::vector<std::uint32_t> table = distinct;
    if (all_new && distinct.size() != codes.size()) {
      table.clear();
      std::size_t next = 0;
      for (std::uint32_t code : codes) table.push_back(distinct[code == 0 ? next++ : code - 1]);
    }
    add_chunk(chunks, head);
    std::string planes[4];
    for (std::uint32_t bits : table)
      for (int plane = 0; plane < 4; ++plane) planes[plane] += static_cast<char>(bits >> (8 * plane));
    add_chunk(chunks, planes[0] + planes[1]);
    add_chunk(chunks, planes[2]);
    add_chunk(chunks, planes[3]);
    if (all_new) return;
    std::string low, high;
    for (std::uint32_t code : codes) {
      low += static_cast<char>(code);
      high += static_cast<char>(code >> 8);
    }
    add_chunk(chunks, low);
    if (code_width(static_cast<std::uint32_t>(distinct.size())) == 2) add_chunk(chunks, high);
  }
};

// The places whose values do not follow from their contexts: new contexts, and exceptions.
void split_by_context(const std::vector<std::uint32_t>& bits, const std::vector<std::uint32_t>& contexts,
                      std::uint32_t count, std::vector<std::uint32_t>& left, std::vector<std::uint32_t>& exceptions) {
  std::vector<std::uint32_t> memo(count);
  std::vector<char> known(count, 0);
  std::uint32_t last = 0;
  left.clear();
  exceptions.clear();
  for (std::uint32_t at = 0; at < bits.size(); ++at) {
    const std::uint32_t context = contexts[at];
    if (known[context] && memo[context] == bits[at]) continue;
    if (known[context]) {
      exceptions.push_back(at - last);
      last = at;
    }
    known[context] = 1;
    memo[context] = bits[at];
    left.push_back(bits[at]);
  }
}

// Codes of the values by first appearance; `indices`, if given, gets each value's place among the different ones.
void code_values(const std::vector<std::uint32_t>& left, WrittenColumn& column, std::vector<std::uint32_t>* indices) {
  HashIndex places;
  for (std::uint32_t bits : left) {
    const std::uint64_t hash = std::uint64_t{bits} * 0x9E3779B97F4A7C15ull >> 20;
    std::uint32_t place = places.find(hash, [&](std::uint32_t number) { return column.distinct[number] == bits; });
    column.codes.push_back(place == HashIndex::kNone ? 0 : place + 1);
    if (place == HashIndex::kNone) {
      place = static_cast<std::uint32_t>(column.distinct.size());
      column.distinct.push_back(bits);
      places.add(hash, place);
    }
    if (indices) indices->push_back(place);
  }
}

}  // namespace

void hash_words(const RuleTable& table, FormTable& forms) {
  auto add_words = [](std::uint64_t hash, const Symbol* symbols, std::uint32_t length) {
    for (std::uint32_t at = 0; at < length; ++at)
      if (symbols[at] >= 0) {
        hash = (hash ^ static_cast<std::uint32_t>(symbols[at])) * 0x9E3779B97F4A7C15ull;
        hash ^= hash >> 29;
      }
    return hash;
  };
  std::uint64_t source = 0;
  std::uint32_t pattern = kNone;
  forms.lexical.resize(forms.forms.size());
  for (std::size_t at = 0; at < forms.forms.size(); ++at) {
    const Rule& form = forms.forms[at];
    if (form.pattern != pattern) {
      pattern = form.pattern;
      source = add_words(1, table.source(table.patterns[pattern]), table.patterns[pattern].length) * 3 + 1;
    }
    forms.lexical[at] = static_cast<std::uint32_t>(add_words(source, table.target(form), form.target_length) >> 32);
  }
}

std::uint32_t Renumbering::renumber(const std::vector<std::uint64_t>& keys, std::vector<std::uint32_t>& numbers) {
  std::size_t size = slots_.empty() ? 1024 : slots_.size();
  while (size < 2 * keys.size()) size *= 2;
  if (size != slots_.size() || ++call_ == 0) {
    slots_.assign(size, Slot());
    call_ = 1;
  }
  numbers.resize(keys.size());
  std::uint32_t count = 0;
  for (std::size_t at = 0; at < keys.size(); ++at) {
    std::size_t slot = (keys[at] * 0x9E3779B97F4A7C15ull >> 32) & (size - 1);
    while (slots_[slot].call == call_ && slots_[slot].key != keys[at]) slot = (slot + 1) & (size - 1);
    if (slots_[slot].call != call_) slots_[slot] = {keys[at], count++, call_};
    numbers[at] = slots_[slot].number;
  }
  return count;
}

std::vector<std::string> BlockWriter::write(const std::vector<BlockRule>& rules) {
  std::string patterns, counts, places, head;
  std::uint32_t pattern_count = 0, last_pattern = 0, columns = 0;
  std::vector<std::uint32_t> lengths, words;
  std::vector<std::uint64_t> keys;
  for (std::size_t first = 0, last; first < rules.size(); first = last) {
    const std::uint32_t pattern = forms_.forms[rules[first].form].pattern;
    for (last = first; last < rules.size() && forms_.forms[rules[last].form].pattern == pattern; ++last) {
      const Rule& form = forms_.forms[rules[last].form];
      append_varint(places, rules[last].form - forms_.first[pattern]);
      lengths.push_back(schema_length(table_, form));
      keys.push_back(forms_.lexical[rules[last].form]);
      columns = std::max(columns, lengths.back());
    }
    append_varint(patterns, pattern - last_pattern);
    append_varint(counts, last - first);
    last_pattern = pattern;
    ++pattern_count;
  }
  append_varint(head, pattern_count);
  append_varint(head, rules.size());
  for (const std::string* column : {&patterns, &counts, &places}) append_varint(head, column->size());
  std::vector<std::string> chunks;
  for (std::string* chunk : {&head, &patterns, &counts, &places}) add_chunk(chunks, std::move(*chunk));

  const std::uint32_t word_count = renumbering_.renumber(keys, words);
  std::vector<std::uint32_t> indices[2], pairs;
  std::uint32_t pair_count = 0;
  bool counted = true;
  for (std::uint32_t place = 0; place < columns; ++place) {
    const std::uint32_t at = column_at(place, columns);
    std::vector<std::uint32_t> bits, of_words, of_pairs, of_rules;
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
      if (lengths[rule] <= at) continue;
      bits.emplace_back();
      std::memcpy(&bits.back(), rules[rule].values + at, sizeof(float));
      of_rules.push_back(static_cast<std::uint32_t>(rule));
      of_words.push_back(words[rule]);
      if (!pairs.empty()) of_pairs.push_back(pairs[rule]);
    }
    WrittenColumn column;
    std::vector<std::uint32_t> left = bits, chosen, other, exceptions;
    if (has_contexts(at, columns)) {
      auto consider = [&](std::uint32_t kind, const std::vector<std::uint32_t>& contexts, std::uint32_t count) {
        split_by_context(bits, contexts, count, other, exceptions);
        if (other.size() + exceptions.size() >= left.size() + column.exceptions.size()) return;
        column.context = kind;
        left = other;
        column.exceptions = exceptions;
      };
      if (!pairs.empty()) consider(kCounts, of_pairs, pair_count);
      consider(kWords, of_words, word_count);
    }
    const bool is_count = columns > 2 && place < 2;
    code_values(left, column, is_count ? &chosen : nullptr);
    column.append_to(chunks);
    if (!is_count) continue;
    indices[place].assign(rules.size(), 0);
    for (std::size_t value = 0; value < chosen.size(); ++value) indices[place][of_rules[value]] = chosen[value];
    counted = counted && column.distinct.size() <= 0xFFFF;  // else stored without numbers
    if (place == 1 && counted) {
      for (std::size_t rule = 0; rule < rules.size(); ++rule)
        keys[rule] = std::uint64_t{indices[0][rule]} << 32 | indices[1][rule];
      pair_count = renumbering_.renumber(keys, pairs);
    }
  }
  return chunks;
}

bool BlockReader::read(std::string_view bytes, const RuleTable& table, const FormTable& forms, std::vector<Rule>& rules,
                       std::vector<float>& values) {
  VarintReader block(bytes);
  if (!read_rules(block, table, forms, rules)) return false;
  std::uint32_t columns = 0, size = 0;
  lengths_.resize(rules.size());
  for (std::size_t at = 0; at < rules.size(); ++at) {
    lengths_[at] = schema_length(table, rules[at]);
    columns = std::max(columns, lengths_[at]);
    rules[at].values = size;
    size += lengths_[at];
  }
  uniform_ = size == std::uint64_t{columns} * rules.size();
  values.resize(size);
  context_counts_[0] = context_counts_[1] = 0;
  count_columns_ = 0;
  for (std::uint32_t place = 0; place < columns; ++place)
    if (!read_column(block, column_at(place, columns), forms, rules, values)) return false;
  return block.complete();
}

bool BlockReader::read_rules(VarintReader& block, const RuleTable& table, const FormTable& forms,
                             std::vector<Rule>& rules) {
  const std::uint32_t pattern_count = block.next(), rule_count = block.next();
  const std::uint32_t sizes[3] = {block.next(), block.next(), block.next()};
  VarintReader patterns(block.bytes(sizes[0])), counts(block.bytes(sizes[1])), places(block.bytes(sizes[2]));
  if (!block.good() || pattern_count > sizes[0] || rule_count > sizes[2]) return false;
  rules.clear();
  rules.reserve(rule_count);
  forms_.clear();
  std::uint64_t pattern = 0;
  for (std::uint32_t at = 0; at < pattern_count; ++at) {
    const std::uint32_t difference = patterns.next(), count = counts.next();
    pattern += difference;
    if ((at > 0 && difference == 0) || pattern >= table.patterns.size() || count > rule_count - rules.size())
      return false;
    const std::uint32_t first = forms.first[pattern], end = forms.first[pattern + 1];
    for (std::uint32_t rule = 0; rule < count; ++rule) {
      const std::uint32_t place = places.next();
      if (place >= end - first) return false;
      forms_.push_back(first + place);
      rules.push_back(forms.forms[first + place]);
    }
  }
  return patterns.complete() && counts.complete() && places.complete() && rules.size() == rule_count;
}

const std::vector<std::uint32_t>* BlockReader::contexts(std::uint32_t kind, const FormTable& forms,
                                                        std::uint32_t& count) {
  const std::uint32_t slot = kind - kCounts;
  std::vector<std::uint32_t>& made = contexts_[slot];
  if (context_counts_[slot] == 0) {
    if (kind == kCounts && count_columns_ < 2) return nullptr;
    keys_.resize(forms_.size());
    for (std::size_t at = 0; at < forms_.size(); ++at)
      keys_[at] = kind == kWords ? forms.lexical[forms_[at]] : std::uint64_t{indices_[0][at]} << 32 | indices_[1][at];
    context_counts_[slot] = renumbering_.renumber(keys_, made);
  }
  count = context_counts_[slot];
  return &made;
}

bool BlockReader::read_column(VarintReader& block, std::uint32_t column, const FormTable& forms,
                              const std::vector<Rule>& rules, std::vector<float>& values) {
  const std::uint32_t kind = block.next();
  exceptions_.resize(block.count());
  std::uint32_t exception = 0;
  for (std::uint32_t& place : exceptions_) place = exception += block.next();
  const std::uint32_t left = block.next(), distinct = block.next();
  if (!block.good() || kind > kWords || distinct > left || left > rules.size()) return false;
  const auto* planes = reinterpret_cast<const unsigned char*>(block.bytes(std::size_t{4} * distinct).data());
  const bool all_new = distinct == left, wide = code_width(distinct) == 2;
  const auto* codes = reinterpret_cast<const unsigned char*>(
      block.bytes(all_new ? 0 : std::size_t{left} * code_width(distinct)).data());
  if (!block.good()) return false;
  table_.resize(distinct);
  for (std::uint32_t at = 0; at < distinct; ++at) {
    const std::uint32_t bits = planes[at] | planes[distinct + at] << 8 | planes[2 * distinct + at] << 16 |
                               static_cast<std::uint32_t>(planes[3 * distinct + at]) << 24;
    std::memcpy(&table_[at], &bits, sizeof bits);
  }

  // Where in the table each value that is left is.
  places_.resize(left);
  std::uint32_t next = 0;
  for (std::uint32_t at = 0; at < left; ++at) {
    const std::uint32_t code = all_new ? 0u : codes[at] | (wide ? codes[left + at] << 8 : 0u);
    if (code > next || (code == 0 && next == distinct)) return false;
    places_[at] = code == 0 ? next++ : code - 1;
  }
  const std::uint32_t *place = places_.data(), *const places_end = place + left;
  if (kind == kNoContext) {
    std::vector<std::uint32_t>* indices = nullptr;
    if (count_columns_ < 2 && (column == 1 || column == 2)) {
      indices = &indices_[count_columns_++];
      indices->assign(rules.size(), 0);
    }
    const bool enough = each_value(column, rules, values, [&](std::size_t at, float& value) {
      if (place == places_end) return false;
      value = table_[*place];
      if (indices) (*indices)[at] = *place;
      ++place;
      return true;
    });
    return enough && place == places_end && exceptions_.empty();
  }

  std::uint32_t count = 0, number = 0;
  const std::vector<std::uint32_t>* contexts = this->contexts(kind, forms, count);
  if (!contexts) return false;
  memo_.assign(count, kNone);
  std::size_t excepted = 0;
  std::uint32_t next_exception = exceptions_.empty() ? kNone : exceptions_[0];
  const bool enough = each_value(column, rules, values, [&](std::size_t at, float& value) {
    std::uint32_t& known = memo_[(*contexts)[at]];
    if (known == kNone || number == next_exception) {
      if (place == places_end) return false;
      if (number == next_exception) next_exception = ++excepted < exceptions_.size() ? exceptions_[excepted] : kNone;
      known = *place++;
    }
    value = table_[known];
    ++number;
    return true;
  });
  return enough && place == places_end && excepted == exceptions_.size();
}

template <class Visit>
bool BlockReader::each_value(std::uint32_t column, const std::vector<Rule>& rules, std::vector<float>& values,
                             Visit visit) const {
  if (uniform_) {  // nearly always: all rules have the same values
    float* value = values.data() + column;
    for (std::size_t at = 0; at < rules.size(); ++at, value += lengths_[0])
      if (!visit(at, *value)) return false;
    return true;
  }
  for (std::size_t at = 0; at < rules.size(); ++at)
    if (lengths_[at] > column && !visit(at, values[rules[at].values + column])) return false;
  return true;
}

}  // namespace itersel
