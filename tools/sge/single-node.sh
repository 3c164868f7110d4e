#!/usr/bin/env bash
# A real Grid Engine (Son of Grid Engine 8.1.9 from Debian's packages) on this machine alone: sge_qmaster and sge_execd
# without an init system, everything on localhost.
#
#   tools/sge/single-node.sh install          Debian's packages (as root)
#   tools/sge/single-node.sh start [FOLDER]   prints `export SGE_ROOT=…` and the ports: with them, qsub finds this cell
#   tools/sge/single-node.sh status [FOLDER]
#   tools/sge/single-node.sh stop [FOLDER]
#
# FOLDER holds the cell, its spool and logs (default: sge in $ITERSEL_CACHE, by default ~/.cache/itersel). Each FOLDER is
# a cell of its own, with free ports of its own; `start` where one is running only prints its settings. There are as many
# slots as cores.
set -euo pipefail

action=${1:-}
folder=${2:-${ITERSEL_CACHE:-$HOME/.cache/itersel}/sge}
packages=(gridengine-master gridengine-exec gridengine-client)
commands=(sge_qmaster sge_execd qsub)
# shellcheck source=tools/single-node.bash
source "$(dirname "${BASH_SOURCE[0]}")/../single-node.bash"
unset SGE_ROOT SGE_CELL SGE_ARCH SGE_QMASTER_PORT SGE_EXECD_PORT

process() { # the process id of qmaster or execd
    cat "$folder/spool/$1.pid" "$folder/spool/$1/$1.pid" 2> /dev/null | head -n 1 || true
}

alive() {
    local number
    number=$(process "$1")
    [ -n "$number" ] && kill -0 "$number" 2> /dev/null
}

settings() {
    [ -f "$folder/settings" ] || fail "nothing was started in $folder"
    # shellcheck disable=SC1091
    . "$folder/settings"
}

make_cell() { # everything that the installation would put under /var, in the folder instead
    local common=$folder/default/common queue_port node_port name
    rm -rf "$folder/default" "$folder/spool"
    mkdir -p "$common" "$folder/spool/database" "$folder/spool/qmaster/job_scripts" "$folder/spool/execd"
    for name in bin lib util utilbin; do ln -sfn "/var/lib/gridengine/$name" "$folder/$name"; done
    read -r queue_port node_port <<< "$(free_ports)"
    cat > "$folder/settings" <<SETTINGS
export SGE_ROOT=$(printf %q "$folder") SGE_CELL=default SGE_QMASTER_PORT=$queue_port SGE_EXECD_PORT=$node_port
SETTINGS
    settings
    cat > "$common/bootstrap" <<BOOTSTRAP
admin_user              none
default_domain          none
ignore_fqdn             false
spooling_method         berkeleydb
spooling_lib            libspoolb
spooling_params         $folder/spool/database
binary_path             /usr/lib/gridengine
qmaster_spool_dir       $folder/spool/qmaster
security_mode           none
listener_threads        2
worker_threads          2
scheduler_threads       1
BOOTSTRAP
    echo localhost > "$common/act_qmaster"
    # The machine's own name is one more name of localhost, whatever the resolver says.
    printf 'localhost %s\n' "$(hostname -s)" > "$common/host_aliases"
    sed -e "s|^execd_spool_dir .*|execd_spool_dir $folder/spool/execd|" -e 's/^min_\([ug]\)id .*/min_\1id 0/' \
        -e 's/^load_report_time .*/load_report_time 00:00:02/' -e 's|^mailer .*|mailer /bin/true|' \
        /usr/share/gridengine/default-configuration > "$folder/configuration"
    local bin=/usr/lib/gridengine
    "$bin/spoolinit" berkeleydb libspoolb "$folder/spool/database" init
    "$bin/spooldefaults" configuration "$folder/configuration"
    "$bin/spooldefaults" complexes /usr/share/gridengine/util/resources/centry
    "$bin/spooldefaults" usersets /usr/share/gridengine/util/resources/usersets
    "$bin/spooldefaults" managers "$(id -un)"
}

make_queue() {
    qconf -as localhost
    # -sq and -ssconf show a complete template and the present scheduler; only what matters here is changed.
    qconf -sq | sed -e 's/^qname .*/qname main.q/' -e 's/^hostlist .*/hostlist localhost/' \
        -e 's|^shell .*|shell /bin/sh|' -e 's/^pe_list .*/pe_list NONE/' \
        -e "s/^slots .*/slots $(nproc)/" -e 's/^rerun .*/rerun TRUE/' -e 's/^load_thresholds .*/load_thresholds NONE/' \
        > "$folder/queue"
    qconf -Aq "$folder/queue"
    qconf -ssconf | sed -e 's/^schedule_interval .*/schedule_interval 0:0:1/' \
        -e 's/^flush_submit_sec .*/flush_submit_sec 1/' -e 's/^flush_finish_sec .*/flush_finish_sec 1/' \
        > "$folder/scheduler"
    qconf -Msconf "$folder/scheduler"
}

reports_load() { qhost -h localhost | awk '$1 == "localhost" && $7 != "-" {found = 1} END {exit !found}'; }

start() {
    prepare settings
    if ! { alive qmaster && alive execd; }; then
        stop
        make_cell > "$folder/installation.log" 2>&1 || fail "the cell cannot be made: see $folder/installation.log"
        sge_qmaster > "$folder/qmaster.log" 2>&1
        wait_for qconf -sh || fail "sge_qmaster does not answer: see $folder/qmaster.log, $folder/spool/qmaster/messages"
        SGE_EXECD_PIDFILE=$folder/spool/execd.pid sge_execd > "$folder/execd.log" 2>&1
        make_queue >> "$folder/installation.log" 2>&1 || fail "the queue cannot be made: see $folder/installation.log"
        wait_for reports_load || fail "sge_execd does not report: see $folder/execd.log, $folder/spool/execd"
    fi
    cat "$folder/settings"
}

stop() {
    local name numbers=()
    [ -f "$folder/settings" ] || return 0
    settings
    if alive qmaster; then timeout 10 qdel -f -u "*" > /dev/null 2>&1 || true; fi
    for name in execd qmaster; do
        if alive "$name"; then numbers+=("$(process "$name")"); fi
    done
    end "${numbers[@]}"
}

status() {
    local name
    settings
    for name in qmaster execd; do
        if alive "$name"; then echo "sge_$name: running"; else echo "sge_$name: not running"; fi
    done
    if alive qmaster; then qhost && qstat -u "*"; fi
}

case $action in
    install | start | stop | status) "$action" ;;
    *) fail "say one of install, start, stop, status" ;;
esac
