/* A library that makes calls of the system fail by count, for tests (LD_PRELOAD). See tests/crawler/fault_state.py.

   All processes of a run share one state file, whose name is in FAULT_STATE: what shall fail, and how many calls of each
   kind there were. Counts are those of the whole process tree. Only files below `folder` count.

   Power loss: with `keeps_undo`, every change of a file is written to an undo log before it is made. The `at`-th call
   kills all processes, and the test then takes back what was not synced. Changes by mmap are not seen: LMDB maps its data
   file read-only, and what RocksDB and tantivy map is only read. Calls that a library makes without libc are not seen
   either: those of the Rust crate rustix, by which tantivy renames meta.json. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE, SYNC, RENAME, TRUNCATE, MSYNC, UNLINK, FORK, EXEC, ANY_IO, KINDS };
enum action { NOTHING, FAIL_ONCE, FAIL_FROM, LOSE_POWER };
enum change { CHANGED = 1, SYNCED = 2, RENAMED = 3, UNLINKED = 4 };

#define MAX_PATH 512
#define MAX_PROCESSES 256

struct state {
    int32_t armed, kind, action, error;
    int64_t at;
    int32_t keeps_undo, server;
    int64_t tree_bytes, child_bytes; /* limits of address space: of all processes, of those that were started by exec */
    int64_t hits;                    /* failed calls */
    int64_t counts[KINDS];
    char folder[MAX_PATH], undo[MAX_PATH], hit_path[MAX_PATH];
    int32_t dead, processes, pids[MAX_PROCESSES];
    int64_t saved; /* number of the last file that was saved for an undo */
    int64_t is_ready;
    pthread_mutex_t lock;
};

struct entry { /* of the undo log; `bytes` of data follow */
    int32_t change, is_directory;
    int64_t inode, offset, size, bytes, saved;
    char path[MAX_PATH], target[MAX_PATH];
};

static struct state *state;
static int undo_file = -1;

/* The functions of libc. They are looked up once, because dlsym takes a lock that another thread may hold in a fork. */
#define FUNCTIONS(use)                                                                                          \
    use(write) use(pwrite) use(writev) use(pwritev) use(fsync) use(fdatasync) use(ftruncate) use(msync)         \
    use(renameat) use(unlinkat) use(open) use(open64) use(openat) use(openat64) use(fork) use(posix_spawn)      \
    use(execve) use(execv) use(execvp)
#define DECLARE(name)                                                                                           \
    static __typeof__(&name) real_##name(void) {                                                                \
        static __typeof__(&name) found;                                                                         \
        if (found == NULL) found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                  \
        return found;                                                                                           \
    }
#define REAL(name) real_##name()
#define LOOK_UP(name) real_##name();
FUNCTIONS(DECLARE)

static void lock_state(void) {
    if (pthread_mutex_lock(&state->lock) == EOWNERDEAD) pthread_mutex_consistent(&state->lock);
}

static void unlock_state(void) { pthread_mutex_unlock(&state->lock); }

static void limit_memory(int64_t bytes) {
    if (bytes > 0) setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
}

static void register_process(void) {
    if (state == NULL || !state->armed || getpid() == state->server) return;
    int index = __atomic_fetch_add(&state->processes, 1, __ATOMIC_SEQ_CST);
    if (index < MAX_PROCESSES) state->pids[index] = getpid();
}

static void after_fork(void) {
    undo_file = -1;
    register_process();
    if (state != NULL && state->armed && getppid() == state->server) limit_memory(state->tree_bytes);
}

__attribute__((constructor)) static void begin(void) {
    FUNCTIONS(LOOK_UP)
    const char *name = getenv("FAULT_STATE");
    int file = name == NULL ? -1 : open(name, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return;
    struct state *found = mapped;
    if (!found->is_ready) { /* the first process is the server, which is alone */
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&found->lock, &attributes);
        found->server = getpid();
        found->is_ready = 1;
    }
    state = found;
    pthread_atfork(NULL, NULL, after_fork);
    if (getpid() != state->server) {
        register_process();
        if (state->armed) limit_memory(state->child_bytes);
    }
}

/* ── which files count */

static int is_inside(const char *path) {
    size_t length = strlen(state->folder);
    return length > 0 && strncmp(path, state->folder, length) == 0 && path[length] == '/';
}

static int is_active(void) { return state != NULL && state->armed && getpid() != state->server; }

