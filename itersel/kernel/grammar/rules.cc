#include "grammar/rules.hh"

#include <algorithm>

namespace itersel {

std::uint32_t SchemaInterner::intern(RuleTable& table, const std::vector<std::uint32_t>& features) {
  auto equals = [&](std::uint32_t id) {
    const Range& range = table.schemas[id];
    const std::uint32_t* known = table.schema_features.data();
    return range.end - range.begin == features.size() &&
           std::equal(features.begin(), features.end(), known + range.begin);
  };
  if (last_ < table.schemas.size() && equals(last_)) return last_;
  if (buckets_.empty()) buckets_.resize(1024);
  std::uint64_t hash = features.size();
  for (std::uint32_t feature : features) hash = (hash ^ feature) * 0x9E3779B97F4A7C15ull;
  auto& bucket = buckets_[(hash >> 32) % buckets_.size()];
  for (std::uint32_t id : bucket)
    if (equals(id)) return last_ = id;
  last_ = static_cast<std::uint32_t>(table.schemas.size());
  std::uint32_t begin = static_cast<std::uint32_t>(table.schema_features.size());
  table.schema_features.append(features.begin(), features.end());
  table.schemas.push_back({begin, static_cast<std::uint32_t>(table.schema_features.size())});
  bucket.push_back(last_);
  return last_;
}

}  // namespace itersel
