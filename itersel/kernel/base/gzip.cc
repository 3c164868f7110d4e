#include "base/gzip.hh"

#include <algorithm>
#include <cstring>
#include <utility>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define ITERSEL_CARRY_LESS
#endif

namespace itersel {
namespace {

constexpr std::size_t kWindow = 32768, kShortest = 6, kLongest = 258;
constexpr std::size_t kBlockText = 1 << 17;  // bytes whose repetitions share a code
constexpr std::size_t kHashed = 8;           // bytes that are read to find a place by its first kShortest
constexpr int kHashBits = 13;
constexpr int kEndOfBlock = 256, kFirstLength = 257;
constexpr int kLongestCode = 15, kLongestCodeOfLengths = 7;

// Reflected CRC-32, eight bytes at a time.
struct CrcTables {
  std::uint32_t of[8][256];
  CrcTables() {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t crc = byte;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
      of[0][byte] = crc;
    }
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      for (int i = 1; i < 8; ++i) of[i][byte] = of[i - 1][byte] >> 8 ^ of[0][of[i - 1][byte] & 255];
    }
  }
};

// `crc` is complemented, here and below.
std::uint32_t crc_by_table(std::uint32_t crc, const char* text, std::size_t left) {
  static const CrcTables tables;
  const auto* at = reinterpret_cast<const unsigned char*>(text);
  for (; left >= 8; at += 8, left -= 8) {
    const std::uint32_t low = crc ^ (at[0] | at[1] << 8 | at[2] << 16 | static_cast<std::uint32_t>(at[3]) << 24);
    crc = tables.of[7][low & 255] ^ tables.of[6][low >> 8 & 255] ^ tables.of[5][low >> 16 & 255] ^
          tables.of[4][low >> 24] ^ tables.of[3][at[4]] ^ tables.of[2][at[5]] ^ tables.of[1][at[6]] ^
          tables.of[0][at[7]];
  }
  for (; left > 0; ++at, --left) crc = crc >> 8 ^ tables.of[0][(crc ^ *at) & 255];
  return crc;
}

#ifdef ITERSEL_CARRY_LESS
// The remainder of x to the n-th power, reflected, as a factor for a product that comes out one bit too low.
std::int64_t remainder_of_power(int n) {
  std::uint32_t power = 0x80000000u;
  for (int i = 0; i < n; ++i) power = power >> 1 ^ (power & 1 ? 0xEDB88320u : 0);
  return static_cast<std::int64_t>(power) << 1;
}

// The text is a polynomial of which only the remainder matters: 16 bytes times x^512, taken modulo the polynomial of
// the CRC, can be added to the 16 that are 64 bytes later. Four such accumulators side by side hide the latency of a
// product. What is left, 64 bytes with the same remainder as all of the text before, goes by table.
__attribute__((target("pclmul,sse2"))) std::uint32_t crc_by_products(std::uint32_t crc, const char* text,
                                                                     std::size_t size) {
  constexpr int kAccumulators = 4, kBits = 128 * kAccumulators;
  static const std::int64_t far = remainder_of_power(kBits + 32), near = remainder_of_power(kBits - 32);
  const __m128i factors = _mm_set_epi64x(near, far);
  const auto* at = reinterpret_cast<const __m128i*>(text);
  const __m128i* const end = at + size / 64 * kAccumulators;
  __m128i sum[kAccumulators];
  for (int i = 0; i < kAccumulators; ++i) sum[i] = _mm_loadu_si128(at++);
  sum[0] = _mm_xor_si128(sum[0], _mm_cvtsi32_si128(static_cast<int>(crc)));
  while (at != end) {
    for (int i = 0; i < kAccumulators; ++i) {
      const __m128i low = _mm_clmulepi64_si128(sum[i], factors, 0x00),
                    high = _mm_clmulepi64_si128(sum[i], factors, 0x11);
      sum[i] = _mm_xor_si128(_mm_xor_si128(low, high), _mm_loadu_si128(at++));
    }
  }
  char rest[sizeof sum];
  std::memcpy(rest, sum, sizeof sum);
  crc = crc_by_table(0, rest, sizeof rest);
  return crc_by_table(crc, reinterpret_cast<const char*>(end), size % 64);
}
#endif

std::uint32_t crc32(std::uint32_t crc, std::string_view text) {
#ifdef ITERSEL_CARRY_LESS
  static const bool multiplies = __builtin_cpu_supports("pclmul");
  if (multiplies && text.size() >= 64) return ~crc_by_products(~crc, text.data(), text.size());
#endif
  return ~crc_by_table(~crc, text.data(), text.size());
}

// The symbol of each length and distance, with the extra bits that follow it.
struct Alphabet {
  std::uint16_t length_symbol[kLongest + 1];
  std::uint16_t length_base[29], distance_base[30];
  std::uint8_t length_bits[29], distance_bits[30];
  std::uint8_t near[256], far[256];  // symbol of distance − 1, and of (distance − 1) / 128 from 256 on

