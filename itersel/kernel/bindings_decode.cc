#include "bindings.hh"
#include "lm/left.hh"
#include "lm/model.hh"
namespace itersel {
void bind_decode(pybind11::module_ &) {}
}
