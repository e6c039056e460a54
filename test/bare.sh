#!/usr/bin/env bash
# Runs the README's two commands on bare machines: for each release a minimal root with make and git
# alone, a clone of the last commit in it, then `make run` and `make test`.
#   test/bare.sh [RELEASE]...    bookworm (Debian 12) and trixie (Debian 13) by default
# Needs root, debootstrap and the network; leaves logs in build/bare. Ends with 'N passed, N failed',
# one for each command, and exit code 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/.."
releases=("$@")
[ $# -gt 0 ] || releases=(bookworm trixie)
logs=$PWD/build/bare
mkdir -p "$logs"
roots=$(mktemp -d)
trap 'rm -rf "$roots"' EXIT
passed=0
failed=0

# run_in ROOT COMMAND: in the root, with its own view of processes and devices. The mounts belong to
# a namespace of their own and end with it.
run_in() {
    unshare --mount --pid --fork bash -c '
        mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" && mount --rbind /dev "$1/dev" &&
            exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
                bash -c "cd /root/cubewarp && $2"' - "$1" "$2" </dev/null
}

for release in "${releases[@]}"; do
    root=$roots/$release
    if ! debootstrap --variant=minbase --include=make,git "$release" "$root" >"$logs/$release-root.log" 2>&1 ||
        ! git clone -q . "$root/root/cubewarp"; then
        echo "FAILED $release: no root, see $logs/$release-root.log"
        failed=$((failed + 2))
        continue
    fi
    for command in run test; do
        log=$logs/$release-$command.log
        begun=$SECONDS
        if run_in "$root" "make $command" >"$log" 2>&1; then
            passed=$((passed + 1))
            echo "ok $release: make $command ($((SECONDS - begun)) s)"
        else
            failed=$((failed + 1))
            echo "FAILED $release: make $command, the end of $log:"
            tail -n 20 "$log"
        fi
    done
    rm -rf "$root"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
