#include "base/build_id.hh"

namespace itersel {

const char* build_id() { return ITERSEL_BUILD_ID; }

}  // namespace itersel