  Alphabet() {
    std::uint16_t base = 3;
    for (int i = 0; i < 28; ++i) {
      length_bits[i] = static_cast<std::uint8_t>(i < 8 ? 0 : i / 4 - 1);
      length_base[i] = base;
      for (int k = 0; k < 1 << length_bits[i]; ++k)
        if (base < kLongest) length_symbol[base++] = static_cast<std::uint16_t>(kFirstLength + i);
    }
    length_bits[28] = 0;
    length_base[28] = kLongest;
    length_symbol[kLongest] = kFirstLength + 28;
    std::uint32_t distance = 1;
    for (int i = 0; i < 30; ++i) {
      distance_bits[i] = static_cast<std::uint8_t>(i < 4 ? 0 : i / 2 - 1);
      distance_base[i] = static_cast<std::uint16_t>(distance);
      for (std::uint32_t k = 0; k < 1u << distance_bits[i]; ++k, ++distance) {
        if (distance <= 256) near[distance - 1] = static_cast<std::uint8_t>(i);
        far[(distance - 1) >> 7] = static_cast<std::uint8_t>(i);
      }
    }
  }

  int distance_symbol(std::uint32_t distance) const {
    return distance <= 256 ? near[distance - 1] : far[(distance - 1) >> 7];
  }
};

const Alphabet& alphabet() {
  static const Alphabet only;
  return only;
}

// A prefix code: for each symbol its bits, first bit lowest, and their number.
struct Code {
  std::uint16_t bits[286] = {};
  std::uint8_t length[286] = {};
};

// Huffman's code, with no word longer than `longest` (a little longer than the best such code if that limits it).
Code make_code(const std::uint32_t* counts, int size, int longest) {
  Code code;
  std::vector<std::pair<std::uint32_t, int>> used;
  for (int i = 0; i < size; ++i)
    if (counts[i] > 0) used.emplace_back(counts[i], i);
  // A decoder may want two symbols: one alone gets an unused brother.
  for (int i = 0; used.size() < 2; ++i)
    if (counts[i] == 0) used.emplace_back(0, i);
  std::sort(used.begin(), used.end());

  // Leaves and inner nodes, each ascending: the two smallest are always at the front of the two rows.
  const std::size_t leaves = used.size();
  std::vector<std::uint64_t> weight(2 * leaves - 1);
  std::vector<std::size_t> parent(2 * leaves - 1);
  for (std::size_t i = 0; i < leaves; ++i) weight[i] = used[i].first;
  std::size_t leaf = 0, inner = leaves;
  for (std::size_t node = leaves; node < 2 * leaves - 1; ++node) {
    weight[node] = 0;
    for (int child = 0; child < 2; ++child) {
      const bool take_leaf = leaf < leaves && (inner == node || weight[leaf] <= weight[inner]);
      const std::size_t taken = take_leaf ? leaf++ : inner++;
      parent[taken] = node;
      weight[node] += weight[taken];
    }
  }
  std::vector<int> depth(2 * leaves - 1, 0);
  int of_length[kLongestCode + 1] = {};
  for (std::size_t node = 2 * leaves - 2; node-- > 0;) {
    depth[node] = depth[parent[node]] + 1;
    if (node < leaves) ++of_length[std::min(depth[node], longest)];
  }
  // Words cut to the limit take too much of the code space: lengthen others until the sum of 2^−length is 1.
  std::uint32_t space = 0;
  for (int i = 1; i <= longest; ++i) space += static_cast<std::uint32_t>(of_length[i]) << (longest - i);
  for (; space > 1u << longest; --space) {
    int i = longest - 1;
    while (of_length[i] == 0) --i;
    --of_length[i];
    of_length[i + 1] += 2;
    --of_length[longest];
  }
  // The rarest get the longest words; equal lengths count upwards by symbol.
  std::size_t next = 0;
  for (int length = longest; length > 0; --length)
    for (int i = 0; i < of_length[length]; ++i) code.length[used[next++].second] = static_cast<std::uint8_t>(length);
  std::uint32_t first[kLongestCode + 2] = {};
  for (int length = 1; length <= longest; ++length)
    first[length + 1] = (first[length] + static_cast<std::uint32_t>(of_length[length])) << 1;
  for (int i = 0; i < size; ++i) {
    if (code.length[i] == 0) continue;
    std::uint32_t word = first[code.length[i]]++, reversed = 0;
    for (int bit = 0; bit < code.length[i]; ++bit, word >>= 1) reversed = reversed << 1 | (word & 1);
    code.bits[i] = static_cast<std::uint16_t>(reversed);
  }
  return code;
}

