# One machine without a batch system: SHARDLINE_RANKS ranks, started with whatever switches they need here.
# shellcheck shell=bash disable=SC2154  # root: set by the script that sources this
: "${SHARDLINE_RANKS:=2}"
SHARDLINE_LAUNCHER=$root/scripts/launch.sh
