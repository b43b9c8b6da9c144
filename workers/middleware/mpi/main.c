/* MPI by Debian's Open MPI: MPI_Send and MPI_Recv between two ranks that mpirun starts, over shared memory (vader).
 * mpirun is a process beside the ends; it sleeps meanwhile. */
#include "middleware.h"
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *describe(void) {
    static char text[2048], version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",'\"")] = 0;
    snprintf(text, sizeof text,
        "'runtime':'c+mpi','version':'1','libraries':{'mpi':'%s'},'mechanisms':[{'name':'mpi',"
        "'about':'MPI_Send and MPI_Recv between two ranks of mpirun, over shared memory','family':'library',"
        "'workloads':['roundtrip','load','stream'],'boundaries':['process'],'waits':['spin','yield'],"
        "'payload':{'min':1,'max':16777216,'default':64},'wakes':'nobody: an end looks again and again',"
        "'limits':'from 4 KiB on the ends agree before the bytes cross (eager limit)'}]", version);
    return text;
}
pid_t launch_ends(const struct ask *ask) {
    char own[512] = {0}, controller[16], segments[160];
    if (readlink("/proc/self/exe", own, sizeof own - 1) < 0) give_up("its own path is not known");
    snprintf(controller, sizeof controller, "%d", getpid());
    snprintf(segments, sizeof segments, "/dev/shm/%smpi", ask->prefix);
    if (mkdir(segments, 0700)) give_up("no folder %s", segments);
    pid_t child = fork();
    if (child) return child;
    setenv("TMPDIR", ask->scratch, 1), setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1), setenv("OMPI_MCA_btl_vader_backing_directory", segments, 1);
    setenv("OMPI_MCA_mpi_yield_when_idle", ask->spins ? "0" : "1", 1), setenv("OMPI_MCA_plm", "isolated", 1);
    setenv("OMPI_MCA_pml", "ob1", 1), setenv("OMPI_MCA_btl", "vader,self", 1);
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, 0), dup2(2, 1);
    execlp("mpirun", "mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", own, ask->scratch, controller, NULL);
    _exit(127);
}

static int other;

int join_ends(void) {
    int rank;
    if (MPI_Init(NULL, NULL) || MPI_Comm_rank(MPI_COMM_WORLD, &rank)) exit(1);
    other = 1 - rank;
    return rank == 0;
}
void *open_end(const struct ask *ask) { return (void)ask, &other; }
void meet(void *end) { (void)end; } /* MPI_Init has returned, and so both are there */

void send_message(void *end, const void *message, size_t size) {
    (void)end;
    if (MPI_Send(message, (int)size, MPI_BYTE, other, 0, MPI_COMM_WORLD)) give_up("MPI_Send failed");
}
size_t receive_message(void *end, void *to, size_t room) {
    MPI_Status status;
    int got;
    (void)end;
    if (MPI_Recv(to, (int)room, MPI_BYTE, other, 0, MPI_COMM_WORLD, &status)) give_up("MPI_Recv failed");
    return MPI_Get_count(&status, MPI_BYTE, &got), (size_t)got;
}
