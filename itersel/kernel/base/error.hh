// Errors the user can act on. Bindings turn InputError into itersel.base.errors.InputError; everything else is a bug.
#pragma once

#include <stdexcept>
#include <string>

namespace itersel {

// Wrong content of a file or argument. `where` is a path or path:line (may be empty), `message` says what was
// expected and what was found.
class InputError : public std::runtime_error {
 public:
  InputError(const std::string& where, const std::string& message)
      : std::runtime_error(where.empty() ? message : where + ": " + message), where_(where), message_(message) {}

  const std::string& where() const { return where_; }
  const std::string& message() const { return message_; }

 private:
  std::string where_, message_;
};

}  // namespace itersel
