// Compression with zstd: one frame for a list of chunks, and back.
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
  explicit Compressor(int level);
  ~Compressor();

  // The chunks, one after the other, as one frame that says its size. Each chunk gets statistics of its own, so chunks
  // of different kinds do not spoil each other. The same chunks give the same bytes.
  std::string compress(const std::vector<std::string>& chunks);

 private:
  std::unique_ptr<ZSTD_CCtx_s, void (*)(ZSTD_CCtx_s*)> context_;
};

// Memory that grows to the largest content and is then used again.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;

  // The content of a frame, valid until the next call; false unless `stored` is one whole frame of exactly `size`
  // bytes.
  bool decompress(std::string_view stored, std::size_t size, std::string_view& content);

 private:
  std::unique_ptr<ZSTD_DCtx_s, void (*)(ZSTD_DCtx_s*)> context_;
  std::vector<char> buffer_;
};

}  // namespace itersel
