#include "shards/shard_file.hh"

#include <cstring>

#include "base/checksum.hh"
#include "base/error.hh"

namespace itersel {
void ShardFile::fail(const std::string& message) const { throw InputError(path_, message); }

void ShardFile::fail(std::uint32_t sentence, const std::string& message) const {
  fail(describe(static_cast<std::uint32_t>(Section::kCount) + sentence) + " " + message);
}

std::string ShardFile::describe(std::uint32_t piece) {
  constexpr auto kSections = static_cast<std::uint32_t>(Section::kCount);
  if (piece < kSections) return "section " + std::to_string(piece);
  return "the block of sentence " + std::to_string(piece - kSections + 1);
}

ShardFile::ShardFile(const std::string& path) : path_(path), mapping_(std::make_unique<MappedFile>(path)) {
  const std::string_view all = bytes();
  if (all.size() < sizeof header_ || std::memcmp(all.data(), kShardMagic, sizeof kShardMagic) != 0)
    fail("not a shard file (its first bytes are wrong); make it with 'itersel shard'");
  std::memcpy(&header_, all.data(), sizeof header_);
  if (header_.version != kShardVersion)
    fail("a shard of format version " + std::to_string(header_.version) + "; this program reads version " +
         std::to_string(kShardVersion) + ": compile it again with 'itersel shard' or 'itersel build'");
  const std::uint64_t table_size = sizeof(PieceRecord) * std::uint64_t{header_.piece_count};
  if (header_.file_size != all.size() || header_.piece_count < static_cast<std::uint32_t>(Section::kCount) ||
      all.size() - sizeof header_ < table_size)
    fail("the shard is truncated: it has " + std::to_string(all.size()) + " of " + std::to_string(header_.file_size) +
         " bytes; compile or copy it again");
  if (header_.checksum != itersel::checksum(all.substr(sizeof header_, table_size)))
    fail("the shard's table of pieces was altered (its checksum is wrong); compile or copy it again");
  table_.resize(header_.piece_count);
  std::memcpy(table_.data(), all.data() + sizeof header_, table_size);
  for (std::uint32_t piece = 0; piece < table_.size(); ++piece) {
    const PieceRecord& record = table_[piece];
    if (record.offset > all.size() || record.stored > all.size() - record.offset)
      fail(describe(piece) + " lies outside the shard; compile or copy it again");
    if (record.checksum != itersel::checksum(stored(record)))
      fail(describe(piece) + " was altered (its checksum is wrong); compile or copy the shard again");
    release(record);
  }
}

std::string_view ShardFile::read(std::uint32_t piece, Decompressor& decompressor) const {
  const PieceRecord& record = table_[piece];
  std::string_view content = stored(record);
  if (record.stored != record.size && !decompressor.decompress(stored(record), record.size, content))
    fail(describe(piece) + " cannot be decompressed; compile or copy the shard again");
  if (record.stored != record.size) release(record);
  return content;
}

void ShardFileWriter::add(const std::vector<std::string>& chunks) {
  std::size_t size = 0;
  for (const std::string& chunk : chunks) size += chunk.size();
  if (size > 0xFFFFFFF0u) throw InputError("", "the shard is too large; put fewer sentences into one");
  std::string stored;
  if (compressed_) stored = compressor_.compress(chunks);
  if (!compressed_ || stored.size() >= size) {  // tiny ones do not get smaller
    stored.clear();
    for (const std::string& chunk : chunks) stored += chunk;
  }
  table_.push_back(
      {bytes_.size(), static_cast<std::uint32_t>(stored.size()), static_cast<std::uint32_t>(size), checksum(stored)});
  bytes_ += stored;
}

std::string ShardFileWriter::finish() {
  const std::size_t begin = sizeof(ShardHeader) + sizeof(PieceRecord) * table_.size();
  for (PieceRecord& record : table_) record.offset += begin;
  ShardHeader header{};
  std::memcpy(header.magic, kShardMagic, sizeof header.magic);
  header.version = kShardVersion;
  header.piece_count = static_cast<std::uint32_t>(table_.size());
  header.file_size = begin + bytes_.size();
  const std::string_view table(reinterpret_cast<const char*>(table_.data()), sizeof(PieceRecord) * table_.size());
  header.checksum = checksum(table);
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file.reserve(begin + bytes_.size());
  return (file += table) += bytes_;
}

std::string repack_shard(const std::string& path, bool compressed) {
  const ShardFile file(path);
  ShardFileWriter writer(compressed);
  Decompressor decompressor;
  for (std::uint32_t section = 0; section < static_cast<std::uint32_t>(Section::kCount); ++section)
    writer.add(std::string(file.section(static_cast<Section>(section), decompressor)));
  for (std::uint32_t sentence = 0; sentence < file.sentences(); ++sentence)
    writer.add(std::string(file.sentence(sentence, decompressor)));
  return writer.finish();
}

}  // namespace itersel
