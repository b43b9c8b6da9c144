/* The controller of a worker and its ends. hopcost speaks to the controller, which forks a process for each
 * end (or starts a thread, where the boundary is one), forwards commands to them over a socket each, and
 * notices when one of them is gone. An end answers a command with one line: `+` and JSON, or `-` and a reason. */
#define _GNU_SOURCE
#include "middleware.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES (256 * 1024 + 2)
/* Ends by number: the callee, which is opened first, then the caller, or the senders of a load. */
enum { CALLEE, CALLER, ENDS_MAX = 17 };
static const char *role(int end) { return end == CALLEE ? "callee" : "caller"; }

/* An end: what it exchanges, and the socket to the controller. */
struct end {
    struct ask ask;
    int fd, samples_fd, schedule_fd, is_load, is_stream, is_open;
    int is_numbered; /* a load whose messages begin with their numbers, above which stands whose they are */
    uint64_t sender;
    uint64_t window; /* messages of a stream that may be unacknowledged, 0 where none is acknowledged */
    int controller; /* its process, where that has not forked this one */
    void *link;
    unsigned char *messages, *got, *spoilt;
    uint64_t contents, number, spoil; /* number: of the next message, through all phases */
    uint64_t *ticks;
    size_t room, kept; /* kept: samples of the last phase that are to be handed over */
};
/* What an end saw in a phase, times in nanoseconds. */
struct seen {
    uint64_t count, samples, longest, elapsed, first, late, lost;
};
static _Thread_local int failing_fd = 1; /* where this thread reports a failure */
static int port;                         /* made by the controller, the same for both ends */

static void say(int fd, const char *format, ...) { /* one line, written with ' for " */
    char text[8192];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, sizeof text - 1, format, values);
    va_end(values);
    length = length < (int)sizeof text - 1 ? length : (int)sizeof text - 2;
    for (char *c = text; *c; c++) *c = *c == '\'' ? '"' : *c == '\n' ? ' ' : *c;
    text[length] = '\n';
    if (write(fd, text, length + 1) < 0) _exit(1);
}
_Noreturn void give_up(const char *format, ...) {
    char reason[1024];
    va_list values;
    va_start(values, format), vsnprintf(reason, sizeof reason, format, values), va_end(values);
    for (char *c = reason; *c; c++) *c = *c == '\'' || *c == '"' || *c == '\\' ? '`' : *c;
    if (failing_fd == 1) say(1, "{'is':'failed','reason':'%s'}", reason), exit(1);
    say(failing_fd, "-%s", reason);
    for (;;) pause(); /* the controller ends this process, or the one whose thread this is */
}

/* No JSON parser: hopcost's lines are regular enough to look for parts, once blanks are taken out. */
static const char *after(const char *line, const char *part) {
    const char *at = strstr(line, part);
    return at ? at + strlen(part) : NULL;
}
static uint64_t number_of(const char *line, const char *key) {
    return after(line, key) ? strtoull(after(line, key), NULL, 10) : 0;
}
static void text_of(const char *line, const char *key, const char *stop, char *to, size_t room) {
    const char *from = after(line, key);
    size_t length = from ? strcspn(from, stop) : 0;
    snprintf(to, room, "%.*s", (int)length, from ? from : "");
}
const char *value(const struct ask *ask, const char *key) {
    static _Thread_local char found[64];
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s=", key);
    const char *from = after(ask->line, "?");
    while (from && strncmp(from, wanted, strlen(wanted))) {
        from = strpbrk(from, "&\"");
        from = from ? from + 1 : NULL;
    }
    return text_of(from ? from : "", wanted, "&\"", found, sizeof found), found;
}
static int read_line(FILE *from, char *line) {
    if (!fgets(line, LINE_MAX_BYTES, from)) return 0;
    if (!strchr(line, '\n')) give_up("a line is longer than 256 KiB");
    char *to = line;
    for (char *at = line; (*to = *at); at++) to += *at != ' ';
    return 1;
}
static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- an end --- */

#pragma weak is_there
enum { SENDER = 56 }; /* the bit of a number at which that of its sender begins */


