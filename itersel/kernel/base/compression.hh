// Compression with zstd: of a list of chunks, quick to undo, and of a single string.
//
// Each chunk of a list is stored as it is, with matches (repeated strings) only, or with Huffman codes only, whichever
// is the best bargain of bytes and time to read. Matches and codes together save little more and take twice the time.
// The string has the number of chunks, the sizes of each (in the string and of the content; the same if it is stored as
// it is), all as variable-length numbers, then the chunks, as they are or as zstd frames.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace itersel {

class Compressor {
 public:
  Compressor();
  ~Compressor();

  // The same chunks give the same bytes. A chunk has at most 4 GiB.
  std::string compress(const std::vector<std::string>& chunks);

 private:
  using Context = std::unique_ptr<ZSTD_CCtx_s, void (*)(ZSTD_CCtx_s*)>;

  // The chunk with one method, in `frame_`.
  void compress_chunk(ZSTD_CCtx_s* context, std::string_view chunk);
  // What is stored of a chunk: `chunk` itself, or a view of `best_`.
  std::string_view choose(std::string_view chunk);

  Context matches_, codes_;
  std::string frame_, best_;
};

// Memory that grows to the largest content and is then used again.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;

  // The content of what a Compressor made, valid until the next call; false unless it is whole and has exactly `size`
  // bytes of content.
  bool decompress(std::string_view stored, std::size_t size, std::string_view& content);

 private:
  std::unique_ptr<ZSTD_DCtx_s, void (*)(ZSTD_DCtx_s*)> context_;
  std::unique_ptr<char[]> buffer_;
  std::size_t room_ = 0;
};

// One frame with a checksum: quick to make, and about as small as gzip's.
std::string compress_frame(std::string_view content);

// What compress_frame made `frame` of; false if it is not whole.
bool decompress_frame(std::string_view frame, std::string& content);

}  // namespace itersel
