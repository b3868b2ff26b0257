/* Preloaded into shardline-run (scaling.sh): counts what goes over the communicator "shardline control", and at the end prints, on
 * rank 0, those numbers, the CPU time it spent outside MPI, the most memory it had, how long it ran and how long it waited for a core. Bytes are
 * those that rank 0 sends or receives: of a gather all that comes in, of a broadcast one message's. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long collectives, collective_bytes, gathered_bytes, messages, message_bytes;
static double outside_s, left_at_s;

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void enter(void) { outside_s += cpu_s() - left_at_s; }
static int leave(int result)
{
    left_at_s = cpu_s();
    return result;
}

static int is_control(MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    PMPI_Comm_get_name(comm, name, &length);
    return strcmp(name, "shardline control") == 0;
}

static long long bytes_of(int count, MPI_Datatype type)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    return (long long)count * size;
}

static void collective(MPI_Comm comm, long long bytes)
{
    if (!is_control(comm)) return;
    ++collectives;
    collective_bytes += bytes;
}

static void gathered(MPI_Comm comm, long long bytes_of_one)
{
    int size = 0;
    if (!is_control(comm)) return;
    PMPI_Comm_size(comm, &size);
    ++collectives;
    gathered_bytes += bytes_of_one * (size - 1);
}

static void message(MPI_Comm comm, long long bytes)
{
    if (!is_control(comm)) return;
    ++messages;
    message_bytes += bytes;
}

int MPI_Init_thread(int* argc, char*** argv, int wanted, int* provided) { return leave(PMPI_Init_thread(argc, argv, wanted, provided)); }

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    enter();
    collective(comm, bytes_of(count, type));
    return leave(PMPI_Bcast(data, count, type, root, comm));
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    enter();
    collective(comm, bytes_of(count, type));
    return leave(PMPI_Allreduce(from, to, count, type, op, comm));
}

int MPI_Gather(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type, int root, MPI_Comm comm)
{
    enter();
    gathered(comm, bytes_of(n, type));
    return leave(PMPI_Gather(from, n, type, to, m, to_type, root, comm));
}

int MPI_Gatherv(const void* from, int n, MPI_Datatype type, void* to, const int* counts, const int* starts, MPI_Datatype to_type, int root,
                MPI_Comm comm)
{
    enter();
    gathered(comm, bytes_of(n, type));
    return leave(PMPI_Gatherv(from, n, type, to, counts, starts, to_type, root, comm));
}

int MPI_Scatter(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype to_type, int root, MPI_Comm comm)
{
    enter();
    gathered(comm, bytes_of(m, to_type));
    return leave(PMPI_Scatter(from, n, type, to, m, to_type, root, comm));
}

int MPI_Barrier(MPI_Comm comm)
{
    enter();
    collective(comm, 0);
    return leave(PMPI_Barrier(comm));
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    enter();
    message(comm, bytes_of(count, type));
    return leave(PMPI_Send(data, count, type, to, tag, comm));
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status)
{
    enter();
    message(comm, bytes_of(count, type));
    return leave(PMPI_Recv(data, count, type, from, tag, comm, status));
}

/* What timed regions use beside: not counted, but time in them is in MPI. */
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request)
{
    enter();
    return leave(PMPI_Isend(data, count, type, to, tag, comm, request));
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request)
{
    enter();
    return leave(PMPI_Irecv(data, count, type, from, tag, comm, request));
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses)
{
    enter();
    return leave(PMPI_Waitall(count, requests, statuses));
}

int MPI_Finalize(void)
{
    int rank = 0;
    long memory_kb = 0;
    long long ran_ns = 0, waited_ns = 0;
    char line[256];
    FILE* status = fopen("/proc/self/status", "r");
    FILE* schedule = fopen("/proc/thread-self/schedstat", "r");
    enter();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "VmHWM: %ld", &memory_kb);
    if (status != NULL) fclose(status);
    if (schedule != NULL && fscanf(schedule, "%lld %lld", &ran_ns, &waited_ns) != 2) ran_ns = waited_ns = 0;
    if (schedule != NULL) fclose(schedule);
    if (rank == 0 && getenv("COUNT_MESSAGES_TO") != NULL) {
        FILE* out = fopen(getenv("COUNT_MESSAGES_TO"), "w");
        if (out != NULL) {
            fprintf(out, "%lld %lld %lld %lld %lld %.6f %ld %.6f %.6f\n", collectives, collective_bytes, gathered_bytes, messages, message_bytes,
                    outside_s, memory_kb, 1e-9 * (double)ran_ns, 1e-9 * (double)waited_ns);
            fclose(out);
        }
    }
    return PMPI_Finalize();
}
