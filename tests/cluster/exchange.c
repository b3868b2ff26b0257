/* exchange BYTES: two ranks send BYTES to each other, first one way, then the other, then both at once, and print the
   seconds each took: "0to1 S", "1to0 S", "both S". Timed at the receivers; both start from a barrier. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { segment = 65536 };

static double transfer(int rank, char *out, char *in, long bytes, int sends, int receives) {
  const int other = 1 - rank;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (long done = 0; done < bytes; done += segment) {
    const int count = bytes - done < segment ? (int)(bytes - done) : segment;
    MPI_Sendrecv(out + done, count, MPI_BYTE, sends ? other : MPI_PROC_NULL, 0, in + done, count, MPI_BYTE,
                 receives ? other : MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const double mine = receives ? MPI_Wtime() - start : 0.0;
  double slowest = 0.0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long bytes = argc > 1 ? atol(argv[1]) : 0;
  char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes);
  if (bytes <= 0 || out == NULL || in == NULL) {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  memset(out, 1, (size_t)bytes);
  memset(in, 0, (size_t)bytes);
  const double there = transfer(rank, out, in, bytes, rank == 0, rank == 1);
  const double back = transfer(rank, out, in, bytes, rank == 1, rank == 0);
  const double both = transfer(rank, out, in, bytes, 1, 1);
  if (rank == 0) {
    printf("0to1 %.6f\n1to0 %.6f\nboth %.6f\n", there, back, both);
  }
  MPI_Finalize();
  return 0;
}
