#!/usr/bin/env bash
# The doctor tells what the ranks stand on, measures and writes nothing, and refuses where a run would be refused.
. "$(dirname "$0")/checks.sh"
need_cores 2
need_open_mpi
mkdir folder

ends_with 0 "$launch" 2 "$run" --doctor e.toml -o folder/file.h5
[ "$(ls -A folder)" = '' ] || die "the doctor writes: $(ls -A folder)"
says "mpirun of Open MPI (OMPI_COMM_WORLD_SIZE=2)"
says "2 on 1 host (1 machine)"
says "folder: $(findmnt --noheadings --output FSTYPE --target folder), "
grep -qE "^ +1 +[^ ]+ +[0-9]+ of [0-9]+ +[-0-9,]+ +1 " out || die "no line of rank 1 with its cores and its thread: $(cat out)"
grep -q '^BLAS$' out || die "nothing about the BLAS"

# What it would change is what a run would say.
OPENBLAS_NUM_THREADS=8 ends_with 0 taskset -c "$list" "$launch" 2 "$run" --doctor
says "warning (oversubscribed): 16 BLAS threads of 2 ranks share"
ends_with 2 taskset -c "${list%%,*}" "$launch" 2 "$run" --doctor
says "no run (ranks_share_core)"
complains "--allow ranks_share_core"
ends_with 2 "$run" --doctor -o nowhere/file.h5
says "no run (folder): there is no folder nowhere"
complains "there is no folder nowhere"
ends_with 2 "$run" --doctor absent.toml
refuses "--doctor" "$run" --doctor --dry-run e.toml
