#!/usr/bin/env bash
# usage: make_file_seeds.sh MAKE_SYNTHETIC_FILE FOLDER
# Small sound files of every kind of storage that the reader takes, for the fuzzer to start from.
set -euo pipefail
make=$1 folder=$2
mkdir -p "$folder"
cd "$folder"
readings=repetitions/comp_begin_ns,repetitions/comp_end_ns,repetitions/comm_begin_ns,repetitions/comm_end_ns,repetitions/point
"$make" complete.h5 passes=3 repetitions=3 D=3000,9000,27000 wrong_point=0 finding='a finding'
"$make" killed.h5 passes=2 repetitions=2 D=3000,9000 status=running
h5repack -S NONE -l COMPA complete.h5 old_headers.h5   # no checksums
h5repack -S NONE -L -l COMPA complete.h5 new_headers.h5
h5repack -S NONE -f $readings:SHUF -f $readings:GZIP=9 -f $readings:FLET complete.h5 old_filtered.h5
h5repack -S NONE -L -f $readings:SHUF -f $readings:GZIP=9 -f $readings:FLET complete.h5 new_filtered.h5
