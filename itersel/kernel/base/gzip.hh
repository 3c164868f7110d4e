// Writes gzip files (RFC 1951, RFC 1952) quickly: text with much repetition, such as grammars and language models, in
// half the time that zlib's fastest level takes, and in fewer bytes. The same chunks give the same bytes; there is no
// time stamp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace itersel {

class GzipWriter {
 public:
  GzipWriter();

  // Appends to the content. Repetitions are found within a chunk, not across chunks.
  void add(std::string_view chunk);

  // The file with all that was added. The writer is then ready for the next one.
  std::string finish();

 private:
  // A literal, or the distance and length of a repetition.
  struct Token {
    std::uint16_t distance;  // 0: a literal
    std::uint16_t value;     // the byte, or the length
  };

  void start();
  void find_tokens(const char* text, std::size_t begin, std::size_t end);
  void write_block();
  void put(std::uint64_t bits, int count);
  void flush_bytes();

  std::string out_;
  std::uint64_t buffer_ = 0;  // bits that do not fill a byte yet
  int buffered_ = 0;
  std::uint32_t crc_ = 0, size_ = 0;
  std::vector<std::uint32_t> recent_;  // by hash: the last two positions + 1 of the chunk where it was seen
  std::vector<Token> tokens_;
  std::uint32_t symbols_[286] = {}, distances_[30] = {};  // how often each is in `tokens_`
};

}  // namespace itersel