// The first kShortest bytes at a place that has eight.
std::uint64_t first_bytes(const char* at) {
  std::uint64_t bytes;
  std::memcpy(&bytes, at, sizeof bytes);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return bytes << 8 * (sizeof bytes - kShortest);
#else
  return bytes >> 8 * (sizeof bytes - kShortest);
#endif
}

// Bytes that two places have in common, up to `most`, which must be in the text.
std::size_t common(const char* a, const char* b, std::size_t most) {
  std::size_t length = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  for (; length + 8 <= most; length += 8) {
    std::uint64_t left, right;
    std::memcpy(&left, a + length, 8);
    std::memcpy(&right, b + length, 8);
    if (left != right) return length + static_cast<std::size_t>(__builtin_ctzll(left ^ right)) / 8;
  }
#endif
  while (length < most && a[length] == b[length]) ++length;
  return length;
}

}  // namespace

GzipWriter::GzipWriter() : recent_(std::size_t{2} << kHashBits) { start(); }

void GzipWriter::start() {
  constexpr char kHeader[] = "\x1f\x8b\x08\0\0\0\0\0\x04\xff";  // deflate, no name, no time, fastest, any system
  out_.assign(kHeader, sizeof kHeader - 1);
  crc_ = size_ = 0;
  buffer_ = 0;
  buffered_ = 0;
}

void GzipWriter::add(std::string_view chunk) {
  crc_ = crc32(crc_, chunk);
  size_ += static_cast<std::uint32_t>(chunk.size());
  // Positions are 32-bit.
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  for (; !chunk.empty(); chunk.remove_prefix(std::min(chunk.size(), kPiece))) {
    const std::string_view piece = chunk.substr(0, kPiece);
    std::fill(recent_.begin(), recent_.end(), 0);
    for (std::size_t begin = 0; begin < piece.size(); begin += kBlockText) {
      find_tokens(piece.data(), begin, std::min(begin + kBlockText, piece.size()));
      write_block();
    }
  }
}

// Greedy: at each place the longer of the repetitions of the two last places with the same first bytes.
void GzipWriter::find_tokens(const char* text, std::size_t begin, std::size_t end) {
  tokens_.clear();
  std::fill(symbols_, symbols_ + 286, 0);
  std::fill(distances_, distances_ + 30, 0);
  const Alphabet& letters = alphabet();
  const auto slot_of = [&](std::size_t at) {
    return recent_.data() + (first_bytes(text + at) * 0x9E3779B97F4A7C15u >> (64 - kHashBits)) * 2;
  };
  const auto remember = [](std::uint32_t* slot, std::size_t at) {
    slot[1] = slot[0];
    slot[0] = static_cast<std::uint32_t>(at + 1);
  };
  const auto literal = [&](std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    tokens_.push_back({0, byte});
    ++symbols_[byte];
  };
  std::size_t at = begin;
  while (at + kHashed <= end) {
    std::uint32_t* slot = slot_of(at);
    const std::uint64_t start = first_bytes(text + at);
    const std::size_t most = std::min(kLongest, end - at);
    std::size_t length = 0, from = 0;
    for (int way = 0; way < 2; ++way) {
      const std::size_t place = slot[way];
      if (place == 0 || at - (place - 1) > kWindow) break;
      if (first_bytes(text + place - 1) != start) continue;
      const std::size_t shared = common(text + place - 1, text + at, most);
      if (shared > length) length = shared, from = place - 1;
    }
    remember(slot, at);
    if (length < kShortest) {
      literal(at++);
      continue;
    }
    const auto distance = static_cast<std::uint32_t>(at - from);
    // A distance of 2^15 is kept as 0x8000, which the field holds.
    tokens_.push_back({static_cast<std::uint16_t>(distance), static_cast<std::uint16_t>(length)});
    ++symbols_[letters.length_symbol[length]];
    ++distances_[letters.distance_symbol(distance)];
    const std::size_t next = at + length;
    // Where a repetition ends, the next one often begins with its last bytes.
    if (next + kHashed <= end) {
      remember(slot_of(at + 1), at + 1);
      remember(slot_of(next - 2), next - 2);
    }
    at = next;
  }
  while (at < end) literal(at++);
}

void GzipWriter::put(std::uint64_t bits, int count) {
  buffer_ |= bits << buffered_;
  buffered_ += count;
}

// Moves whole bytes to the output: at most 7 bits stay.
void GzipWriter::flush_bytes() {
  char bytes[8];
  int size = 0;
  for (; buffered_ >= 8; buffered_ -= 8, buffer_ >>= 8) bytes[size++] = static_cast<char>(buffer_);
  out_.append(bytes, static_cast<std::size_t>(size));
}

