#include "grammar/bitext_index.hh"

#include <algorithm>
#include <cstring>

#include "base/error.hh"

namespace itersel {
namespace {

constexpr char kRebuild[] = "; build the index again";

std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) * 0x9E3779B97F4A7C15u;
  return state ^ (state >> 32);
}

}  // namespace

std::uint64_t index_checksum(const char* data, std::size_t size) {
  // Four independent lanes keep the multiplier busy; the tail is padded with zeros.
  std::uint64_t lanes[4] = {size, 1, 2, 3};
  const std::size_t skip = offsetof(IndexHeader, checksum);
  for (std::size_t i = 0; i < size; i += sizeof lanes) {
    std::uint64_t words[4] = {0, 0, 0, 0};
    std::memcpy(words, data + i, std::min(sizeof words, size - i));
    if (i <= skip && skip < i + sizeof words) words[(skip - i) / 8] = 0;
    for (int lane = 0; lane < 4; ++lane) lanes[lane] = mix(lanes[lane], words[lane]);
  }
  return mix(mix(mix(lanes[0], lanes[1]), lanes[2]), lanes[3]);
}

BitextIndex::BitextIndex(const std::string& path) : path_(path), file_(path) {
  IndexHeader header;
  if (file_.size() < sizeof header || std::memcmp(file_.data(), kIndexMagic, sizeof kIndexMagic) != 0) {
    throw InputError(path, "not an itersel bitext index");
  }
  std::memcpy(&header, file_.data(), sizeof header);
  if (header.byte_order != kByteOrder) throw InputError(path, "index of a machine with another byte order");
  if (header.version != kIndexVersion) {
    throw InputError(path, "index version " + std::to_string(header.version) + ", expected " +
                               std::to_string(kIndexVersion) + kRebuild);
  }
  if (header.file_size != file_.size()) {
    throw InputError(path, "truncated index: " + std::to_string(file_.size()) + " bytes, expected " +
                               std::to_string(header.file_size) + kRebuild);
  }
  fingerprint_ = index_checksum(file_.data(), file_.size());
  if (fingerprint_ != header.checksum) throw InputError(path, std::string("damaged index: wrong checksum") + kRebuild);

  std::size_t offset = sizeof header, section = 0;
  visit_sections(*this, [&](auto& slice) {
    using Element = std::decay_t<decltype(slice[0])>;
    slice.data = reinterpret_cast<const Element*>(file_.data() + offset);
    slice.size = header.sizes[section++];
    offset += (slice.size * sizeof(Element) + 7) / 8 * 8;
  });
  const std::size_t words = source_name_start.size - 1;
  source_ids_.reserve(words);
  for (std::uint32_t word = kFirstWord; word < words; ++word) source_ids_.emplace(source_text(word), word);
}

std::uint32_t BitextIndex::source_word(std::string_view word) const {
  auto found = source_ids_.find(word);
  return found == source_ids_.end() ? kUnknownWord : found->second;
}

const LexicalCount* BitextIndex::find_lexical(std::uint32_t source, std::uint32_t target) const {
  const LexicalCount *begin = lexical.data + lexical_start[source], *end = lexical.data + lexical_start[source + 1];
  auto found =
      std::lower_bound(begin, end, target, [](const LexicalCount& a, std::uint32_t b) { return a.target < b; });
  return found != end && found->target == target ? found : nullptr;
}

}  // namespace itersel
