#!/usr/bin/env bash
# Starts a Spark standalone master and its workers on this machine's loopback, and prints the master's address:
#
#   tools/spark/start.sh                                  # spark://127.0.0.1:7077, two workers of one core and 1 GB
#   itersel train conf/train.yaml --output run -r spark --set 'run.options=[spark.master=spark://127.0.0.1:7077]'
#   tools/spark/stop.sh
#
# Settings are at the top of common.sh. A cluster that runs already is left as it is; dead daemons are started again.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ -z "${SPARK_HOME:-}" ]; then
  SPARK_HOME=$("$PYTHON" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))' 2>/dev/null) || {
    echo "start.sh: error: $PYTHON has no pyspark. Install it with: $PYTHON -m pip install 'itersel[spark]'," >&2
    echo "  or set SPARK_HOME to an installed Spark." >&2
    exit 1
  }
fi
export SPARK_HOME
if ! command -v "${JAVA_HOME:+$JAVA_HOME/bin/}java" >/dev/null; then
  echo "start.sh: error: Spark needs Java 17 (Debian: apt-get install openjdk-17-jre-headless), or JAVA_HOME." >&2
  exit 1
fi
mkdir -p "$folder/logs" "$folder/pids" "$folder/scratch"
export SPARK_LOCAL_IP=127.0.0.1 SPARK_DAEMON_MEMORY=${SPARK_DAEMON_MEMORY:-256m} SPARK_LOCAL_DIRS=$folder/scratch
export SPARK_DAEMON_JAVA_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${SPARK_DAEMON_JAVA_OPTS:-}" # small and quick to start
export SPARK_LAUNCHER_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${SPARK_LAUNCHER_OPTS:-}"
# Finished applications' folders on the workers are removed after an hour.
export SPARK_WORKER_OPTS="-Dspark.worker.cleanup.enabled=true -Dspark.worker.cleanup.appDataTtl=3600 ${SPARK_WORKER_OPTS:-}"

# start NAME CLASS ARGUMENTS… : a daemon with its own log and pid file, away from the terminal's Ctrl-C
start() {
  local name=$1
  shift
  runs "$folder/pids/$name" && return
  setsid "$SPARK_HOME/bin/spark-class" "$@" >"$folder/logs/$name.log" 2>&1 </dev/null &
  echo $! >"$folder/pids/$name"
}

# await NAME TEXT : until the daemon's log has the text
await() {
  for _ in $(seq 3000); do
    grep -q "$2" "$folder/logs/$1.log" && return
    kill -0 "$(cat "$folder/pids/$1")" 2>/dev/null || break
    sleep 0.2
  done
  echo "start.sh: error: the $1 did not start; the end of $folder/logs/$1.log:" >&2
  tail -n 5 "$folder/logs/$1.log" >&2
  exit 1
}

start master org.apache.spark.deploy.master.Master --host 127.0.0.1 --port "$port" --webui-port 0
await master "I have been elected leader"
address=$(grep -o 'spark://127\.0\.0\.1:[0-9]*' "$folder/logs/master.log" | head -n 1)
for number in $(seq "$workers"); do
  start "worker-$number" org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --webui-port 0 \
    --cores "$cores" --memory "$memory" --work-dir "$folder/worker-$number" "$address"
done
for number in $(seq "$workers"); do
  await "worker-$number" "Successfully registered with master"
done
echo "$address"
