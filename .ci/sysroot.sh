#!/usr/bin/env bash
# sysroot.sh FOLDER PACKAGE...: Debian's packages for arm64, with all that they need, unpacked into a
# folder: what a cross compiler links with and qemu-aarch64 runs on. apt-get works on lists and a
# status of its own in FOLDER/apt: nothing is installed on this machine, nor its own lists changed.
set -euo pipefail
folder=$(realpath -m "$1")
shift
wanted=$(printf '%s\n' "$@" | sort | tr '\n' ' ')
[ "$(cat "$folder/packages" 2>/dev/null)" != "$wanted" ] || exit 0
echo "sysroot: fetching arm64 packages into $folder"
rm -rf "$folder"
mkdir -p "$folder"/apt/{lists,cache,state}/partial
touch "$folder/apt/state/status"
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64
    -o Dir::State="$folder/apt/state" -o Dir::State::lists="$folder/apt/lists"
    -o Dir::State::status="$folder/apt/state/status" -o Dir::Cache="$folder/apt/cache"
    -o Debug::NoLocking=true -o APT::Sandbox::User=root)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends --download-only libc6-dev "$@"
for archive in "$folder"/apt/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$archive" |
        tar -x -C "$folder" --exclude='./usr/share/*' --exclude='./var/*' --exclude='./etc/*'
done
rm -rf "$folder/apt"
echo "$wanted" >"$folder/packages"
