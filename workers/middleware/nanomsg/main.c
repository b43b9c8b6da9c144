/* nanomsg by Debian's libnanomsg, over its Unix sockets (ipc) and TCP between processes. */
#include "middleware.h"
#include <nanomsg/nn.h>
#include <nanomsg/pair.h>
#include <nanomsg/reqrep.h>
#include <nanomsg/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *describe(void) {
    return "'runtime':'c+nanomsg','version':'1','libraries':{'libnanomsg':'1.1.5'},'mechanisms':[{'name':'nanomsg',"
        "'about':'nn_send and nn_recv with one worker thread an end','family':'library','workloads':['roundtrip','load','stream'],"
        "'boundaries':['process'],'waits':['block'],'payload':{'min':1,'max':16777216,'default':64},"
        "'wakes':'the worker thread of each end wakes the thread that waits, by an eventfd','parameters':["
        "{'name':'transport','values':['ipc','tcp'],'default':'ipc','about':'over a Unix socket or TCP'},"
        "{'name':'pattern','values':['pair','req-rep'],'default':'pair','about':'sockets PAIR, or REQ and REP'}]}]";
}
static int check(const char *what, int result) {
    if (result < 0) give_up("%s: %s", what, nn_strerror(nn_errno()));
    return result;
}

void *open_end(const struct ask *ask) {
    int is_pair = !strcmp(value(ask, "pattern"), "pair"), unlimited = -1, at_once = 1, *socket = malloc(sizeof *socket);
    *socket = check("nn_socket", nn_socket(AF_SP, is_pair ? NN_PAIR : ask->is_caller ? NN_REQ : NN_REP));
    check("nn_setsockopt", nn_setsockopt(*socket, NN_SOL_SOCKET, NN_RCVMAXSIZE, &unlimited, sizeof unlimited));
    check("nn_setsockopt", nn_setsockopt(*socket, NN_TCP, NN_TCP_NODELAY, &at_once, sizeof at_once));
    char address[320];
    if (!strcmp(value(ask, "transport"), "tcp")) snprintf(address, sizeof address, "tcp://127.0.0.1:%d", ask->port);
    else snprintf(address, sizeof address, "ipc://%s/nanomsg", ask->scratch);
    check(address, ask->is_caller ? nn_connect(*socket, address) : nn_bind(*socket, address));
    return socket;
}
void meet(void *end) { (void)end; } /* a message waits until the other end is there */

void send_message(void *end, const void *message, size_t size) {
    check("nn_send", nn_send(*(int *)end, message, size, 0));
}
size_t receive_message(void *end, void *to, size_t room) {
    return (size_t)check("nn_recv", nn_recv(*(int *)end, to, room, 0));
}
