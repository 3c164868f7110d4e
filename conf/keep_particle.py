"""A response for the demo corpus: verbs must keep their particles, `turned down` and not `turned` (docs/response.md).

python3 keep_particle.py GOLD reads questions from standard input, one JSON object per line. GOLD has English sentences,
one per line, of which only the particles count; a sentence's id is the number of its line, from 0.
"""

import json
import sys

PARTICLES = {"away", "back", "down", "off", "out", "up"}

with open(sys.argv[1], encoding="utf-8") as lines:
    gold = [PARTICLES & set(line.split()) for line in lines]
for line in sys.stdin:
    question = json.loads(line)
    found = PARTICLES & set(question["hypothesis"].split())
    print(json.dumps({"success": found == gold[int(question["sentence"])]}), flush=True)
