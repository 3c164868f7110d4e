#include "base/compression.hh"

#define ZSTD_STATIC_LINKING_ONLY  // for ZSTD_c_literalCompressionMode; zstd is linked statically, in a fixed version
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "base/varint.hh"

namespace itersel {
namespace {

void free_compressor(ZSTD_CCtx* context) { ZSTD_freeCCtx(context); }
void free_decompressor(ZSTD_DCtx* context) { ZSTD_freeDCtx(context); }

std::size_t check(std::size_t code) {
  if (ZSTD_isError(code)) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(code));
  return code;
}

// Levels below 0 do without Huffman codes.
constexpr int kMatchesLevel = -1;
// The search skips so much that it finds next to nothing; codes are asked for.
constexpr int kCodesStep = 1 << 17;
constexpr int kFrameLevel = 1;
// What a damaged header may claim is not allocated; no content is larger.
constexpr unsigned long long kLargestFrame = 1ULL << 40;

// What a way to store a chunk costs: its bytes, and the time to read it back, at 4 ns a byte. The times were measured
// on blocks and sections of Multi30k: a table of codes takes 2 µs and a coded byte half a nanosecond; matches take time
// where the chunk is neither all matches nor all literals.
double cost_of_codes(double stored, double size) { return stored + 500 + size / 8; }
double cost_of_matches(double stored, double size) { return stored + 125 + 1.5 * std::min(stored, size - stored); }

}  // namespace

Compressor::Compressor() : matches_(ZSTD_createCCtx(), free_compressor), codes_(ZSTD_createCCtx(), free_compressor) {
  if (!matches_ || !codes_) throw std::bad_alloc();
  check(ZSTD_CCtx_setParameter(matches_.get(), ZSTD_c_compressionLevel, kMatchesLevel));
  check(ZSTD_CCtx_setParameter(codes_.get(), ZSTD_c_compressionLevel, -kCodesStep));
  check(ZSTD_CCtx_setParameter(codes_.get(), ZSTD_c_minMatch, 7));
  check(ZSTD_CCtx_setParameter(codes_.get(), ZSTD_c_targetLength, kCodesStep));
  check(ZSTD_CCtx_setParameter(codes_.get(), ZSTD_c_literalCompressionMode, ZSTD_ps_enable));
}

Compressor::~Compressor() = default;

void Compressor::compress_chunk(ZSTD_CCtx* context, std::string_view chunk) {
  frame_.resize(ZSTD_compressBound(chunk.size()));
  frame_.resize(check(ZSTD_compress2(context, frame_.data(), frame_.size(), chunk.data(), chunk.size())));
}

std::string_view Compressor::choose(std::string_view chunk) {
  const auto size = static_cast<double>(chunk.size());
  double least = size;
  bool as_is = true;
  auto consider = [&](ZSTD_CCtx* context, double (*cost_of)(double, double)) {
    compress_chunk(context, chunk);
    if (frame_.size() >= chunk.size()) return;
    const double cost = cost_of(static_cast<double>(frame_.size()), size);
    if (cost >= least) return;
    least = cost;
    as_is = false;
    best_.swap(frame_);
  };
  if (size > cost_of_matches(0, size)) consider(matches_.get(), cost_of_matches);
  if (size > cost_of_codes(0, size)) consider(codes_.get(), cost_of_codes);
  return as_is ? chunk : best_;
}

std::string Compressor::compress(const std::vector<std::string>& chunks) {
  std::string sizes, bytes;
  append_varint(sizes, chunks.size());
  for (const std::string& chunk : chunks) {
    const std::string_view stored = choose(chunk);
    append_varint(sizes, stored.size());
    append_varint(sizes, chunk.size());
    bytes += stored;
  }
  return sizes + bytes;
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx(), free_decompressor) {
  if (!context_) throw std::bad_alloc();
}

Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;

bool Decompressor::decompress(std::string_view stored, std::size_t size, std::string_view& content) {
  VarintReader sizes(stored), chunks(stored);
  const std::uint32_t count = chunks.count();
  std::uint64_t total = 0;
  for (std::uint32_t number = 0; number < count; ++number) {
    chunks.next();
    total += chunks.next();
  }
  if (!chunks.good() || total != size) return false;
  if (room_ < size) {
    buffer_.reset(new char[size]);  // not set to zero
    room_ = size;
  }
  char* to = buffer_.get();
  sizes.next();
  for (std::uint32_t number = 0; number < count; ++number) {
    const std::uint32_t stored_size = sizes.next(), chunk_size = sizes.next();
    const std::string_view chunk = chunks.bytes(stored_size);
    if (!chunks.good()) return false;
    if (stored_size == chunk_size) {
      if (chunk_size > 0) std::memcpy(to, chunk.data(), chunk_size);
    } else if (ZSTD_decompressDCtx(context_.get(), to, chunk_size, chunk.data(), stored_size) != chunk_size) {
      return false;
    }
    to += chunk_size;
  }
  content = {buffer_.get(), size};
  return chunks.complete();
}

std::string compress_frame(std::string_view content) {
  const std::unique_ptr<ZSTD_CCtx, void (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), free_compressor);
  if (!context) throw std::bad_alloc();
  check(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kFrameLevel));
  check(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1));
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  frame.resize(check(ZSTD_compress2(context.get(), frame.data(), frame.size(), content.data(), content.size())));
  return frame;
}

bool decompress_frame(std::string_view frame, std::string& content) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kLargestFrame) return false;
  try {
    content.resize(size);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size()) == size;
}

}  // namespace itersel
