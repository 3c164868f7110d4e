#!/usr/bin/env bash
# A real Slurm on this machine alone: munged, slurmctld and slurmd without systemd, everything on localhost.
#
#   tools/slurm/single-node.sh install          Debian's packages (as root)
#   tools/slurm/single-node.sh start [FOLDER]   prints `export SLURM_CONF=…`: with it, sbatch and itersel find this Slurm
#   tools/slurm/single-node.sh status [FOLDER]
#   tools/slurm/single-node.sh stop [FOLDER]
#
# FOLDER holds configuration, key, state and logs (default: slurm in $ITERSEL_CACHE, by default ~/.cache/itersel). Each
# FOLDER is a Slurm of its own, with free ports of its own; `start` where one is running only prints its settings. Cores
# and memory are this machine's. Neither control groups nor accounting are needed, so that it works in a container.
set -euo pipefail

action=${1:-}
folder=${2:-${ITERSEL_CACHE:-$HOME/.cache/itersel}/slurm}
packages=(slurmctld slurmd slurm-client munge)
commands=(slurmctld slurmd sbatch munged)
# shellcheck source=tools/single-node.bash
source "$(dirname "${BASH_SOURCE[0]}")/../single-node.bash"

megabytes() { # of this machine, or of the container's limit if that is less
    local total limit
    total=$(awk '$1 == "MemTotal:" {print int($2 / 1024)}' /proc/meminfo)
    limit=$(cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2> /dev/null | head -n 1 || true)
    case $limit in
        '' | *[!0-9]*) ;;
        *) [ "${#limit}" -lt 16 ] && [ $((limit / 1048576)) -lt "$total" ] && total=$((limit / 1048576)) ;;
    esac
    echo "$total"
}

configure() {
    local controller_port node_port cores memory host user
    read -r controller_port node_port <<< "$(free_ports)"
    cores=$(nproc)
    memory=$(megabytes)
    host=$(hostname -s)
    user=$(id -un)
    cat > "$folder/slurm.conf" <<CONF
ClusterName=single
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller_port
SlurmdPort=$node_port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge

StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log

# No control groups, no database.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none

# As many tasks at once as there are cores; a task has its share of the memory unless it asks for something else.
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=$((memory / cores))
# Look for work at once: there is little of it.
SchedulerParameters=batch_sched_delay=0,sched_interval=2
ReturnToService=2
KillWait=5
MaxArraySize=${SINGLE_NODE_MAX_ARRAY_SIZE:-1001}
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores RealMemory=$memory State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
    # slurmd loads one of these plugins even if nothing uses it. Since 23.11 it can be told not to; before, the one of
    # version 1 is the one that does nothing unless it is used.
    local plugin=cgroup/v1
    printf '23.11\n%s\n' "$(slurmd -V | awk '{print $NF}')" | sort --check=quiet --version-sort && plugin=disabled
    echo "CgroupPlugin=$plugin" > "$folder/cgroup.conf"
}

alive() { # whether the daemon of that name runs
    [ -s "$folder/$1.pid" ] && kill -0 "$(cat "$folder/$1.pid")" 2> /dev/null
}

answers() {
    timeout 60 sinfo --noheader --format=%T 2> /dev/null | grep -qxE 'idle|mixed|allocated|completing'
}

idle() { # no job is left
    local jobs
    jobs=$(timeout 60 squeue --noheader 2> /dev/null) && [ -z "$jobs" ]
}

start() {
    prepare slurm.conf
    export SLURM_CONF=$folder/slurm.conf
    if ! { alive munged && alive slurmctld && alive slurmd; }; then
        stop
        mkdir -p "$folder/state" "$folder/spool"
        configure
        [ -s "$folder/munge.key" ] || (umask 077 && head -c 1024 /dev/urandom > "$folder/munge.key")
        # By force, because the socket may well lie where other users cannot reach it: there are none.
        munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
            --log-file="$folder/munged.log" --seed-file="$folder/munged.seed" --num-threads=2 2> "$folder/munged.err" \
            || fail "munged does not start: see $folder/munged.log"
        slurmctld -i || fail "slurmctld does not start: see $folder/slurmctld.log"
        slurmd || fail "slurmd does not start: see $folder/slurmd.log"
    fi
    if wait_for answers; then
        echo "export SLURM_CONF=$(printf %q "$SLURM_CONF")"
        return
    fi
    tail --lines=5 "$folder"/*.log >&2
    stop
    fail "the node did not become ready; logs are in $folder"
}

stop() { # jobs first, then the daemons
    export SLURM_CONF=$folder/slurm.conf
    if alive slurmctld && alive munged; then
        timeout 60 scancel --quiet --full --user="$(id -un)" 2> /dev/null || true
        wait_for idle || true
    fi
    local name numbers=()
    for name in slurmd slurmctld munged; do
        if alive "$name"; then numbers+=("$(cat "$folder/$name.pid")"); fi
    done
    end "${numbers[@]}"
    rm -f "$folder"/{slurmd,slurmctld,munged}.pid
}

status() {
    export SLURM_CONF=$folder/slurm.conf
    local name
    for name in munged slurmctld slurmd; do
        if alive "$name"; then echo "$name: running"; else echo "$name: not running"; fi
    done
    if alive slurmctld; then sinfo && squeue; fi
}

case $action in
    install | start | stop | status) "$action" ;;
    *) fail "say one of install, start, stop, status" ;;
esac
