/* SPDX-License-Identifier: MIT */
/* Reads a scenario file. The library inih cuts it into sections, keys and values. What inih ignores
 * (a line or section that is too long) is refused here. scenario_lines.c interprets the lines.
 *
 * inih's handler does not get the number of the line, so the reader below counts lines. A
 * continuation line, which begins with a blank, arrives as the same key again and is joined with a
 * comma, because all long values are lists.
 */
#include "common/scenario_lines.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* largest length of a line with the name of a section, octets: inih cuts longer names off */
#define NAME_MAX_LEN 48
#define FILE_MAX_LEN (1u << 20) /* largest size of a scenario file, octets */

struct file {
    struct lab_reading r;
    const char *text; /* the part of the file's text that inih has not read yet */
    bool sections;    /* true: a line that begins a section was read */
};

/* Removes a comment behind a value, which inih before release 56 leaves in continuation lines. */
static void cut_comment(char *value)
{
    for (size_t i = 1; value[i - 1] != '\0'; i++)
        if (value[i] == ';' && isspace((unsigned char)value[i - 1])) {
            while (i > 0 && isspace((unsigned char)value[i - 1]))
                i--;
            value[i] = '\0';
            return;
        }
}

static int on_line(void *user, const char *section, const char *key, const char *value)
{
    struct file *f = user;
    char *cut;
    int taken;

    if (f->r.failed)
        return 0;
    cut = lab_copy(value);
    cut_comment(cut);
    taken = lab_reading_line(&f->r, section, key, cut);
    free(cut);
    return taken;
}

/* Processes a line "[section]", n octets at line. The reader does this itself because inih reports
 * a section only together with a key in it, whereas a section of a scenario may have no keys. */
static void begin_section(struct lab_reading *r, const char *line, size_t n)
{
    char name[NAME_MAX_LEN];
    const char *end = memchr(line, ']', n);
    size_t len = end ? (size_t)(end - line) - 1 : 0;

    if (n > NAME_MAX_LEN) {
        lab_reading_refuse(r, r->line, "the section's name is longer than %d characters",
                           NAME_MAX_LEN - 2);
        return;
    }
    if (!end) {
        /* inih would go on, and report what follows as a key before the first section. */
        lab_reading_refuse(r, r->line, "a section without ']' at its end: correct the line");
        return;
    }
    memcpy(name, line + 1, len);
    name[len] = '\0';
    lab_reading_section(r, name);
}

/* inih calls this function in place of fgets(): it returns the next line of the file in str, counts
 * lines, and refuses those that inih would cut off. NULL: the file has ended, or a line was
 * refused. */
static char *next_chunk(char *str, int num, void *stream)
{
    struct file *f = stream;
    const char *end;
    size_t n;

    if (*f->text == '\0' || num < 2)
        return NULL;
    end = strchr(f->text, '\n');
    n = end ? (size_t)(end - f->text) + 1 : strlen(f->text);
    f->r.line++;
    f->r.continued = isblank((unsigned char)*f->text);
    if (n > (size_t)num - 1) {
        lab_reading_refuse(&f->r, f->r.line,
                           "the line is longer than %d characters: continue it on an indented one",
                           num - 2);
        return NULL;
    }
    if (f->text[strspn(f->text, " \t")] == '[' && f->r.continued) {
        /* inih would take an indented line "[section]" for a continuation of the value before
         * it. */
        lab_reading_refuse(&f->r, f->r.line, "an indented section: remove the blanks before '['");
        return NULL;
    }
    if (*f->text == '[') {
        begin_section(&f->r, f->text, n);
        f->sections = true;
    }
    memcpy(str, f->text, n);
    str[n] = '\0';
    f->text += n;
    return str;
}

/* ---- functions that find and open the scenario file ---- */

