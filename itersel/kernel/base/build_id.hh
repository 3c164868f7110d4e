// Which build of the kernel this is, so that a driver and its workers can tell whether they run the same code.
#pragma once

namespace itersel {

// Hexadecimal digits that stand for the kernel's sources, KenLM's version and the compiler's flags (setup.py).
const char* build_id();

}  // namespace itersel
