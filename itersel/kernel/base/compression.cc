#include "base/compression.hh"

#include <zstd.h>

#include <new>
#include <stdexcept>

namespace itersel {
namespace {

void free_compressor(ZSTD_CCtx* context) { ZSTD_freeCCtx(context); }
void free_decompressor(ZSTD_DCtx* context) { ZSTD_freeDCtx(context); }

void check(std::size_t code) {
  if (ZSTD_isError(code)) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(code));
}

}  // namespace

Compressor::Compressor(int level) : context_(ZSTD_createCCtx(), free_compressor) {
  if (!context_) throw std::bad_alloc();
  check(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level));
}

Compressor::~Compressor() = default;

std::string Compressor::compress(const std::vector<std::string>& chunks) {
  std::size_t size = 0, room = 64;
  for (const std::string& chunk : chunks) {
    size += chunk.size();
    room += ZSTD_compressBound(chunk.size());
  }
  std::string stored(room, '\0');
  ZSTD_outBuffer out{stored.data(), stored.size(), 0};
  check(ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only));
  check(ZSTD_CCtx_setPledgedSrcSize(context_.get(), size));
  for (const std::string& chunk : chunks) {
    if (chunk.empty()) continue;
    ZSTD_inBuffer in{chunk.data(), chunk.size(), 0};
    const std::size_t left = ZSTD_compressStream2(context_.get(), &out, &in, ZSTD_e_flush);
    check(left);
    if (left != 0 || in.pos != in.size) throw std::runtime_error("zstd: the output does not fit");
  }
  ZSTD_inBuffer none{nullptr, 0, 0};
  const std::size_t left = ZSTD_compressStream2(context_.get(), &out, &none, ZSTD_e_end);
  check(left);
  if (left != 0) throw std::runtime_error("zstd: the output does not fit");
  stored.resize(out.pos);
  return stored;
}

Decompressor::Decompressor() : context_(ZSTD_createDCtx(), free_decompressor) {
  if (!context_) throw std::bad_alloc();
}

Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;

bool Decompressor::decompress(std::string_view stored, std::size_t size, std::string_view& content) {
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != size) return false;
  if (buffer_.size() < size) buffer_.resize(size);
  const std::size_t got = ZSTD_decompressDCtx(context_.get(), buffer_.data(), size, stored.data(), stored.size());
  if (ZSTD_isError(got) || got != size) return false;
  content = {buffer_.data(), size};
  return true;
}

}  // namespace itersel
