# What tools/slurm/single-node.sh and tools/sge/single-node.sh share; they source it.
PATH=$PATH:/usr/sbin:/sbin

fail() {
    echo "single-node.sh: $1" >&2
    exit 1
}

installed() {
    local name
    for name in "${commands[@]}"; do command -v "$name" > /dev/null || return 1; done
}

install() { # Debian's packages, if a command is missing
    installed && return
    [ "$(id -u)" = 0 ] || fail "installing needs root: apt-get install ${packages[*]}"
    export DEBIAN_FRONTEND=noninteractive
    local get=(apt-get -y -q --no-install-recommends -o DPkg::Lock::Timeout=300)
    "${get[@]}" install "${packages[@]}" || { apt-get -q update && "${get[@]}" install "${packages[@]}"; }
}

prepare() { # the folder: one of ours, or an empty one; FILE tells ours
    installed || fail "not installed: run $0 install"
    mkdir -p "$folder"
    folder=$(cd "$folder" && pwd -P)
    [ -f "$folder/$1" ] || [ -z "$(ls -A "$folder")" ] || fail "$folder holds something else: name another folder"
}

free_ports() { # two numbers
    python3 - <<'PYTHON'
import socket

held = [socket.socket() for _ in range(2)]
for one in held:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in held))
PYTHON
}

wait_for() { # a command that is to succeed, on a busy machine within five minutes
    for _ in $(seq 1500); do
        "$@" > /dev/null 2>&1 && return
        sleep 0.2
    done
    return 1
}

end() { # processes: politely, then not
    local number
    for number in "$@"; do kill "$number" 2> /dev/null || true; done
    for number in "$@"; do
        for _ in $(seq 50); do
            kill -0 "$number" 2> /dev/null || break
            sleep 0.1
        done
        kill -9 "$number" 2> /dev/null || true
    done
}
