"""What programs need in an environment of their own where the extension has sanitizers."""

from __future__ import annotations

import os

SANITIZER = {
    name: os.environ[name]
    for name in ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")
    if name in os.environ
}