/* Return whether a file descriptor is a file of the folder, and its path. */
static int is_own_file(int file, char *path) {
    path[0] = 0;
    if (!is_active()) return 0;
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    int before = errno;
    ssize_t length = readlink(name, path, MAX_PATH - 1);
    errno = before;
    if (length <= 0) return 0;
    path[length] = 0;
    return is_inside(path);
}

static int is_own_path(int folder, const char *name, char *path) {
    if (!is_active() || name == NULL) return 0;
    char base[MAX_PATH] = "";
    if (name[0] != '/') {
        char link[64];
        if (folder == AT_FDCWD) strcpy(link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, base, MAX_PATH - 2);
        if (length <= 0) return 0;
        base[length] = '/';
        base[length + 1] = 0;
    }
    if (snprintf(path, MAX_PATH, "%s%s", base, name) >= MAX_PATH) return 0;
    return is_inside(path);
}

/* ── counting */

static void lose_power(void) {
    state->dead = 1;
    int count = state->processes < MAX_PROCESSES ? state->processes : MAX_PROCESSES;
    for (int index = 0; index < count; index++)
        if (state->pids[index] != getpid()) kill(state->pids[index], SIGKILL);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int is_due(enum kind kind, const char *path) {
    int64_t number = ++state->counts[kind];
    if (state->kind != (int32_t)kind || state->action == NOTHING) return 0;
    if (state->action == FAIL_FROM ? number < state->at : number != state->at) return 0;
    if (state->hits++ == 0) snprintf(state->hit_path, MAX_PATH, "%s", path);
    return 1;
}

/* Count a call. Return whether it shall fail. The caller holds the lock. */
static int must_fail(enum kind kind, const char *path) {
    if (state->dead) lose_power();
    int fails = is_due(kind, path);
    if (kind < FORK && is_due(ANY_IO, path)) fails = 1;
    if (fails && state->action == LOSE_POWER) lose_power();
    if (fails) errno = state->error;
    return fails;
}

/* ── the undo log */

static void save(const struct entry *entry, const void *data) {
    if (undo_file < 0) undo_file = open(state->undo, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    struct iovec parts[2] = {{(void *)entry, sizeof *entry}, {(void *)data, entry->bytes}};
    if (REAL(writev)(undo_file, parts, 2) != (ssize_t)(sizeof *entry + entry->bytes)) abort();
}

/* Set inode, size and type of a file. An inode is not used again, because names that are removed are saved. */
static int identify(struct entry *entry, int folder, const char *path, int flags) {
    struct stat found;
    if (fstatat(folder, path, &found, flags) != 0) return 0;
    entry->inode = found.st_ino;
    entry->size = found.st_size;
    entry->is_directory = S_ISDIR(found.st_mode);
    return 1;
}

/* Save what a write or truncation will replace. */
static void save_change(int file, const char *path, int64_t offset, int64_t bytes) {
    if (!state->keeps_undo) return;
    struct entry entry = {.change = CHANGED};
    snprintf(entry.path, MAX_PATH, "%s", path);
    if (!identify(&entry, file, "", AT_EMPTY_PATH)) return;
    entry.offset = offset;
    int64_t end = offset + bytes < entry.size ? offset + bytes : entry.size;
    char *old = NULL;
    if (end > offset) {
        char name[64];
        snprintf(name, sizeof name, "/proc/self/fd/%d", file);
        int copy = open(name, O_RDONLY | O_CLOEXEC);
        old = malloc(end - offset);
        if (copy < 0 || old == NULL || pread(copy, old, end - offset, offset) != end - offset) abort();
        close(copy);
        entry.bytes = end - offset;
    }
    save(&entry, old);
    free(old);
}

static void save_sync(int file, const char *path) {
    struct entry entry = {.change = SYNCED};
    snprintf(entry.path, MAX_PATH, "%s", path);
    if (state->keeps_undo && identify(&entry, file, "", AT_EMPTY_PATH)) save(&entry, NULL);
}

/* Keep a file that a rename or an unlink removes, as a hard link beside the undo log. */
static void save_name(enum change change, const char *path, const char *target) {
    if (!state->keeps_undo) return;
    struct entry entry = {.change = change};
    const char *removed = change == RENAMED ? target : path;
    snprintf(entry.path, MAX_PATH, "%s", path);
    snprintf(entry.target, MAX_PATH, "%s", target);
    if (identify(&entry, AT_FDCWD, removed, AT_SYMLINK_NOFOLLOW) && !entry.is_directory) {
        char name[2 * MAX_PATH];
        entry.saved = ++state->saved;
        snprintf(name, sizeof name, "%s.%lld", state->undo, (long long)entry.saved);
        if (link(removed, name) != 0) abort();
    }
    identify(&entry, AT_FDCWD, change == RENAMED ? path : removed, AT_SYMLINK_NOFOLLOW);
    save(&entry, NULL);
}

/* ── writes */

static int64_t offset_of(int file) {
    struct stat found;
    if (fcntl(file, F_GETFL) & O_APPEND) return fstat(file, &found) == 0 ? found.st_size : 0;
    return lseek(file, 0, SEEK_CUR);
}

/* Count a write. Return how many of its bytes shall be written, or -1 if it shall fail. A disk that becomes full
   takes a half of the first write. Locks the state until end_write. */
static ssize_t begin_write(int file, const char *path, int64_t offset, size_t bytes) {
    lock_state();
    int64_t before = state->hits;
    if (must_fail(WRITE, path)) {
        if (state->action != FAIL_FROM || before > 0 || bytes < 2) {
            unlock_state();
            return -1;
        }
        bytes /= 2;
    }
    save_change(file, path, offset, bytes);
    return bytes;
}

static void end_write(int file, const char *path) {
    int before = errno;
    if (fcntl(file, F_GETFL) & (O_DSYNC | O_SYNC)) save_sync(file, path);
    errno = before;
    unlock_state();
}

ssize_t write(int file, const void *data, size_t bytes) {
    char path[MAX_PATH];
    if (!is_own_file(file, path)) return REAL(write)(file, data, bytes);
    ssize_t part = begin_write(file, path, offset_of(file), bytes);
    if (part < 0) return -1;
    ssize_t result = REAL(write)(file, data, part);
    end_write(file, path);
    return result;
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t offset) {
    char path[MAX_PATH];
    if (!is_own_file(file, path)) return REAL(pwrite)(file, data, bytes, offset);
    ssize_t part = begin_write(file, path, offset, bytes);
    if (part < 0) return -1;
    ssize_t result = REAL(pwrite)(file, data, part, offset);
    end_write(file, path);
    return result;
}

ssize_t pwrite64(int file, const void *data, size_t bytes, off64_t offset) { return pwrite(file, data, bytes, offset); }

/* Write the first bytes of several buffers, at an offset or, if it is negative, at the position of the file. */
static ssize_t write_parts(int file, const struct iovec *parts, int count, off_t offset, const char *path) {
    size_t bytes = 0, kept = 0;
    for (int index = 0; index < count; index++) bytes += parts[index].iov_len;
    ssize_t wanted = begin_write(file, path, offset < 0 ? offset_of(file) : offset, bytes);
    if (wanted < 0) return -1;
    char *joined = malloc(wanted + 1);
    if (joined == NULL) abort();
    for (int index = 0; index < count && kept < (size_t)wanted; index++) {
        size_t part = parts[index].iov_len < wanted - kept ? parts[index].iov_len : wanted - kept;
        memcpy(joined + kept, parts[index].iov_base, part);
        kept += part;
    }
    ssize_t result = offset < 0 ? REAL(write)(file, joined, wanted) : REAL(pwrite)(file, joined, wanted, offset);
    free(joined);
    end_write(file, path);
    return result;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    char path[MAX_PATH];
    if (!is_own_file(file, path)) return REAL(writev)(file, parts, count);
    return write_parts(file, parts, count, -1, path);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
    char path[MAX_PATH];
    if (!is_own_file(file, path)) return REAL(pwritev)(file, parts, count, offset);
    return write_parts(file, parts, count, offset, path);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset) {
    return pwritev(file, parts, count, offset);
}

/* ── the other calls */

static int sync_file(int file, int (*call)(int)) {
    char path[MAX_PATH];
    if (!is_own_file(file, path) && (!is_active() || strcmp(path, state->folder) != 0)) return call(file);
    lock_state();
    int result = must_fail(SYNC, path) ? -1 : call(file);
    if (result == 0) save_sync(file, path);
    unlock_state();
    return result;
}

int fsync(int file) { return sync_file(file, REAL(fsync)); }

int fdatasync(int file) { return sync_file(file, REAL(fdatasync)); }

int ftruncate(int file, off_t size) {
    char path[MAX_PATH];
    if (!is_own_file(file, path)) return REAL(ftruncate)(file, size);
    lock_state();
    int result = -1;
    if (!must_fail(TRUNCATE, path)) {
        save_change(file, path, size, INT64_MAX / 2);
        result = REAL(ftruncate)(file, size);
    }
    unlock_state();
    return result;
}

int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

int truncate(const char *name, off_t size) {
    int file = open(name, O_RDWR | O_CLOEXEC);
    if (file < 0) return -1;
    int result = ftruncate(file, size);
    int before = errno;
    close(file);
    errno = before;
    return result;
}

int truncate64(const char *name, off64_t size) { return truncate(name, size); }

int msync(void *start, size_t bytes, int flags) {
    if (!is_active()) return REAL(msync)(start, bytes, flags);
    lock_state();
    int fails = must_fail(MSYNC, "");
    unlock_state();
    return fails ? -1 : REAL(msync)(start, bytes, flags);
}

int renameat(int folder, const char *name, int target_folder, const char *target) {
    char path[MAX_PATH], new_path[MAX_PATH];
    if (!is_own_path(folder, name, path) || !is_own_path(target_folder, target, new_path))
        return REAL(renameat)(folder, name, target_folder, target);
    lock_state();
    int result = -1;
    if (!must_fail(RENAME, new_path)) {
        save_name(RENAMED, path, new_path);
        result = REAL(renameat)(folder, name, target_folder, target);
    }
    unlock_state();
    return result;
}

int rename(const char *name, const char *target) { return renameat(AT_FDCWD, name, AT_FDCWD, target); }

int unlinkat(int folder, const char *name, int flags) {
    char path[MAX_PATH];
    if ((flags & AT_REMOVEDIR) || !is_own_path(folder, name, path)) return REAL(unlinkat)(folder, name, flags);
    if (faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) return REAL(unlinkat)(folder, name, flags);
    lock_state();
    int result = -1;
    if (!must_fail(UNLINK, path)) {
        save_name(UNLINKED, path, "");
        result = REAL(unlinkat)(folder, name, flags);
    }
    unlock_state();
    return result;
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }

/* O_TRUNC drops the old content of a file. */
static void save_truncation(int folder, const char *name, int flags) {
    char path[MAX_PATH];
    if (!(flags & O_TRUNC) || !is_own_path(folder, name, path) || !state->keeps_undo) return;
    int file = REAL(openat)(folder, name, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    lock_state();
    if (state->dead) lose_power();
    save_change(file, path, 0, INT64_MAX / 2);
    unlock_state();
    close(file);
}

static mode_t mode_of(int flags, va_list rest) {
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name, parameters, folder, call)  \
    int name parameters {                     \
        va_list rest;                         \
        va_start(rest, flags);                \
        mode_t mode = mode_of(flags, rest);   \
        va_end(rest);                         \
        save_truncation(folder, path, flags); \
        return call;                          \
    }

OPEN(open, (const char *path, int flags, ...), AT_FDCWD, REAL(open)(path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, REAL(open64)(path, flags, mode))
OPEN(openat, (int folder, const char *path, int flags, ...), folder, REAL(openat)(folder, path, flags, mode))
OPEN(openat64, (int folder, const char *path, int flags, ...), folder, REAL(openat64)(folder, path, flags, mode))

/* ── processes */

static int must_fail_start(enum kind kind, const char *name) {
    if (!is_active()) return 0;
    lock_state();
    int fails = must_fail(kind, name);
    unlock_state();
    return fails;
}

pid_t fork(void) { return must_fail_start(FORK, "fork") ? -1 : REAL(fork)(); }

pid_t vfork(void) { return fork(); } /* a function cannot return twice, so the child gets memory of its own */

int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
    if (must_fail_start(FORK, path)) return state->error;
    return REAL(posix_spawn)(child, path, actions, attributes, arguments, environment);
}

int execve(const char *path, char *const arguments[], char *const environment[]) {
    return must_fail_start(EXEC, path) ? -1 : REAL(execve)(path, arguments, environment);
}

int execv(const char *path, char *const arguments[]) {
    return must_fail_start(EXEC, path) ? -1 : REAL(execv)(path, arguments);
}

int execvp(const char *path, char *const arguments[]) {
    return must_fail_start(EXEC, path) ? -1 : REAL(execvp)(path, arguments);
}
