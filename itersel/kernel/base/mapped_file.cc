#include "base/mapped_file.hh"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.hh"

namespace itersel {

MappedFile::MappedFile(const std::string& path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw InputError(path, std::string("cannot read: ") + std::strerror(errno));
  struct stat status;
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    ::close(descriptor);
    throw InputError(path, "not a regular file with content");
  }
  size_ = static_cast<std::size_t>(status.st_size);
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  int failure = errno;
  ::close(descriptor);
  if (address == MAP_FAILED) throw InputError(path, std::string("cannot map: ") + std::strerror(failure));
  data_ = static_cast<const char*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

void MappedFile::release(std::size_t begin, std::size_t size) const {
  constexpr std::size_t kWindow = 1 << 16;  // whoever reads a page gets all of its window that is in the cache
  const std::size_t first = begin / kWindow * kWindow;
  const std::size_t end = std::min((begin + size + kWindow - 1) / kWindow * kWindow, size_);
  if (first < end) ::madvise(const_cast<char*>(data_) + first, end - first, MADV_DONTNEED);
}

}  // namespace itersel
