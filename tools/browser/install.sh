#!/usr/bin/env bash
# Chromium and its driver from Debian's packages, for the tests of the report's page. Does nothing where both are there.
set -euo pipefail
if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then
  exit 0
fi
if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
  echo "tools/browser/install.sh: install chromium and chromedriver, or run this as root on Debian" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends chromium chromium-driver
