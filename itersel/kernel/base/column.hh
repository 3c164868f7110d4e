// One column of a table: either its own growing memory or a view of mapped memory. Readers cannot tell which.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace itersel {

template <class T>
class Column {
 public:
  Column() = default;
  Column(const T* data, std::size_t size) : data_(data), size_(size) {}  // a view; never grown
  Column(Column&& other) noexcept { *this = std::move(other); }
  Column& operator=(Column&& other) noexcept {
    own_ = std::move(other.own_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  const T& operator[](std::size_t index) const { return data_[index]; }
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void push_back(const T& value) {
    own_.push_back(value);
    sync();
  }
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    own_.insert(own_.end(), first, last);
    sync();
  }
  void resize(std::size_t size) {
    own_.resize(size);
    sync();
  }
  T& own(std::size_t index) { return own_[index]; }

 private:
  void sync() {
    data_ = own_.data();
    size_ = own_.size();
  }

  std::vector<T> own_;
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace itersel
