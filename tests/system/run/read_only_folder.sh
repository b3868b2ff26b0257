#!/usr/bin/env bash
# A folder that cannot be written to: said before anything is measured.
. "$(dirname "$0")/checks.sh"
experiment e
mkdir folder
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w folder
    refuses "folder" "$run" e.toml -o folder/out.h5
    chmod u+w folder
    exit 0
fi
# Permissions do not stop root, but a file system that is mounted for reading only does; nobody else sees the mount.
mounted=(unshare --mount sh -c 'mount -t tmpfs -o ro none folder && "$@"' sh)
"${mounted[@]}" true 2>/dev/null || skip "cannot mount"
refuses "read-only" "${mounted[@]}" "$run" e.toml -o folder/out.h5
