#include "lists/list_table.hh"

#include <cmath>
#include <cstring>
#include <string>

#include "base/error.hh"

namespace itersel {
namespace {

constexpr std::size_t kHeader = 16;            // bytes
constexpr std::uint32_t kMaxStatistics = 256;  // columns; far more than any metric has

[[noreturn]] void damaged(std::uint32_t list, const std::string& what) {
  throw InputError("", "damaged lists: " + what + " in list " + std::to_string(list + 1));
}

}  // namespace

struct ListTable::Record {
  std::uint32_t size = 0, nonzeros = 0, width = 0;
  const double *metric = nullptr, *score = nullptr, *value = nullptr;
  const std::uint32_t *end = nullptr, *feature = nullptr;
  const Statistic* statistic = nullptr;
};

ListTable::ListTable(const unsigned char* data, std::size_t size, std::vector<std::uint64_t> offsets,
                     std::vector<std::uint64_t> keys, std::uint32_t features)
    : data_(data), offsets_(std::move(offsets)), keys_(std::move(keys)), features_(features) {
  if (offsets_.size() != 2 * keys_.size() || keys_.size() >= ~0u)
    throw InputError("", "damaged lists: the index does not fit the file");
  for (const std::uint64_t offset : offsets_)
    if (offset > size || offset % 8 != 0) throw InputError("", "damaged lists: the index leads out of the file");
  for (std::uint32_t list = 0; list < keys_.size(); ++list) check(list);
}

ListTable::Record ListTable::record(std::uint32_t list) const {
  const unsigned char* at = data_ + offsets_[2 * std::size_t{list}];
  Record made;
  std::memcpy(&made.size, at, 4);
  std::memcpy(&made.nonzeros, at + 4, 4);
  std::memcpy(&made.width, at + 8, 4);
  made.metric = reinterpret_cast<const double*>(at + kHeader);
  made.score = made.metric + made.size;
  made.value = made.score + made.size;
  made.end = reinterpret_cast<const std::uint32_t*>(made.value + made.nonzeros);
  made.feature = made.end + made.size;
  made.statistic = reinterpret_cast<const Statistic*>(made.feature + made.nonzeros);
  return made;
}

void ListTable::check(std::uint32_t list) const {
  const std::uint64_t begin = offsets_[2 * std::size_t{list}], end = offsets_[2 * std::size_t{list} + 1];
  if (end < begin + kHeader) damaged(list, "no record");
  std::uint32_t counts[4];
  std::memcpy(counts, data_ + begin, sizeof counts);
  const std::uint64_t n = counts[0], nonzeros = counts[1], width = counts[2];
  if (width > kMaxStatistics || counts[3] != 0) damaged(list, "wrong statistics");
  const std::uint64_t needed = kHeader + 8 * (2 * n + nonzeros) + 4 * (n + nonzeros + n * width);
  if (end - begin != (needed + 7) / 8 * 8) damaged(list, "wrong size");
  const Record one = record(list);
  for (std::uint32_t i = 0; i < one.size; ++i) {
    if (!std::isfinite(one.metric[i]) || !std::isfinite(one.score[i])) damaged(list, "a number is not finite");
    const std::uint32_t first = i == 0 ? 0 : one.end[i - 1];
    if (one.end[i] < first || one.end[i] > one.nonzeros) damaged(list, "hypotheses overlap");
    for (std::uint32_t k = first; k < one.end[i]; ++k) {
      if (!std::isfinite(one.value[k])) damaged(list, "a number is not finite");
      if (one.feature[k] >= features_ || (k > first && one.feature[k - 1] >= one.feature[k]))
        damaged(list, "features do not ascend");
    }
  }
  for (std::size_t i = 0; i < n * width; ++i)
    if (!std::isfinite(one.statistic[i])) damaged(list, "a number is not finite");
}

void ListTable::read(std::uint32_t number, ScoredList& list) const {
  const Record one = record(number);
  list.hypotheses.resize(one.size);
  list.metric.assign(one.metric, one.metric + one.size);
  list.statistics.width = one.width;
  list.statistics.values.assign(one.statistic, one.statistic + std::size_t{one.size} * one.width);
  std::uint32_t k = 0;
  for (std::uint32_t i = 0; i < one.size; ++i) {
    list.hypotheses[i].score = one.score[i];
    auto& features = list.hypotheses[i].features;
    features.clear();
    for (; k < one.end[i]; ++k)
      if (one.value[k] != 0) features.push_back({one.feature[k], one.value[k]});
  }
}

ListTable::Best ListTable::best(const ScoredList& list, const std::vector<double>& weights) {
  Best found;
  for (std::uint32_t i = 0; i < list.hypotheses.size(); ++i) {
    double score = 0;
    for (const FeatureValue& x : list.hypotheses[i].features) score += weights[x.feature] * x.value;
    if (i == 0 || score > found.score) found = {i, score, list.metric[i]};
  }
  return found;
}

}  // namespace itersel
