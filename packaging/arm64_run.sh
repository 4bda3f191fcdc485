#!/usr/bin/env bash
# packaging/arm64_run.sh ROOT COMMAND...: a command in a root that arm64_root.py has made.
# It runs in this directory, which the root has under the same path, with ../shared where that
# exists. Its mounts end with it.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin  # chroot
root=$(realpath "$1")
shift

# A kernel that knows no programs of aarch64 gets qemu for them, until the machine starts anew. What
# others have registered is left as it is. The package's file has the flag F: qemu is opened now,
# and found from within the root.
if ! chroot "$root" /bin/true 2>/dev/null; then
  formats=/proc/sys/fs/binfmt_misc
  [ -e "$formats/register" ] || mount -t binfmt_misc binfmt_misc "$formats"
  cat /usr/lib/binfmt.d/qemu-aarch64.conf > "$formats/register"
  echo "registered qemu-aarch64 in $formats"
fi
emulated=()
[ "$(uname -m)" = aarch64 ] || emulated=(FASTDUMP_EMULATED=1)

enter() {
  local root=$1 folder=$2
  shift 2
  mount --rbind /dev "$root/dev"
  mount --rbind /proc "$root/proc"
  for path in "$folder" "$(dirname "$folder")/shared"; do
    [ -d "$path" ] || continue
    mkdir -p "$root$path"
    mount --bind "$path" "$root$path"
  done
  exec chroot "$root" /usr/bin/env -i -C "$folder" HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
    PATH=/usr/local/bin:/usr/bin:/bin "$@"
}
export -f enter
exec unshare --mount bash -euc 'enter "$@"' bash "$root" "$PWD" "${emulated[@]}" "$@"