bool lab_scenario_dir(size_t i, char *dir, size_t len)
{
    char exe[PATH_MAX];
    char *up;
    ssize_t n;
    int len_needed;

    if (i > 1)
        return false;
    /* /proc/self/exe is a symbolic link to the running program, whose path ends in bin/PROGRAM when
     * it is installed. */
    n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    for (int k = 0; k < 2; k++)
        if ((up = strrchr(exe, '/')))
            *up = '\0';
    len_needed =
        snprintf(dir, len, "%s/share/scps/lab/%s", exe, i == 1 ? "campaigns" : "scenarios");
    return len_needed > 0 && (size_t)len_needed < len;
}

/* Opens a scenario file, and writes the path that was found to `found`. A name with a slash or a
 * dot is a path. Any other name is first looked for in the working directory, then among the
 * scenarios shipped with the program. A folder is refused. */
static FILE *open_scenario(const char *path, char *found, size_t len)
{
    struct stat st;
    FILE *f = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? NULL : fopen(path, "r");
    char dir[PATH_MAX];

    snprintf(found, len, "%s", path);
    if (f || strpbrk(path, "/."))
        return f;
    for (size_t i = 0; !f && lab_scenario_dir(i, dir, sizeof dir); i++) {
        snprintf(found, len, "%s/%s.ini", dir, path);
        f = fopen(found, "r");
    }
    if (!f)
        snprintf(found, len, "%s", path);
    return f;
}

/* Returns the number of octets of the byte order mark that some editors write at the beginning of a
 * text in UTF-8: 3 or 0. */
static size_t byte_order_mark(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(text, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
}

/* Returns the text of the scenario file f, which the caller frees; NULL, with the reason in msg, if
 * it cannot be one: too long, or with bytes that are no text. */
static char *read_text(FILE *f, const char *path, char msg[LAB_MSGLEN])
{
    char *text = lab_alloc(FILE_MAX_LEN + 2);
    size_t n = fread(text, 1, FILE_MAX_LEN + 1, f);
    const char *why = NULL;

    text[n] = '\0';
    if (ferror(f))
        why = "it cannot be read: give a scenario file";
    else if (memchr(text, '\0', n))
        why = "it holds a NUL octet, so it is no text: give a scenario file";
    else if (n > FILE_MAX_LEN)
        why = "it is longer than 1 MiB: give a scenario file";
    if (!why)
        return text;
    snprintf(msg, LAB_MSGLEN, "%.300s: %s", path, why);
    free(text);
    return NULL;
}

struct lab_scenario *lab_scenario_read(const char *path, char *const *over, size_t n,
                                       char msg[LAB_MSGLEN])
{
    char found[PATH_MAX + 64], published[PATH_MAX];
    FILE *f = open_scenario(path, found, sizeof found);
    struct file file;
    char *text;
    int bad;

    if (!f) {
        struct stat st;
        int err = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? EISDIR : errno;

        snprintf(msg, LAB_MSGLEN,
                 "%.300s: %s: give a scenario file, or a name that 'scps_lab list' shows", path,
                 strerror(err));
        return NULL;
    }
    text = read_text(f, found, msg);
    fclose(f);
    if (!text)
        return NULL;
    lab_reading_begin(&file.r, found, text, msg);
    if (lab_scenario_dir(0, published, sizeof published)) {
        strcpy(strrchr(published, '/'), "/published");
        file.r.published_dir = published;
    }
    file.text = text + byte_order_mark(text);
    file.sections = false;
    bad = ini_parse_stream(next_chunk, &file, on_line, &file);
    if (bad > 0)
        lab_reading_refuse(&file.r, bad, "neither a [section] nor KEY = VALUE: correct the line");
    else if (bad < 0)
        lab_reading_refuse(&file.r, 1, "cannot be read");
    else if (!file.sections)
        lab_reading_refuse(&file.r, 1,
                           "there is no [section], such as [link] or [flow]: give a scenario file");
    free(text);
    return lab_reading_end(&file.r, over, n);
}
