# Read by start.sh and stop.sh. Settings, all from the environment:
#   SPARK_HOME            an installed Spark (default: the one inside pyspark of $PYTHON)
#   PYTHON                the interpreter that has pyspark (default: the repository's .venv, or python3)
#   ITERSEL_SPARK_DIR     logs, process ids and scratch of this cluster (default: work/spark of the repository)
#   ITERSEL_SPARK_PORT    the master's port on 127.0.0.1 (default: 7077)
#   ITERSEL_SPARK_WORKERS, ITERSEL_SPARK_CORES, ITERSEL_SPARK_MEMORY
#                         number of workers, and cores and memory of each (default: 2, 1, 1g)
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [ -z "${PYTHON:-}" ]; then
  PYTHON=$repository/.venv/bin/python
  [ -x "$PYTHON" ] || PYTHON=python3
fi
folder=${ITERSEL_SPARK_DIR:-$repository/work/spark}
port=${ITERSEL_SPARK_PORT:-7077}
workers=${ITERSEL_SPARK_WORKERS:-2}
cores=${ITERSEL_SPARK_CORES:-1}
memory=${ITERSEL_SPARK_MEMORY:-1g}

# Whether the process of a pid file still is the daemon we started; ids are used again after a while.
runs() {
  [ -f "$1" ] && tr '\0' ' ' 2>/dev/null <"/proc/$(cat "$1")/cmdline" | grep -q "org.apache.spark.deploy"
}
