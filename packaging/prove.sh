#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Proves the packages on a clean Debian of this machine's release: installs them there with what they depend on, looks for
# manuals and completion, streams over the loopback as a plain user, upgrades, removes and purges. Needs root and the archive
# that this machine's apt uses; CI, which may have neither, looks into the packages instead (e2e.packages). What was
# downloaded stays in build/prove, for a week: the first time takes minutes, then one.
set -euo pipefail

programs="weir-send weir-proxy weir-play weir-link weir-traffic weir-sim weir-watch weir-lab"
base="man-db bash-completion systemd desktop-file-utils libcap2-bin"

if [ "$(id -u)" -ne 0 ]; then
    echo "prove.sh: needs root: debootstrap makes a system" >&2
    exit 2
fi
# Outside: a process that leaves nothing behind, however it ends. The system's processes are in a namespace and end with
# it, and so do its mounts.
if [ "${WEIR_PROVE:-}" != inside ]; then
    [ $# -gt 0 ] || { echo "usage: packaging/prove.sh PACKAGE.deb..." >&2; exit 2; }
    cache=$(dirname "$(realpath "$0")")/../build/prove
    mkdir -p "$cache/archives"
    work=$(mktemp -d)
    child=
    finish() {
        exec 2>/dev/null # the shell tells of what it kills
        [ -z "$child" ] || kill -KILL "$child" || true
        wait || true
        rm -rf --one-file-system "$work" || { sleep 1; rm -rf --one-file-system "$work"; }
    }
    trap finish EXIT
    trap 'exit 130' INT TERM HUP
    mapfile -t packages < <(realpath "$@")
    WEIR_PROVE=inside unshare --mount --propagation private --pid --fork --kill-child "$0" "$work" "$(realpath "$cache")" \
        "${packages[@]}" &
    child=$!
    code=0
    wait "$child" || code=$?
    child=
    exit $code
fi

root=$1/root
log=$1/log
cache=$2
shift 2
step() { printf '%4d s  %s\n' $SECONDS "$*"; }
trap 'code=$?; [ $code -eq 0 ] || { tail -n 40 "$log" >&2; echo "prove.sh: failed" >&2; }' EXIT
inside() { timeout 1800 chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
quiet() { "$@" >>"$log" 2>&1; }
install() { quiet inside apt-get install -y --no-install-recommends "$@"; }
say() { echo "prove.sh: $*" >&2; }

codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
archives=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v c="$codename" '$2 ~ "^" c && $3 == "main"' | sort -u)
mirror=$(awk -v c="$codename" '$2 == c {print $1; exit}' <<<"$archives")
[ -n "$mirror" ] || { say "apt knows no archive of $codename"; exit 1; }

# In memory where there is plenty.
touch "$log"
mkdir "$root"
[ "$(awk '/^MemAvailable/ {print $2}' /proc/meminfo)" -lt 8000000 ] || mount -t tmpfs -o size=4g,mode=755 root "$root"

step "a clean $codename"
clean=$cache/$codename-$(sha256sum <<<"$base $archives" | cut -c1-12).tar
if [ -z "$(find "$clean" -mtime -7 2>/dev/null)" ]; then
    rm -f "$cache"/*.tar* "$cache"/archives/*.deb
    quiet timeout 1800 debootstrap --variant=minbase "$codename" "$root" "$mirror"
    sed 's/^/deb /' <<<"$archives" >"$root/etc/apt/sources.list"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # no service starts here
    chmod 755 "$root/usr/sbin/policy-rc.d"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/90unsafe"
    new=1
else
    tar -xpf "$clean" -C "$root"
    new=
fi
{
    apt-config dump | grep -E '^Acquire::(http|https|Retries)' || true
    echo 'APT::Sandbox::User "root";'
} >"$root/etc/apt/apt.conf.d/90host"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$cache/archives" "$root/var/cache/apt/archives"
quiet inside apt-get update
if [ -n "$new" ]; then
    # shellcheck disable=SC2086
    install $base
    rm -f "$root/var/lib/man-db/auto-update" # the index of manuals is not asked for
    tar -cf "$clean.new" --one-file-system -C "$root" --exclude ./var/lib/apt/lists .
    mv "$clean.new" "$clean"
fi
files() { find "$root/etc" "$root/usr" "$root/lib/systemd" "$root/var/lib" -path "$root/var/lib/apt" -prune -o -print | sort; }
files >"$log.before"

step "install"
mkdir "$root/debs"
cp "$@" "$root/debs"
debs=()
for deb; do debs+=("/debs/${deb##*/}"); done
install "${debs[@]}"
[ "$(inside dpkg-query -W -f '${db:Status-Status} ' weir weir-lab libweir-dev)" = "installed installed installed " ]
[ -z "$(inside getcap /usr/bin/weir-send /usr/bin/weir-play)" ]
wants=$root/etc/systemd/system/multi-user.target.wants/weir-send.service
[ ! -L "$wants" ] || { say "the service was enabled without being asked"; exit 1; }

