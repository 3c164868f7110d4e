#!/usr/bin/env bash
# Runs the kernel's tests with AddressSanitizer and UBSan: bash tests/sanitize.sh [pytest arguments]
#
# The instrumented package goes to build/sanitized, beside the normal extension, which stays as it is. Python's own
# leaks are not looked for; tests/unit/decode/test_decoder.py watches the kernel's memory instead.
set -euo pipefail
cd "$(dirname "$0")/.."

compiler=${CXX:-g++}
for library in libasan.so libubsan.so libstdc++.so; do
  [[ -e $($compiler -print-file-name=$library) ]] || { echo "sanitize.sh: $compiler has no $library" >&2; exit 1; }
done

rm -rf build/sanitized
ITERSEL_SANITIZE=1 python setup.py -q build --build-lib build/sanitized 2> >(grep -i error >&2 || true)

tests=(
  tests/unit/decode/test_decoder.py
  tests/unit/grammar/test_grammar.py
  tests/unit/model/test_weights.py
  tests/unit/lm/test_language_model.py
  tests/unit/shards/test_fuzz_readers.py
  tests/unit/shards/test_shard.py
  tests/unit/grammar/test_extraction.py
  tests/unit/learn/test_learn.py
  tests/unit/metrics/test_metrics.py
  tests/unit/learn/test_mixing.py
  tests/unit/learn/test_pairs.py
  tests/unit/model/test_vectors.py
  tests/unit/learn/test_epoch.py
  tests/unit/lists/test_list_table.py
)
# Fewer examples for comparisons with slow twins in Python; fuzzing keeps its own (tests/conftest.py).
export PYTHONPATH=$PWD/build/sanitized PYTHONMALLOC=malloc ITERSEL_HYPOTHESIS=sanitized
# pytest swallows what native code writes, so reports go to files, shown at the end.
report=$PWD/build/sanitized/report
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:log_path=$report
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:log_path=$report
status=0
LD_PRELOAD="$($compiler -print-file-name=libasan.so) $($compiler -print-file-name=libstdc++.so)" \
  python -P -m pytest -n 2 -p no:cacheprovider -m "not slow" "${tests[@]}" "$@" || status=$?
cat "$report".* >&2 2>/dev/null || true
exit $status
