#!/usr/bin/env bash
# Stops what start.sh started, workers first, and removes the cluster's scratch; the logs stay.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

shopt -s nullglob
for file in "$folder"/pids/worker-* "$folder"/pids/master; do
  if runs "$file"; then
    process=$(cat "$file")
    kill "$process" 2>/dev/null || true
    for _ in $(seq 50); do
      runs "$file" || break
      sleep 0.2
    done
    runs "$file" && kill -9 "$process"
  fi
  rm -f "$file"
done
rm -rf "$folder"/scratch "$folder"/worker-*