void GzipWriter::write_block() {
  symbols_[kEndOfBlock] = 1;
  const Code symbols = make_code(symbols_, 286, kLongestCode), distances = make_code(distances_, 30, kLongestCode);
  int symbol_count = 286, distance_count = 30;
  while (symbol_count > 257 && symbols.length[symbol_count - 1] == 0) --symbol_count;
  while (distance_count > 1 && distances.length[distance_count - 1] == 0) --distance_count;

  // The lengths of both codes as runs: 16 repeats the last one, 17 and 18 are zeros.
  std::vector<std::uint8_t> lengths(symbols.length, symbols.length + symbol_count);
  lengths.insert(lengths.end(), distances.length, distances.length + distance_count);
  struct Run {
    std::uint8_t symbol, extra, bits;
  };
  std::vector<Run> runs;
  std::uint32_t run_counts[19] = {};
  for (std::size_t i = 0; i < lengths.size();) {
    std::size_t same = 1;
    while (i + same < lengths.size() && lengths[i + same] == lengths[i]) ++same;
    i += same;
    const std::uint8_t length = lengths[i - 1];
    const auto add = [&](int symbol, std::size_t extra, int bits) {
      runs.push_back(
          {static_cast<std::uint8_t>(symbol), static_cast<std::uint8_t>(extra), static_cast<std::uint8_t>(bits)});
      ++run_counts[symbol];
    };
    if (length != 0) add(length, 0, 0), --same;
    while (same >= 3) {
      const std::size_t most = length != 0 ? 6 : 138, part = std::min(same, most);
      if (length != 0) {
        add(16, part - 3, 2);
      } else if (part <= 10) {
        add(17, part - 3, 3);
      } else {
        add(18, part - 11, 7);
      }
      same -= part;
    }
    for (; same > 0; --same) add(length, 0, 0);
  }
  const Code of_lengths = make_code(run_counts, 19, kLongestCodeOfLengths);
  constexpr int kOrder[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  int order_count = 19;
  while (order_count > 4 && of_lengths.length[kOrder[order_count - 1]] == 0) --order_count;
  put(0b100, 3);  // not the last block, dynamic codes
  put(static_cast<std::uint64_t>(symbol_count - 257), 5);
  put(static_cast<std::uint64_t>(distance_count - 1), 5);
  put(static_cast<std::uint64_t>(order_count - 4), 4);
  flush_bytes();
  for (int i = 0; i < order_count; ++i) {
    put(of_lengths.length[kOrder[i]], 3);
    flush_bytes();
  }
  for (const Run& run : runs) {
    put(of_lengths.bits[run.symbol], of_lengths.length[run.symbol]);
    put(run.extra, run.bits);
    flush_bytes();
  }

  const Alphabet& letters = alphabet();
  // A token has at most 15 + 5 + 15 + 13 bits; 7 may be waiting.
  const std::size_t written = out_.size();
  out_.resize(written + tokens_.size() * 6 + 16);
  char* to = out_.data() + written;
  std::uint64_t buffer = buffer_;
  int buffered = buffered_;
  for (const Token& token : tokens_) {
    if (token.distance == 0) {
      buffer |= std::uint64_t{symbols.bits[token.value]} << buffered;
      buffered += symbols.length[token.value];
    } else {
      const int symbol = letters.length_symbol[token.value], index = symbol - kFirstLength;
      buffer |= std::uint64_t{symbols.bits[symbol]} << buffered;
      buffered += symbols.length[symbol];
      buffer |= static_cast<std::uint64_t>(token.value - letters.length_base[index]) << buffered;
      buffered += letters.length_bits[index];
      const int distance = letters.distance_symbol(token.distance);
      buffer |= std::uint64_t{distances.bits[distance]} << buffered;
      buffered += distances.length[distance];
      buffer |= static_cast<std::uint64_t>(token.distance - letters.distance_base[distance]) << buffered;
      buffered += letters.distance_bits[distance];
    }
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    std::memcpy(to, &buffer, sizeof buffer);
    to += buffered >> 3;
    buffer >>= buffered & ~7;
    buffered &= 7;
#else
    for (; buffered >= 8; buffered -= 8, buffer >>= 8) *to++ = static_cast<char>(buffer);
#endif
  }
  buffer_ = buffer;
  buffered_ = buffered;
  out_.resize(static_cast<std::size_t>(to - out_.data()));
  put(symbols.bits[kEndOfBlock], symbols.length[kEndOfBlock]);
  flush_bytes();
}

std::string GzipWriter::finish() {
  put(0b011, 3);  // the last block, fixed codes: nothing but its end, seven zeros
  put(0, 7);
  if (buffered_ % 8 != 0) put(0, 8 - buffered_ % 8);
  flush_bytes();
  for (std::uint32_t number : {crc_, size_}) {
    put(number, 32);
    flush_bytes();
  }
  std::string file = std::move(out_);
  start();
  return file;
}

}  // namespace itersel