static inline unsigned char *message_of(const struct end *end, uint64_t number) {
    unsigned char *message = end->messages + number % end->contents * end->ask.size;
    uint64_t full = end->sender << SENDER | number;
    if (end->is_numbered) memcpy(message, &full, sizeof full);
    return message;
}
static inline void put(struct end *end) {
    unsigned char *message = message_of(end, end->number);
    if (end->number == end->spoil) {
        memcpy(end->spoilt, message, end->ask.size);
        end->spoilt[end->ask.size / 2] ^= 1;
        message = end->spoilt;
    }
    send_message(end->link, message, end->ask.size);
    end->number++;
}
static inline int is(const struct end *end, uint64_t number, size_t came) {
    return came == end->ask.size && !memcmp(end->got, message_of(end, number), came);
}
/* Of what came and begins with its number: that, and whose it is. */
static uint64_t got_number(const struct end *end, uint64_t *sender) {
    uint64_t full;
    memcpy(&full, end->got, sizeof full), *sender = full >> SENDER;
    return full & (((uint64_t)1 << SENDER) - 1);
}
static inline int take_one(struct end *end) { /* 0: it was another sender's, or one that came again */
    size_t came = receive_message(end->link, end->got, end->ask.size + 1);
    uint64_t sender;
    if (end->is_numbered && (got_number(end, &sender) < end->number || sender != end->sender)) return 0;
    if (!is(end, end->number, came))
        give_up("message %ju did not arrive as it was sent (%zu bytes)", (uintmax_t)end->number, came);
    return end->number++ > 0;
}
static inline void take(struct end *end) {
    while (!take_one(end)) {}
}
static inline void exchange(struct end *end) {
    if (end->ask.is_caller) put(end), take(end);
    else take(end), put(end);
}
static void fill(struct ask *ask, const char *line) {
    snprintf(ask->line, sizeof ask->line, "%s", line);
    text_of(line, "\"mechanism\":\"", "\"", ask->mechanism, sizeof ask->mechanism);
    text_of(line, "\"scratch\":\"", "\"", ask->scratch, sizeof ask->scratch);
    text_of(line, "\"prefix\":\"", "\"", ask->prefix, sizeof ask->prefix);
    ask->senders = atoi(value(ask, "senders")), ask->senders += !ask->senders;
    ask->size = number_of(line, "payload="), ask->spins = !strcmp(value(ask, "wait"), "spin"), ask->port = port;
}
/* A descriptor that hopcost has the controller inherit, and -1 if there is none. */
static int inherited(const struct end *end, const char *line, const char *key, int flags) {
    char path[64];
    if (!after(line, key)) return -1;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", end->controller, (int)number_of(line, key));
    return end->controller ? open(path, flags) : (int)number_of(line, key);
}
static void open_it(struct end *end, const char *line) {
    struct ask *ask = &end->ask;
    fill(ask, line);
    size_t size = ask->size;
    end->samples_fd = inherited(end, line, "\"samples_fd\":", O_WRONLY | O_APPEND);
    end->schedule_fd = inherited(end, line, "\"schedule_fd\":", O_RDONLY);
    end->is_load = !!after(line, "\"workload\":\"load\"");
    end->is_stream = !!after(line, "\"workload\":\"stream\"");
    const char *ack = value(ask, "ack");
    end->window = !strncmp(ack, "window:", 7) ? strtoull(ack + 7, NULL, 10) : !strcmp(ack, "per-message");
    end->spoil = number_of(line, "\"spoil\":"), end->number = 1, end->contents = 256;
    size_t power = 1;
    while (power < size) power *= 2;
    while (end->contents > 4 && end->contents * power > 16 * 1024) end->contents /= 2;
    end->messages = malloc(end->contents * size), end->got = malloc(size + 1), end->spoilt = malloc(size);
    if (!end->messages || !end->got || !end->spoilt) give_up("out of memory");
    memset(end->got, 1, size + 1);
    for (uint64_t s = 0; s < end->contents; s++) /* all messages beforehand: little-endian words that count up */
        for (uint64_t i = 0; i < size; i++)
            end->messages[s * size + i] = (unsigned char)((s * 0x9E3779B97F4A7C15u + i / 8) >> (i % 8 * 8));
    end->link = open_end(ask), end->is_open = 1;
    end->is_numbered = end->is_load && is_there && is_there(end->link, 0) >= 0, end->sender = ask->sender;
    say(end->fd, "+{'role':'%s','tid':%d,'pid':%d}", role(ask->is_caller), gettid(), getpid());
}
static void note(struct end *end, struct seen *seen, uint64_t sample) {
    end->ticks[seen->samples++] = sample;
    seen->elapsed += sample, seen->longest = sample > seen->longest ? sample : seen->longest;
}
static struct seen exchanges(struct end *end, uint64_t count, uint64_t batch) {
    struct seen seen = {.count = count};
    exchange(end), exchange(end); /* the lead-in: neither stamped nor counted */
    seen.first = now();
    for (uint64_t i = 0; i < count && !end->ask.is_caller; i++) exchange(end);
    for (uint64_t i = 0, before = seen.first, then; i < count && end->ask.is_caller; i += batch, before = then) {
        for (uint64_t j = 0; j < batch; j++) exchange(end);
        note(end, &seen, (then = now()) - before);
    }
    return seen;
}
static void answer(struct end *end, uint64_t sender, uint64_t number) {
    end->sender = sender, end->number = number + 1, put(end);
}
/* The receiver of a load whose messages are numbered, of each sender apart. It answers the two before the load, the
 * second once all senders are there, and the one behind it. A stamp of 0 is of a message that did not come. */
