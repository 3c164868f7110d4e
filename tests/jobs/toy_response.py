"""A response as an external program: yes to translations without `house` and `dog`. It can also misbehave."""

import json
import sys
import time

log, misbehaviour = [*sys.argv[1:], "", ""][:2]
for line in sys.stdin:
    question = json.loads(line)
    if log:
        with open(log, "a") as stream:
            stream.write(line)
    if misbehaviour == "crash":
        sys.exit("I do not know this sentence.")
    if misbehaviour == "hang":
        print("Let me think.", file=sys.stderr, flush=True)
        time.sleep(1000)
    words = question["hypothesis"].split()
    answer = "maybe" if misbehaviour == "nonsense" else {"success": not {"house", "dog"} & set(words)}
    print(json.dumps(answer), flush=True)
