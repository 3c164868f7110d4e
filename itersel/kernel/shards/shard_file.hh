// The container of a shard: checked pieces of a mapped file, and the bytes of a new file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/compression.hh"
#include "base/mapped_file.hh"
#include "shards/shard_format.hh"

namespace itersel {

class ShardFile {
 public:
  // Maps the file and compares all checksums. A truncated, altered or foreign file, and one of another format version,
  // is an InputError that names the file and, where one piece is damaged, the section or the sentence.
  explicit ShardFile(const std::string& path);

  const std::string& path() const { return path_; }
  std::uint64_t checksum() const { return header_.checksum; }
  std::uint32_t sentences() const { return header_.piece_count - static_cast<std::uint32_t>(Section::kCount); }

  // Contents: views of the mapped file, or of the decompressor's memory.
  std::string_view section(Section section, Decompressor& decompressor) const {
    return read(static_cast<std::uint32_t>(section), decompressor);
  }
  std::string_view sentence(std::uint32_t number, Decompressor& decompressor) const {
    return read(static_cast<std::uint32_t>(Section::kCount) + number, decompressor);
  }

  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail(std::uint32_t sentence, const std::string& message) const;

 private:
  std::string_view read(std::uint32_t piece, Decompressor& decompressor) const;
  std::string_view stored(const PieceRecord& record) const { return bytes().substr(record.offset, record.stored); }
  // What was read of the file need not stay in memory: a piece is decompressed into memory of its own.
  void release(const PieceRecord& record) const { mapping_->release(record.offset, record.stored); }
  std::string_view bytes() const { return {mapping_->data(), mapping_->size()}; }
  static std::string describe(std::uint32_t piece);

  std::string path_;
  std::unique_ptr<const MappedFile> mapping_;
  ShardHeader header_{};
  std::vector<PieceRecord> table_;
};

// Lays out pieces as a file's bytes. A piece is given in chunks of one kind each, which are compressed one by one.
class ShardFileWriter {
 public:
  explicit ShardFileWriter(bool compressed) : compressed_(compressed) {}

  // The sections in their order, then the sentences.
  void add(const std::vector<std::string>& chunks);
  void add(std::string chunk) { add(std::vector<std::string>{std::move(chunk)}); }

  std::string finish();

 private:
  bool compressed_;
  Compressor compressor_;
  std::vector<PieceRecord> table_;
  std::string bytes_;
};

// The same shard, compressed or not: for tests and for measuring what compression costs.
std::string repack_shard(const std::string& path, bool compressed);

}  // namespace itersel