static struct seen receive_numbered(struct end *end, uint64_t count) {
    uint64_t senders = end->ask.senders, first = end->number + 4, last = first + 2 * count, next[ENDS_MAX];
    struct seen seen = {.samples = senders * count};
    memset(end->ticks, 0, seen.samples * 8);
    for (uint64_t s = 0; s < senders; s++) next[s] = end->number;
    for (uint64_t ready = 0, over = 0, s; over < senders;) {
        size_t came = receive_message(end->link, end->got, end->ask.size + 1);
        uint64_t then = now(), number = got_number(end, &s);
        /* The last one, of the load before too, comes again and again. */
        if (s < senders && number < next[s] && (number == last || number < first - 4)) continue;
        end->sender = s;
        if (s >= senders || number < next[s] || number > last || (number - first) % 2 || !is(end, number, came))
            give_up("message %ju did not arrive as it was sent (%zu bytes)", (uintmax_t)number, came);
        next[s] = number + 2;
        if (number == last) over++, answer(end, s, number);
        else if (number >= first) {
            seen.first = seen.count++ ? seen.first : then, seen.elapsed = then - seen.first;
            end->ticks[s * count + (number - first) / 2] = then;
        } else if (number < first - 2) answer(end, s, number);
        else if (++ready == senders)
            for (s = 0; s < senders; s++) answer(end, s, number);
    }
    end->number = last + 2;
    seen.lost = seen.samples - seen.count;
    return seen;
}
/* Stamps of a load; the highest bit says of a message that the sender came to it late. */
static struct seen load(struct end *end, uint64_t count, int is_alone) {
    struct seen seen = {.count = count * (end->ask.is_caller ? 1 : end->ask.senders)};
    uint64_t *times = end->ask.is_caller ? malloc(count * 8) : NULL;
    if (!times && is_alone) return seen;
    if (!times && end->is_numbered) return receive_numbered(end, count);
    off_t from = end->ask.sender * count * 8;
    if (times && pread(end->schedule_fd, times, count * 8, from) != (ssize_t)(count * 8)) give_up("no schedule");
    if (!is_alone) exchange(end), exchange(end);
    seen.first = now();
    for (; seen.samples < count; seen.samples++) {
        if (!times) take(end);
        uint64_t then = now(), due = times ? seen.first + times[seen.samples] : then, is_late = then > due;
        while (then < due) then = now();
        if (!times && !seen.samples) seen.first = then;
        end->ticks[seen.samples] = then | is_late << 63;
        seen.late += is_late, seen.elapsed = then - seen.first;
        if (times && !is_alone) put(end);
        if (!is_alone) end->number++; /* the one that nobody answers with */
    }
    free(times);
    int is_over = !end->is_numbered || is_alone;
    for (; !is_over; end->number -= !is_over) { /* the receiver may have lost the last, and what says so too */
        put(end);
        while (!is_over && is_there(end->link, 1)) is_over = take_one(end);
    }
    return seen;
}
static void acknowledge(struct end *end, uint64_t number) { send_message(end->link, &number, sizeof number); }
static uint64_t acknowledged(struct end *end, uint64_t number) { /* when it was */
    uint64_t got[2];
    if (receive_message(end->link, got, sizeof got) != sizeof number || *got != number)
        give_up("message %ju was not acknowledged", (uintmax_t)number);
    return now();
}
/* The sender of a stream: messages for `cap` nanoseconds, if that is not 0, and the marker of the end. */
static struct seen send_stream(struct end *end, uint64_t most, uint64_t cap) {
    struct seen seen = {0};
    put(end), acknowledged(end, end->number - 1);
    uint64_t number = ++end->number, then = seen.first = now();
    while (seen.count < most && !(cap && then - seen.first >= cap)) {
        end->ticks[seen.count++] = then;
        put(end), end->number++;
        then = now();
        if (end->window && seen.count - seen.samples == end->window)
            then = acknowledged(end, number), number += 2, note(end, &seen, then - end->ticks[seen.samples]);
    }
    for (; end->window && seen.samples < seen.count; number += 2)
        then = acknowledged(end, number), note(end, &seen, then - end->ticks[seen.samples]);
    seen.elapsed = then - seen.first;
    end->number += 2; /* the marker has the contents of a later message */
    put(end), acknowledged(end, end->number++ - 1);
    return seen;
}
static struct seen receive_stream(struct end *end) {
    struct seen seen = {0};
    take(end), acknowledge(end, end->number++ - 1);
    uint64_t before = seen.first = now();
    for (;; end->number += 2) {
        size_t came = receive_message(end->link, end->got, end->ask.size + 1);
        uint64_t then = now();
        if (!is(end, end->number, came)) {
            if (!is(end, end->number += 2, came))
                give_up("a message after the first %ju is missing or changed", (uintmax_t)seen.count);
            acknowledge(end, end->number), end->number += 2;
            return seen;
        }
        if (end->window) acknowledge(end, end->number);
        seen.count++, seen.elapsed = then - seen.first;
        seen.longest = then - before > seen.longest ? then - before : seen.longest, before = then;
    }
}
static void run(struct end *end, const char *line) {
    uint64_t count = number_of(line, "\"count\":"), batch = 1;
    if (after(line, "\"kind\":\"batch\"")) batch = number_of(line, "\"n\":");
    if (!end->is_open || !batch || count % batch || after(line, "\"two-lengths\"")) give_up("this cannot be run");
    int is_alone = end->is_load && after(line, "\"phase\":\"pilot\"");
    uint64_t room = count / batch * (end->ask.is_caller ? 1 : end->ask.senders);
    if (room > end->room) {
        end->room = room, end->ticks = realloc(end->ticks, end->room * 8);
        if (!end->ticks) give_up("out of memory");
        memset(end->ticks, 1, end->room * 8); /* so that no page of it is touched first in the loop */
    }
    struct seen seen;
    if (end->is_load) seen = load(end, count, is_alone);
    else if (!end->is_stream) seen = exchanges(end, count, batch);
    else if (end->ask.is_caller) seen = send_stream(end, count, number_of(line, "\"cap_ns\":"));
    else seen = receive_stream(end);
    end->kept = is_alone || after(line, "\"phase\":\"measure\"") ? seen.samples : 0;
    say(end->fd, "+{'role':'%s','flow':%d,'count':%ju,'samples':%ju,'max_ticks':%ju,'elapsed_ticks':%ju,'first_tick':%ju,"
                 "'overruns':%ju,'lost':%ju,'bytes':%ju}",
        role(end->ask.is_caller), end->ask.sender, (uintmax_t)seen.count, (uintmax_t)end->kept, (uintmax_t)seen.longest,
        (uintmax_t)seen.elapsed, (uintmax_t)seen.first, (uintmax_t)seen.late, (uintmax_t)seen.lost,
        (uintmax_t)(seen.count * end->ask.size));
}
static void hand_over(struct end *end) { /* the samples of the last phase: one end after the other */
    for (size_t left = end->kept * 8, done = 0; left; left -= done) {
        ssize_t wrote = write(end->samples_fd, (char *)end->ticks + (end->kept * 8 - left), left);
        if (wrote <= 0) give_up("the samples could not be written");
        done = (size_t)wrote;
    }
    say(end->fd, "+{}");
}
static void *serve(void *of) { /* until the controller is gone */
    struct end *end = of;
    failing_fd = end->fd;
    FILE *commands = fdopen(dup(end->fd), "r");
    char *line = malloc(LINE_MAX_BYTES);
    while (commands && line && read_line(commands, line)) {
        if (after(line, "\"do\":\"attach\"")) open_it(end, line);
        else if (after(line, "\"do\":\"meet\"")) meet(end->link), say(end->fd, "+{}");
        else if (after(line, "\"do\":\"run\"")) run(end, line);
        else if (after(line, "\"do\":\"hand-over\"")) hand_over(end);
    }
    exit(0);
}

