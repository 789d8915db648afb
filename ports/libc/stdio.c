/* SPDX-License-Identifier: MIT */
/* vsnprintf with what the library's messages use (C11 section 7.21.6.5): %c %d %i %s %u %x %%, the
 * lengths l, ll and z, a field width with - and 0, and a precision for %s. */
#include <stdio.h>

#include <stdbool.h>
#include <stdint.h>

struct out {
    char *buf;
    size_t size, n; /* n may go beyond size: it is what there would be */
};

struct spec {
    int width, precision; /* precision -1: none */
    bool left, zero;
    char length; /* 'l', 'L' for long long, 'z', or 0 */
};

static void put(struct out *o, char c)
{
    if (o->n + 1 < o->size)
        o->buf[o->n] = c;
    o->n++;
}

static void pad(struct out *o, char c, int n)
{
    while (n-- > 0)
        put(o, c);
}

static void text(struct out *o, const struct spec *s, const char *p, size_t len)
{
    int blanks = s->width - (int)len;

    pad(o, ' ', s->left ? 0 : blanks);
    for (size_t i = 0; i < len; i++)
        put(o, p[i]);
    pad(o, ' ', s->left ? blanks : 0);
}

static void number(struct out *o, const struct spec *s, uint64_t v, unsigned base, bool negative)
{
    char digits[24];
    struct spec rest = *s;
    size_t n = sizeof digits;

    do
        digits[--n] = "0123456789abcdef"[v % base];
    while (v /= base);
    if (s->zero && !s->left) {
        if (negative)
            put(o, '-');
        pad(o, '0', s->width - (int)negative - (int)(sizeof digits - n));
        rest.width = 0;
    } else if (negative) {
        digits[--n] = '-';
    }
    text(o, &rest, digits + n, sizeof digits - n);
}

static uint64_t unsigned_arg(char length, va_list *args)
{
    switch (length) {
    case 'l':
        return va_arg(*args, unsigned long);
    case 'L':
        return va_arg(*args, unsigned long long);
    case 'z':
        return va_arg(*args, size_t);
    default:
        return va_arg(*args, unsigned);
    }
}

static int64_t signed_arg(char length, va_list *args)
{
    switch (length) {
    case 'l':
        return va_arg(*args, long);
    case 'L':
        return va_arg(*args, long long);
    default:
        return va_arg(*args, int);
    }
}

static void string(struct out *o, const struct spec *s, const char *p)
{
    size_t n = 0;

    while ((s->precision < 0 || n < (size_t)s->precision) && p[n])
        n++;
    text(o, s, p, n);
}

/* Reads what stands between % and the letter of the conversion. Returns where that letter is. */
static const char *read_spec(struct spec *s, const char *f, va_list *args)
{
    *s = (struct spec){.precision = -1};
    for (; *f == '-' || *f == '0'; f++)
        *(*f == '-' ? &s->left : &s->zero) = true;
    for (; *f >= '0' && *f <= '9'; f++)
        s->width = s->width * 10 + *f - '0';
    if (*f == '.' && f[1] == '*') {
        s->precision = va_arg(*args, int);
        f += 2;
    }
    for (; *f == 'l' || *f == 'z'; f++)
        s->length = *f == 'z' ? 'z' : s->length ? 'L' : 'l';
    return f;
}

static void convert(struct out *o, const struct spec *s, char letter, va_list *args)
{
    char c = letter;

    if (letter == 'd' || letter == 'i') {
        int64_t v = signed_arg(s->length, args);
        number(o, s, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 10, v < 0);
    } else if (letter == 'u' || letter == 'x') {
        number(o, s, unsigned_arg(s->length, args), letter == 'u' ? 10 : 16, false);
    } else if (letter == 's') {
        string(o, s, va_arg(*args, const char *));
    } else {
        if (letter == 'c')
            c = (char)va_arg(*args, int);
        text(o, s, &c, 1);
    }
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list given)
{
    struct out o = {buf, size, 0};
    struct spec s;
    va_list args;

    va_copy(args, given);
    for (; *fmt; fmt++) {
        if (*fmt != '%') {
            put(&o, *fmt);
            continue;
        }
        fmt = read_spec(&s, fmt + 1, &args);
        if (!*fmt)
            break;
        convert(&o, &s, *fmt, &args);
    }
    va_end(args);
    if (size)
        buf[o.n < size ? o.n : size - 1] = '\0';
    return (int)o.n;
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(buf, size, fmt, args);
    va_end(args);
    return n;
}
