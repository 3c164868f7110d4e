#include "grammar/grammar.hh"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/error.hh"
#include "base/text.hh"

namespace itersel {
namespace {

constexpr std::size_t kMaxSide = 32000;  // symbols of one side
constexpr std::string_view kForm = "expected '[LHS] ||| source ||| target ||| name=value … ||| i-j …'";

// Reads one grammar. All scratch memory lives here, so that a line costs no allocation of its own.
class Reader {
 public:
  Reader(Grammar& grammar, const std::string& path)
      : grammar_(grammar),
        path_(path),
        namer_(grammar.templates, grammar.lexicon.words, grammar.lexicon.labels, grammar.lexicon.features) {}

  void read(std::string_view text) {
    grammar_.goal = intern_label(grammar_.names.goal);
    grammar_.default_nonterminal = intern_label(grammar_.names.default_nonterminal);
    for (std::string_view rest = text; !rest.empty();) {
      std::string_view line = next_line(rest);
      ++line_number_;
      if (trim(line).empty()) continue;
      read_rule(line);
    }
    index_rules(grammar_, pattern_rules_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(path_ + ":" + std::to_string(line_number_), message);
  }

  void read_rule(std::string_view line) {
    std::string_view fields[5];
    std::size_t count = split_fields(line, fields);
    if (count < 3) fail(std::string(kForm) + ", found " + std::to_string(count) + " of the fields");
    if (count > 5) fail(std::string(kForm) + ", found more than 5 fields");

    Rule rule{};
    rule.lhs = read_lhs(fields[0]);
    if (fields[1] != last_source_ || pattern_rules_.empty() || unnumbered_) read_source(fields[1], fields[2], rule.lhs);
    rule.pattern = pattern_;
    read_target(fields[2], rule);
    read_values(count > 3 ? fields[3] : std::string_view(), rule);
    if (count > 4) read_alignment(fields[4], rule);
    if (grammar_.templates.any()) {
      sparse_.clear();
      namer_.append(rule.lhs, grammar_.table.target(rule), rule.target_length, sparse_);
      rule.sparse = static_cast<std::uint32_t>(grammar_.table.sparse.size());
      rule.sparse_length = static_cast<std::uint16_t>(sparse_.size());
      grammar_.table.sparse.append(sparse_.begin(), sparse_.end());
    }
    pattern_rules_[pattern_] += 1;
    grammar_.table.rules.push_back(rule);
  }

  std::uint16_t intern_label(std::string_view name) {
    std::uint32_t label = grammar_.lexicon.labels.intern(name);
    if (label > 0xFFFF) fail("more than 65,536 different labels in one grammar");
    return static_cast<std::uint16_t>(label);
  }

  std::uint16_t read_lhs(std::string_view field) {
    if (!field.empty() && field == last_lhs_) return lhs_;
    if (field.size() < 3 || field.front() != '[' || field.back() != ']' ||
        std::any_of(field.begin(), field.end(), is_space))
      fail("expected a left-hand side such as [X], found " + quoted(field));
    last_lhs_ = field;
    return lhs_ = intern_label(field.substr(1, field.size() - 2));
  }

  // `[NP,1]` → label and index; words that merely look a little like it stay words.
  static bool is_nonterminal(std::string_view token, std::string_view& label, std::uint32_t& index) {
    if (token.size() < 3 || token.front() != '[' || token.back() != ']') return false;
    std::size_t comma = token.rfind(',');
    std::string_view digits = comma == token.npos ? token.substr(1) : token.substr(comma + 1);
    label = comma == token.npos ? std::string_view() : token.substr(1, comma - 1);
    digits.remove_suffix(1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    return error == std::errc() && end == digits.data() + digits.size() && (comma == token.npos || !label.empty());
  }

  // `[NP]`, which cdec's grammars may have on the source side: the position among the non-terminals is the index.
  static bool is_unnumbered(std::string_view token) {
    return token.size() > 2 && token.front() == '[' && token.back() == ']' &&
           token.substr(1, token.size() - 2).find_first_of("[],") == token.npos;
  }

  // Words may look like `[NP]`, too. They are non-terminals if the target side has an index that would otherwise be
  // without partner, as in all grammars that cdec can read.
  bool has_unnumbered_nonterminals(std::string_view source, std::string_view target, std::uint16_t lhs) {
    std::string_view label;
    std::uint32_t index = 0;
    for (std::string_view rest = target, token; next_token(rest, token);)
      if (is_nonterminal(token, label, index) && std::find(indices_.begin(), indices_.end(), index) == indices_.end())
        return true;
    for (std::string_view rest = source, token; next_token(rest, token);) {
      if (!is_unnumbered(token)) continue;
      label = token.substr(1, token.size() - 2);
      if (label == grammar_.lexicon.labels[lhs] || label == grammar_.names.default_nonterminal)
        fail("the source side's " + quoted(token) + " has no partner on the target side: write [1] there");
    }
    return false;
  }

  void read_source(std::string_view field, std::string_view target, std::uint16_t lhs) {
    read_source_symbols(field, false);
    if (unnumbered_ && has_unnumbered_nonterminals(field, target, lhs)) read_source_symbols(field, true);
    if (symbols_.empty()) fail("the source side is empty");
    if (symbols_.size() > kMaxSide) fail("the source side has more than 32,000 symbols");
    last_source_ = field;

    RuleTable& table = grammar_.table;
    pattern_ = static_cast<std::uint32_t>(table.patterns.size());
    std::uint32_t begin = static_cast<std::uint32_t>(table.symbols.size());
    table.symbols.append(symbols_.begin(), symbols_.end());
    table.patterns.push_back(
        {begin, static_cast<std::uint16_t>(symbols_.size()), static_cast<std::uint16_t>(indices_.size())});
    pattern_rules_.push_back(0);
    if (grammar_.templates.any()) namer_.set_source(symbols_.data(), static_cast<std::uint32_t>(symbols_.size()));
  }

  // Sets symbols_, indices_ and unnumbered_: whether there is a token such as `[NP]`.
  void read_source_symbols(std::string_view field, bool number_all) {
    symbols_.clear();
    indices_.clear();
    unnumbered_ = false;
    std::string_view label;
    std::uint32_t index = 0;
    for (std::string_view rest = field, token; next_token(rest, token);) {
      const bool unnumbered = token.back() == ']' && is_unnumbered(token);
      unnumbered_ = unnumbered_ || unnumbered;
      bool found = !unnumbered && token.back() == ']' && is_nonterminal(token, label, index) && !label.empty();
      if (unnumbered && number_all) {
        label = token.substr(1, token.size() - 2);
        index = static_cast<std::uint32_t>(indices_.size()) + 1;
        found = true;
      }
      if (found) {
        if (indices_.size() == kMaxNonterminals)
          fail("more than two non-terminals on the source side " + quoted(field));
        if (!indices_.empty() && indices_[0] == index)
          fail("non-terminal index " + std::to_string(index) + " occurs twice");
        indices_.push_back(index);
        symbols_.push_back(nonterminal(intern_label(label)));
      } else {
        symbols_.push_back(static_cast<Symbol>(grammar_.lexicon.words.intern(token)));
      }
    }
  }

  void read_target(std::string_view field, Rule& rule) {
    symbols_.clear();
    std::uint32_t seen = 0;
    std::string_view label;
    std::uint32_t index = 0;
    for (std::string_view rest = field, token; next_token(rest, token);) {
      if (token.back() == ']' && is_nonterminal(token, label, index)) {
        auto found = std::find(indices_.begin(), indices_.end(), index);
        if (found == indices_.end())
          fail("the target side's " + quoted(token) + " has no partner with that index on the source side");
        std::uint32_t position = static_cast<std::uint32_t>(found - indices_.begin());
        if (seen >> position & 1) fail("the target side uses " + quoted(token) + " twice");
        seen |= 1u << position;
        symbols_.push_back(-1 - static_cast<Symbol>(position));
      } else {
        symbols_.push_back(static_cast<Symbol>(grammar_.lexicon.words.intern(token)));
      }
    }
    if (seen != (1u << indices_.size()) - 1)
      fail("the source side's non-terminals must each occur once on the target side " + quoted(field));
    if (symbols_.size() > kMaxSide) fail("the target side has more than 32,000 symbols");
    rule.target = static_cast<std::uint32_t>(grammar_.table.symbols.size());
    rule.target_length = static_cast<std::uint16_t>(symbols_.size());
    grammar_.table.symbols.append(symbols_.begin(), symbols_.end());
  }

  void read_values(std::string_view field, Rule& rule) {
    rule.values = static_cast<std::uint32_t>(grammar_.table.values.size());
    std::size_t count = 0;
    bool changed = false;
    auto set_feature = [&](std::string_view name) {
      if (count < names_.size() && names_[count] == name) return;
      if (count == names_.size()) {
        names_.emplace_back();
        schema_.push_back(0);
      }
      names_[count] = name;
      schema_[count] = grammar_.lexicon.features.intern(name);
      changed = true;
    };
    std::string_view token;
    for (std::string_view rest = field;; ++count) {
      float value;
      if (read_same_feature(rest, count, value)) {
        grammar_.table.values.push_back(value);
        continue;
      }
      if (!next_token(rest, token)) break;
      std::size_t equals = token.rfind('=');
      std::string_view digits = equals == token.npos ? token : token.substr(equals + 1);
      if (!parse_float(digits, value)) fail("expected a feature such as name=0.5 or a number, found " + quoted(token));
      if (equals == token.npos)
        set_feature(unnamed(count));
      else if (equals == 0)
        fail("a feature without a name: " + quoted(token));
      else
        set_feature(token.substr(0, equals));
      grammar_.table.values.push_back(value);
    }
    if (changed || count != names_.size()) {
      names_.resize(count);
      schema_.resize(count);
      schema_id_ = schemas_.intern(grammar_.table, schema_);
    } else if (grammar_.table.schemas.empty()) {
      schema_id_ = schemas_.intern(grammar_.table, schema_);
    }
    rule.schema = schema_id_;
  }

  // Takes a feature off `rest` if it has the name that the last rule's feature at this place had, and a plain number:
  // nearly all have. Whatever is not so plain stays.
  bool read_same_feature(std::string_view& rest, std::size_t place, float& value) const {
    if (place >= names_.size()) return false;
    const std::string_view name = names_[place];
    const char *at = rest.data(), *const end = at + rest.size();
    while (at != end && is_space(*at)) ++at;
    if (static_cast<std::size_t>(end - at) <= name.size() + 1 || at[name.size()] != '=' ||
        !same_bytes(at, name.data(), name.size()))
      return false;
    double number;
    const char* const stop = read_decimal(at + name.size() + 1, end, number);
    if (!stop || (stop != end && !is_space(*stop))) return false;
    value = static_cast<float>(number);
    rest = {stop, static_cast<std::size_t>(end - stop)};
    return true;
  }

  // The name of the n-th unnamed value, with storage that stays.
  std::string_view unnamed(std::size_t position) {
    while (unnamed_.size() <= position)
      unnamed_.push_back(std::make_unique<std::string>("PhraseModel_" + std::to_string(unnamed_.size())));
    return *unnamed_[position];
  }

  void read_alignment(std::string_view field, Rule& rule) {
    rule.alignment = static_cast<std::uint32_t>(grammar_.table.alignments.size());
    const Pattern& pattern = grammar_.table.patterns[rule.pattern];
    for (std::string_view rest = field, token; next_token(rest, token);) {
      std::uint32_t source = 0, target = 0;
      const char* end = token.data() + token.size();
      auto first = std::from_chars(token.data(), end, source);
      bool good = first.ec == std::errc() && first.ptr != end && *first.ptr == '-';
      if (good) {
        auto second = std::from_chars(first.ptr + 1, end, target);
        good = second.ec == std::errc() && second.ptr == end;
      }
      if (!good) fail("expected alignment links such as 0-1, found " + quoted(token));
      if (source >= pattern.length || target >= rule.target_length)
        fail("the alignment link " + quoted(token) + " points outside the rule");
      if (rule.alignment_length == 0xFFFF) fail("more than 65,535 alignment links");
      grammar_.table.alignments.push_back({static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(target)});
      ++rule.alignment_length;
    }
  }

  Grammar& grammar_;
  const std::string& path_;
  TemplateNamer<StringTable, StringTable> namer_;
  SchemaInterner schemas_;
  std::size_t line_number_ = 0;
  std::string_view last_lhs_, last_source_;
  std::uint16_t lhs_ = 0;
  bool unnumbered_ = false;
  std::uint32_t pattern_ = 0, schema_id_ = 0;
  std::vector<std::uint32_t> pattern_rules_;  // number of rules per pattern
  std::vector<Symbol> symbols_;
  std::vector<std::uint32_t> indices_, schema_, sparse_;
  std::vector<std::string_view> names_;  // of the last rule's values
  std::vector<std::unique_ptr<std::string>> unnamed_;
};

}  // namespace

std::shared_ptr<const Grammar> parse_grammar(std::string_view text, const std::string& path,
                                             const TemplateOptions& templates, const ModelNames& names) {
  auto grammar = std::make_shared<Grammar>();
  grammar->templates = templates;
  grammar->names = names;
  Reader(*grammar, path).read(text);
  return grammar;
}

// A source side may come in several runs of lines; the index wants all its rules together.
void index_rules(Grammar& grammar, const std::vector<std::uint32_t>& pattern_rules) {
  RuleTable& table = grammar.table;
  auto same = [&](std::uint32_t a, std::uint32_t b) {
    const Pattern &first = table.patterns[a], &second = table.patterns[b];
    return first.length == second.length &&
           std::equal(table.source(first), table.source(first) + first.length, table.source(second));
  };
  std::vector<std::uint32_t> order(table.patterns.size());
  for (std::uint32_t at = 0; at < order.size(); ++at) order[at] = at;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Pattern &first = table.patterns[a], &second = table.patterns[b];
    const Symbol *x = table.source(first), *y = table.source(second);
    for (std::uint32_t at = 0; at < first.length && at < second.length; ++at)
      if (x[at] != y[at]) return x[at] < y[at];
    return first.length != second.length ? first.length < second.length : a < b;
  });
  std::vector<std::uint32_t> representative(order.size()), starts(order.size());
  std::uint32_t total = 0;
  for (std::size_t at = 0; at < order.size(); ++at) {
    bool again = at && same(order[at - 1], order[at]);
    representative[order[at]] = again ? representative[order[at - 1]] : order[at];
    starts[order[at]] = total;
    total += pattern_rules[order[at]];
  }
  std::vector<std::uint32_t> sorted(table.rules.size());
  for (std::uint32_t rule = 0; rule < sorted.size(); ++rule) {
    std::uint32_t pattern = table.rules[rule].pattern;
    sorted[starts[pattern]++] = rule;
    table.rules.own(rule).pattern = representative[pattern];
  }
  grammar.index.add(table, sorted.data(), sorted.size());
  grammar.index.order_labels(grammar.lexicon.labels, {grammar.default_nonterminal, grammar.goal});
}

std::string write_rule(const RuleTable& table, const Lexicon& lexicon, const Rule& rule) {
  std::string line = "[";
  line += lexicon.labels[rule.lhs];
  line += "] |||";
  const Pattern& pattern = table.patterns[rule.pattern];
  std::vector<std::uint32_t> labels;
  for (std::uint32_t at = 0; at < pattern.length; ++at) {
    Symbol symbol = table.source(pattern)[at];
    if (symbol < 0) {
      labels.push_back(label_of(symbol));
      ((line += " [") += lexicon.labels[labels.back()]) += "," + std::to_string(labels.size()) + "]";
    } else {
      (line += ' ') += lexicon.words[static_cast<std::uint32_t>(symbol)];
    }
  }
  line += " |||";
  for (std::uint32_t at = 0; at < rule.target_length; ++at) {
    Symbol symbol = table.target(rule)[at];
    if (symbol < 0)
      ((line += " [") += lexicon.labels[labels[label_of(symbol)]]) += "," + std::to_string(-symbol) + "]";
    else
      (line += ' ') += lexicon.words[static_cast<std::uint32_t>(symbol)];
  }
  line += " |||";
  const Range& schema = table.schema(rule);
  for (std::uint32_t at = schema.begin; at < schema.end; ++at) {
    char buffer[32];
    float value = table.values[rule.values + (at - schema.begin)];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    ((line += ' ') += lexicon.features[table.schema_features[at]]) += '=';
    line.append(buffer, end);
  }
  if (rule.alignment_length) line += " |||";
  for (std::uint32_t at = 0; at < rule.alignment_length; ++at) {
    const Link& link = table.alignments[rule.alignment + at];
    line += " " + std::to_string(link.source) + "-" + std::to_string(link.target);
  }
  return line;
}

std::string write_grammar(const Grammar& grammar) {
  std::string text;
  for (const Rule& rule : grammar.table.rules) (text += write_rule(grammar.table, grammar.lexicon, rule)) += '\n';
  return text;
}

}  // namespace itersel