#pragma weak launch_ends
#pragma weak join_ends
static int at_controller(int (*use)(int, const struct sockaddr *, socklen_t), int fd, const char *scratch) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int length = snprintf(name.sun_path, sizeof name.sun_path, "%s/controller", scratch);
    if (length >= (int)sizeof name.sun_path) give_up("%s is too long for the name of a socket", scratch);
    return use(fd, (struct sockaddr *)&name, sizeof name);
}
static void become_end(const char *scratch, const char *controller) { /* in a process that launch_ends has started */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct end *end = calloc(1, sizeof *end);
    int is_caller = end->ask.is_caller = join_ends();
    end->controller = atoi(controller), end->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (at_controller(connect, end->fd, scratch) || write(end->fd, &is_caller, sizeof is_caller) < 0) exit(1);
    serve(end);
}

/* --- the controller --- */

static int sockets[ENDS_MAX] = {-1}; /* to each end */
static unsigned our_ends; /* a bit for each that hopcost has this worker play; another worker may play the other end */

static void start(int number, int is_thread) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) give_up("no socket");
    struct end *end = calloc(1, sizeof *end);
    end->fd = pair[1], end->ask.is_caller = number != CALLEE, end->ask.is_thread = is_thread, sockets[number] = pair[0];
    end->ask.sender = end->ask.is_caller ? number - CALLER : 0;
    if (is_thread) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, end)) give_up("no thread");
        return;
    }
    pid_t parent = getpid(), child = fork();
    if (child < 0) give_up("no process");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        for (int other = 0; other <= number; other++) close(sockets[other]);
        serve(end);
    }
    close(pair[1]);
}
static void start_elsewhere(const char *line) { /* both ends, by launch_ends */
    struct ask ask = {0};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), is_caller;
    fill(&ask, line);
    if (at_controller(bind, listener, ask.scratch) || listen(listener, 2)) give_up("no socket in %s", ask.scratch);
    pid_t launcher = launch_ends(&ask);
    for (int met = 0; met < 2; met++) {
        struct pollfd ready = {.fd = listener, .events = POLLIN};
        while (poll(&ready, 1, 50) < 1)
            if (kill(launcher, 0)) give_up("what was to start the ends has ended");
        int fd = accept(listener, NULL, NULL);
        if (read(fd, &is_caller, sizeof is_caller) != sizeof is_caller) give_up("an end is gone");
        sockets[is_caller ? CALLER : CALLEE] = fd;
    }
}
/* Tells these ends a line and waits for their answers, whichever comes first; what they say goes to `said`. */
static void ask_ends(const char *line, unsigned ends, char said[ENDS_MAX][1024]) {
    for (int end = 0; end < ENDS_MAX; end++)
        if (ends >> end & 1 && write(sockets[end], line, strlen(line)) < 0)
            give_up("the %s's process is gone", role(end));
    while (ends) {
        struct pollfd fds[ENDS_MAX];
        for (int end = 0; end < ENDS_MAX; end++)
            fds[end] = (struct pollfd){.fd = ends >> end & 1 ? sockets[end] : -1, .events = POLLIN};
        if (poll(fds, ENDS_MAX, -1) < 0) continue;
        for (int end = 0; end < ENDS_MAX; end++) {
            if (!fds[end].revents) continue;
            ssize_t got = read(sockets[end], said[end], sizeof said[end] - 1);
            if (got <= 0) give_up("the %s's process is gone", role(end));
            said[end][got - 1] = 0; /* a line that an end writes comes whole */
            if (*said[end] == '-') give_up("%s: %s", role(end), said[end] + 1);
            ends &= ~(1u << end);
        }
    }
}
/* Replies with what the ends say, the callers first. */
static void say_of_ends(const char *is, char said[ENDS_MAX][1024]) {
    static char all[ENDS_MAX * sizeof said[0]]; /* each fits, with its comma */
    *all = 0;
    for (int nth = CALLER, length = 0; nth <= ENDS_MAX; nth++)
        if (our_ends >> nth % ENDS_MAX & 1)
            length += snprintf(all + length, sizeof said[0], "%s%s", length ? "," : "", said[nth % ENDS_MAX] + 1);
    say(1, "{'is':%s:[%s]}", is, all);
}
static void attach(const char *line) {
    static char said[ENDS_MAX][1024], nothing[ENDS_MAX][1024];
    char mechanism[64], known[80], is[40];
    text_of(line, "\"mechanism\":\"", "\"", mechanism, sizeof mechanism);
    snprintf(known, sizeof known, "'name':'%s'", mechanism);
    uint64_t size = number_of(line, "payload=");
    if (!*mechanism || !strstr(describe(), known)) give_up("there is no mechanism %s here", mechanism);
    if (size < 1 || size > 1 << 26) give_up("this is not played here");
    our_ends = !!after(line, "{\"role\":\"callee\"");
    int end = CALLER;
    for (const char *seat = line; (seat = after(seat, "{\"role\":\"caller\"")) && end < ENDS_MAX;) our_ends |= 1u << end++;
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof any;
    int probe = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr *address = (struct sockaddr *)&any;
    if (bind(probe, address, length) || getsockname(probe, address, &length)) give_up("no free port");
    close(probe), port = ntohs(any.sin_port);
    if (launch_ends) start_elsewhere(line);
    for (end = 0; end < ENDS_MAX; end++) {
        if (~our_ends >> end & 1) continue;
        if (!launch_ends) start(end, !!after(line, "boundary=thread"));
        ask_ends(line, 1u << end, said);
    }
    ask_ends("{\"do\":\"meet\"}\n", our_ends, nothing);
    snprintf(is, sizeof is, "'attached','pid':%d,'seats'", getpid());
    say_of_ends(is, said);
}
static int by_size(const void *a, const void *b) {
    return (*(const uint64_t *)a > *(const uint64_t *)b) - (*(const uint64_t *)a < *(const uint64_t *)b);
}
static void clock_cost(const char *line) {
    static uint64_t costs[10000];
    for (int i = 0; i < 10000; i++) costs[i] = now(), costs[i] = now() - costs[i];
    qsort(costs, 10000, sizeof *costs, by_size);
    say(1, "{'is':'clock','cpu':%ju,'source':'CLOCK_MONOTONIC','ticks_per_second':1e9,'stamp_min_ns':%ju,"
           "'stamp_p50_ns':%ju,'stamp_p99_ns':%ju}",
        (uintmax_t)number_of(line, "\"cpu\":"), (uintmax_t)costs[0], (uintmax_t)costs[5000], (uintmax_t)costs[9900]);
}
int main(int argc, char **argv) {
    static char line[LINE_MAX_BYTES], said[ENDS_MAX][1024], nothing[ENDS_MAX][1024];
    int is_attached = 0;
    signal(SIGPIPE, SIG_IGN);
    if (argc == 3 && join_ends) become_end(argv[1], argv[2]);
    signal(SIGCHLD, SIG_IGN);
    while (read_line(stdin, line)) {
        if (after(line, "\"do\":\"stop\"")) return say(1, "{'is':'stopped'}"), 0;
        if (after(line, "\"do\":\"describe\"")) say(1, "{'is':'described','protocol':3,'spoils':true,%s}", describe());
        else if (after(line, "\"do\":\"clock\"")) clock_cost(line);
        else if (after(line, "\"do\":\"attach\"") && !is_attached) attach(line), is_attached = 1;
        else if (after(line, "\"do\":\"run\"") && is_attached) {
            ask_ends(line, our_ends, said);
            for (int nth = CALLER; nth <= ENDS_MAX; nth++)
                ask_ends("{\"do\":\"hand-over\"}\n", our_ends & 1u << nth % ENDS_MAX, nothing);
            say_of_ends("'ran','ends'", said);
        } else give_up("this command is not possible here");
    }
    return 0;
}
