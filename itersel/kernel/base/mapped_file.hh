// A whole file mapped read-only into memory, shared by all processes that map it.
#pragma once

#include <cstddef>
#include <string>

namespace itersel {

class MappedFile {
 public:
  // Throws InputError naming the path if the file cannot be opened, is no regular file, or is empty.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const char* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Takes the pages of a part out of this process's memory, for who has read it and is done with it for now. They come
  // back, mostly from the system's cache, when they are read again.
  void release(std::size_t begin, std::size_t size) const;

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace itersel
