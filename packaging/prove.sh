#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Proves the packages on a clean Debian of this machine's release: installs them there with what they depend on, streams over
# the loopback as a plain user, looks for manual and completion, removes and purges. Needs root and the archive that this
# machine's apt uses, and two or three minutes; CI, which may have neither, looks into the packages instead (e2e.packages).
set -euo pipefail

if [ "$(id -u)" -ne 0 ]; then
    echo "prove.sh: needs root: debootstrap makes a system" >&2
    exit 2
fi
if [ "${WEIR_PROVE:-}" != inside ]; then
    [ $# -gt 0 ] || { echo "usage: packaging/prove.sh PACKAGE.deb..." >&2; exit 2; }
    # Mounts of this namespace go with it, whatever happens.
    exec env WEIR_PROVE=inside unshare --mount --propagation private "$0" "$(mktemp -d)" "$@"
fi

work=$1
shift
root=$work/root
log=$work/log
step() { echo "== $* ($SECONDS s)"; }
finish() {
    local code=$?
    [ $code -eq 0 ] || { tail -n 40 "$log" >&2; echo "prove.sh: failed" >&2; }
    umount -l "$root/proc" "$root/dev" 2>/dev/null || true
    rm -rf --one-file-system "$work"
    exit $code
}
trap finish EXIT
inside() { timeout 1800 chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
quiet() { "$@" >>"$log" 2>&1; }

codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
archives=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v c="$codename" '$2 ~ "^" c && $3 == "main"' | sort -u)
mirror=$(awk -v c="$codename" '$2 == c {print $1; exit}' <<<"$archives")
[ -n "$mirror" ] || { echo "prove.sh: apt knows no archive of $codename" >&2; exit 1; }

step "a clean $codename"
touch "$log"
quiet timeout 1800 debootstrap --variant=minbase "$codename" "$root" "$mirror"
sed 's/^/deb /' <<<"$archives" >"$root/etc/apt/sources.list"
apt-config dump | grep -E '^Acquire::(http|https|Retries)' >"$root/etc/apt/apt.conf.d/90host" || true
cp /etc/resolv.conf "$root/etc/resolv.conf"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # no service starts here
chmod 755 "$root/usr/sbin/policy-rc.d"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
quiet inside apt-get update
quiet inside apt-get install -y --no-install-recommends man-db bash-completion systemd desktop-file-utils libcap2-bin
find "$root/etc" "$root/usr" "$root/lib/systemd" "$root/var/lib" -path "$root/var/lib/apt" -prune -o -print | sort >"$work/before"

step "install"
mkdir "$root/debs"
cp "$@" "$root/debs"
quiet inside sh -c 'apt-get install -y --no-install-recommends /debs/*.deb'
inside dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' weir weir-lab
[ -z "$(inside getcap /usr/bin/weir-send /usr/bin/weir-play)" ]

step "manual, completion, service, desktop file"
for page in weir-send weir-play; do
    inside man --pager=cat "$page" | grep -q '^OPTIONS'
    inside bash -c ". /usr/share/bash-completion/bash_completion; _completion_loader $page; complete -p $page" | grep -q "_${page/-/_}"
done
inside desktop-file-validate /usr/share/applications/weir-play.desktop
if [ -e "$root/lib/systemd/system/weir-send.service" ]; then
    inside systemd-analyze verify /lib/systemd/system/weir-send.service
fi

step "a stream over the loopback, as a plain user"
quiet inside useradd --create-home viewer
# shellcheck disable=SC2016
timeout 120 unshare --net sh -c 'ip link set lo up && exec chroot --userspec=viewer:viewer "$1" env -i PATH=/usr/bin:/bin HOME=/home/viewer \
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
python3 - "$root/home/viewer/qoe.json" <<'EOT'
import json, sys
playback = json.load(open(sys.argv[1]))["playback"]
print("frames played:", playback["frames_played"])
sys.exit(playback["frames_played"] < 60)
EOT
grep -q '^minbuf:' "$root/home/viewer/lab.txt"

step "mtp-raw's capability, on request"
touch "$root/etc/weir/allow-raw"
quiet inside dpkg-reconfigure weir
inside getcap /usr/bin/weir-send /usr/bin/weir-play | grep -c cap_net_raw=ep | grep -qx 2

step "remove, purge"
quiet inside apt-get remove -y weir weir-lab
[ -e "$root/etc/weir/send.conf" ] && [ ! -e "$root/usr/bin/weir-send" ]
quiet inside apt-get purge -y weir weir-lab
quiet inside apt-get autoremove --purge -y
left=$(find "$root/etc" "$root/usr" "$root/lib/systemd" "$root/var/lib" -path "$root/var/lib/apt" -prune -o -print | sort |
    comm -13 "$work/before" - | grep weir || true)
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }
step "proved"
