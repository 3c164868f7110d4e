// The sparse feature templates of a rule: identity, source and target bigrams, shape, named as cdec names them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grammar/rules.hh"

namespace itersel {

// All fields must be given.
struct TemplateOptions {
  bool identity;        // R:X:<src>:<tgt>
  bool source_bigrams;  // RBS:<a>_<b>
  bool target_bigrams;  // RBT:<a>_<b>
  bool shape;           // Shape_S<5 bits>_T<5 bits>

  bool any() const { return identity || source_bigrams || target_bigrams || shape; }
};

// Builds the names of one rule after the other. The source side's part is reused while the source stays the same.
template <class Strings, class Features>
class TemplateNamer {
 public:
  TemplateNamer(const TemplateOptions& options, const Strings& words, const StringTable& labels, Features& features)
      : options_(options), words_(words), labels_(labels), features_(features) {}

  // Must be called before append for each new source side.
  void set_source(const Symbol* source, std::uint32_t length) {
    source_ids_.clear();
    source_labels_.clear();
    source_name_.clear();
    for (std::uint32_t at = 0; at < length; ++at) {
      if (at) source_name_ += '_';
      if (source[at] < 0) {
        source_labels_.push_back(label_of(source[at]));
        (source_name_ += 'N') += labels_[label_of(source[at])];
      } else {
        source_name_ += words_[static_cast<std::uint32_t>(source[at])];
      }
    }
    if (options_.source_bigrams)
      bigrams("RBS:", source, length, [&](Symbol symbol) { name_ += labels_[label_of(symbol)]; }, source_ids_);
    source_shape_ = shape(source, length);
  }

  // Appends the feature ids of the rule with the source given last.
  void append(std::uint32_t lhs, const Symbol* target, std::uint32_t length, std::vector<std::uint32_t>& ids) {
    ids.insert(ids.end(), source_ids_.begin(), source_ids_.end());
    if (options_.identity) {
      ((((name_ = "R:") += labels_[lhs]) += ':') += source_name_) += ':';
      for (std::uint32_t at = 0; at < length; ++at) {
        if (at) name_ += '_';
        if (target[at] < 0)
          (name_ += 'N') += static_cast<char>('0' - target[at]);
        else
          name_ += words_[static_cast<std::uint32_t>(target[at])];
      }
      finish(ids);
    }
    if (options_.target_bigrams)
      bigrams(
          "RBT:", target, length,
          [&](Symbol symbol) {
            (name_ += labels_[source_labels_[static_cast<std::uint32_t>(-1 - symbol)]]) +=
                static_cast<char>('0' - symbol);
          },
          ids);
    if (options_.shape) {
      ((name_ = "Shape_S") += source_shape_) += "_T";
      name_ += shape(target, length);
      finish(ids);
    }
  }

 private:
  // Slots: words, non-terminal, words, non-terminal, words. A run of words fills one slot.
  static std::string shape(const Symbol* symbols, std::uint32_t length) {
    std::string bits = "00000";
    int slot = 0;
    for (std::uint32_t at = 0; at < length; ++at) {
      if (symbols[at] < 0)
        slot += slot % 2 ? 2 : 1;
      else if (slot % 2)
        ++slot;
      bits[static_cast<std::size_t>(slot)] = '1';
    }
    return bits;
  }

  template <class AddNonterminal>
  void bigrams(std::string_view prefix, const Symbol* symbols, std::uint32_t length, AddNonterminal add_nonterminal,
               std::vector<std::uint32_t>& ids) {
    auto add = [&](std::uint32_t at) {
      if (symbols[at] < 0)
        add_nonterminal(symbols[at]);
      else
        name_ += words_[static_cast<std::uint32_t>(symbols[at])];
    };
    for (std::uint32_t at = 0; at <= length; ++at) {
      name_ = prefix;
      if (at == 0)
        name_ += "<r>";
      else
        add(at - 1);
      name_ += '_';
      if (at == length)
        name_ += "</r>";
      else
        add(at);
      finish(ids);
    }
  }

  void finish(std::vector<std::uint32_t>& ids) {
    for (char& letter : name_)
      if (letter == '=' || letter == ';') letter = '_';
    ids.push_back(features_.intern(name_));
  }

  const TemplateOptions& options_;
  const Strings& words_;
  const StringTable& labels_;
  Features& features_;
  std::string name_, source_name_, source_shape_;
  std::vector<std::uint32_t> source_ids_, source_labels_;
};

}  // namespace itersel