step "manuals, completion, service, desktop file"
for program in $programs; do
    inside man --pager=cat "$program" | grep -q '^EXIT STATUS' || { say "no manual of $program"; exit 1; }
done
inside man --pager=cat 3 weir | grep -q weir_viewer_open || { say "no manual of the library"; exit 1; }
for program in weir-send weir-proxy weir-play weir-link weir-traffic weir-sim; do
    inside bash -c ". /usr/share/bash-completion/bash_completion; _completion_loader $program; complete -p $program" |
        grep -q "_${program/-/_}"
done
quiet inside desktop-file-validate /usr/share/applications/weir-play.desktop
quiet inside systemd-analyze verify /lib/systemd/system/weir-send.service /lib/systemd/system/weir-proxy.service

step "a stream over the loopback, as a plain user"
quiet inside useradd --create-home viewer
# shellcheck disable=SC2016
quiet timeout 120 unshare --net sh -c 'ip link set lo up && exec chroot --userspec=viewer:viewer "$1" env -i PATH=/usr/bin:/bin HOME=/home/viewer \
    bash -euc "
        cd
        weir-send --config /etc/weir/send.conf test:640x360@30 2>send.log &
        sender=\$!
        for _ in \$(seq 100); do grep -q rtsp: send.log && break; sleep 0.1; done
        weir-play --headless --duration 3 --report qoe.json rtsp://127.0.0.1:8554/live
        kill \$sender
        wait \$sender
        weir-sim --link rate=10mbit,queue=droptail:50p --seconds 2 --quiet reno >sim.jsonl
        weir-lab list >lab.txt"' sh "$root"
frames=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["playback"]["frames_played"])' "$root/home/viewer/qoe.json")
[ "$frames" -ge 60 ] || { say "only $frames frames in 3 s"; exit 1; }
grep -q '^minbuf:' "$root/home/viewer/lab.txt"

# What it needs to be built against comes with a compiler; what it needs to run, with the package.
step "the library: examples are built, and one watches"
install gcc libc6-dev pkg-config
for example in watch send; do
    # shellcheck disable=SC2016
    quiet inside sh -euc 'cd /home/viewer; cc "/usr/share/doc/libweir-dev/examples/$1.c" -pthread -o "$1" $(pkg-config --cflags --libs weir)' sh $example
done
# shellcheck disable=SC2016
quiet timeout 120 unshare --net sh -c 'ip link set lo up && exec chroot --userspec=viewer:viewer "$1" env -i PATH=/usr/bin:/bin HOME=/home/viewer \
    bash -euc "
        cd
        weir-send test:640x360@30 2>send2.log &
        sender=\$!
        for _ in \$(seq 100); do grep -q rtsp: send2.log && break; sleep 0.1; done
        ./watch rtsp://127.0.0.1:8554/live last.pgm --duration 3 >watch.log
        kill \$sender
        wait \$sender"' sh "$root"
grep -q '^ended: duration$' "$root/home/viewer/watch.log"
[ -s "$root/home/viewer/last.pgm" ] || { say "the library showed no picture"; exit 1; }

step "mtp-raw's capability, on request"
touch "$root/etc/weir/allow-raw"
quiet inside dpkg-reconfigure weir
[ "$(inside getcap /usr/bin/weir-send /usr/bin/weir-play | grep -c cap_net_raw=ep)" -eq 2 ]

# What an upgrade and a removal ask of systemd, which is not there: a program in its place writes it down.
step "upgrade, remove, purge, with the service enabled"
quiet inside systemctl enable weir-send.service
[ -L "$wants" ]
mkdir -p "$root/run/systemd/system"
rm "$root/usr/bin/systemctl" "$root/usr/sbin/policy-rc.d"
printf '#!/bin/sh\necho "$*" >>/run/asked\n' >"$root/usr/bin/systemctl"
chmod 755 "$root/usr/bin/systemctl"
: >"$root/run/asked"
asked() {
    grep -qx "$1" "$root/run/asked" || { say "systemd was not asked: $1, but:"; cat "$root/run/asked" >&2; exit 1; }
    : >"$root/run/asked"
}
mkdir -p "$root/var/lib/weir"
touch "$root/var/lib/weir/stats.jsonl"
install --reinstall "${debs[@]}"
asked 'try-restart weir-send.service'
quiet inside apt-get remove -y weir weir-lab libweir-dev
asked 'stop weir-send.service'
[ -e "$root/etc/weir/send.conf" ] && [ -L "$wants" ] && [ ! -e "$root/usr/bin/weir-send" ]
quiet inside apt-get purge -y weir weir-lab libweir-dev
left=$(files | comm -13 "$log.before" - | grep weir || true)
[ -z "$left" ] || { say "left behind: $left"; exit 1; }
quiet inside apt-get autoclean
step "proved on $codename: $frames frames were shown in 3 s"
