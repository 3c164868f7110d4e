// The rules of one sentence, as a piece of a shard: which forms, and their values.
//
// A block holds, in order:
//   counts     of patterns and rules, then the sizes in bytes of the next three columns
//   patterns   ascending numbers, as differences
//   rules      how many for each pattern
//   forms      for each rule its place among the pattern's forms
//   values     a column for each place in the rules' lists of values; columns 1 and 2 come first
//
// Values repeat for reasons. Relative frequencies follow from two counts, columns 1 and 2 of an extracted rule, and
// lexical weights from the words. So a column may have a context, the pair of counts or the words: a rule whose context
// occurred before in the sentence has the value that came with it then, except for listed exceptions. Of the values
// that are left, different ones are stored once, in order of first appearance.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/varint.hh"
#include "grammar/rules.hh"

namespace itersel {

// What the blocks refer to.
struct FormTable {
  std::vector<Rule> forms;             // pattern by pattern; without values
  std::vector<std::uint32_t> first;    // by pattern, and the end
  std::vector<std::uint32_t> lexical;  // by form: a hash of its words on both sides
};

// Sets `lexical` for the forms.
void hash_words(const RuleTable& table, FormTable& forms);

// Gives keys dense numbers, in order of first appearance.
class Renumbering {
 public:
  // Returns how many different keys there are.
  std::uint32_t renumber(const std::vector<std::uint64_t>& keys, std::vector<std::uint32_t>& numbers);

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = 0, call = 0;  // of another call: empty
  };
  std::vector<Slot> slots_;
  std::uint32_t call_ = 0;
};

// One rule to be written: a form, by its place in FormTable, and where its values are.
struct BlockRule {
  std::uint32_t form;
  const float* values;
};

class BlockWriter {
 public:
  BlockWriter(const RuleTable& table, const FormTable& forms) : table_(table), forms_(forms) {}

  // The block in chunks of one kind each. The rules come pattern by pattern.
  std::vector<std::string> write(const std::vector<BlockRule>& rules);

 private:
  const RuleTable& table_;
  const FormTable& forms_;
  Renumbering renumbering_;
};

class BlockReader {
 public:
  // Replaces the rules, which refer to `values` by place. False if the block does not fit the tables.
  bool read(std::string_view block, const RuleTable& table, const FormTable& forms, std::vector<Rule>& rules,
            std::vector<float>& values);

 private:
  bool read_rules(VarintReader& block, const RuleTable& table, const FormTable& forms, std::vector<Rule>& rules);
  bool read_column(VarintReader& block, std::uint32_t column, const FormTable& forms, const std::vector<Rule>& rules,
                   std::vector<float>& values);
  // Calls visit(rule, value) for each rule that has the column, in order, until it returns false.
  template <class Visit>
  bool each_value(std::uint32_t column, const std::vector<Rule>& rules, std::vector<float>& values, Visit visit) const;
  // The contexts of the rules, or none if the block may not ask for them.
  const std::vector<std::uint32_t>* contexts(std::uint32_t kind, const FormTable& forms, std::uint32_t& count);

  Renumbering renumbering_;
  std::vector<std::uint32_t> forms_, lengths_;  // by rule
  std::vector<std::uint32_t> indices_[2];       // of the values in columns 1 and 2, by rule
  std::uint32_t count_columns_ = 0;             // how many of them were read
  bool uniform_ = false;                        // all rules have values in all columns
  std::vector<std::uint32_t> contexts_[2];
  std::vector<std::uint64_t> keys_;
  std::uint32_t context_counts_[2] = {0, 0};
  std::vector<std::uint32_t> exceptions_;
  std::vector<float> table_;           // a column's different values
  std::vector<std::uint32_t> places_;  // in the table, of the values that are left
  std::vector<std::uint32_t> memo_;    // by context, the place of its value
};

}  // namespace itersel
