/* SPDX-License-Identifier: MIT */
/* Every entry of every list (states, drops, events and so on) has a name and a description, and the
 * lower-case keys are the names of the enumerators. */
#include <ctype.h>
#include <scps/error.h>
#include <scps/observe.h>
#include <string.h>

#include "cmocka_all.h"

static void is_lower_of(const char *key, const char *name)
{
    char want[64];
    size_t i = 0;
    for (; name[i]; i++)
        want[i] = (char)tolower((unsigned char)name[i]);
    want[i] = '\0';
    assert_string_equal(key, want);
}

static void errors(void **x)
{
    (void)x;
#define SCPS_X(name, value, words)                                                                 \
    assert_string_equal(scps_errname(SCPS_ERR_##name), #name);                                     \
    assert_string_equal(scps_strerror(value), words);
    SCPS_ERRORS(SCPS_X)
#undef SCPS_X
    assert_string_equal(scps_strerror(0), "success");
    assert_string_equal(scps_strerror(17), "success");
    assert_string_equal(scps_errname(0), "OK");
    assert_non_null(scps_strerror(-9999));
    assert_string_equal(scps_errname(-9999), "?");
}

static void drops_and_holds(void **x)
{
    (void)x;
#define SCPS_X(name, words)                                                                        \
    is_lower_of(scps_drop_name(SCPS_DROP_##name), #name);                                          \
    assert_string_equal(scps_drop_words(SCPS_DROP_##name), words);
    SCPS_DROPS(SCPS_X)
#undef SCPS_X
#define SCPS_X(name, words)                                                                        \
    is_lower_of(scps_hold_name(SCPS_HOLD_##name), #name);                                          \
    assert_string_equal(scps_hold_words(SCPS_HOLD_##name), words);
    SCPS_HOLDS(SCPS_X)
#undef SCPS_X
    assert_string_equal(scps_drop_name(SCPS_DROP_COUNT), "?");
    assert_string_equal(scps_hold_name((enum scps_hold) - 1), "?");
}

static void features_and_reasons(void **x)
{
    (void)x;
#define SCPS_X(name, words)                                                                        \
    is_lower_of(scps_feature_name(SCPS_FEATURE_##name), #name);                                    \
    assert_string_equal(scps_feature_words(SCPS_FEATURE_##name), words);
    SCPS_FEATURES(SCPS_X)
#undef SCPS_X
#define SCPS_X(name, words)                                                                        \
    is_lower_of(scps_why_name(SCPS_WHY_##name), #name);                                            \
    assert_string_equal(scps_why_words(SCPS_WHY_##name), words);
    SCPS_WHYS(SCPS_X)
#undef SCPS_X
    assert_string_equal(scps_feature_name(SCPS_FEATURE_COUNT), "?");
    assert_string_equal(scps_why_words((enum scps_why) - 1), "?");
}

static void notes(void **x)
{
    static const struct {
        const char *name, *words, *arg[4];
    } want[] = {
#define SCPS_NOTE(kind, words, a, b, c, d) {#kind, words, {#a, #b, #c, #d}},
#include <scps/events.def>
#undef SCPS_NOTE
    };
    (void)x;
    for (uint32_t k = 0; k < SCPS_NOTE_COUNT; k++) {
        is_lower_of(scps_note_name(k), want[k].name);
        assert_string_equal(scps_note_words(k), want[k].words);
        for (unsigned i = 0; i < 4; i++) {
            if (!strcmp(want[k].arg[i], "_"))
                assert_null(scps_note_arg(k, i));
            else
                assert_string_equal(scps_note_arg(k, i), want[k].arg[i]);
        }
    }
    assert_string_equal(scps_note_name(SCPS_NOTE_COUNT), "?");
    assert_null(scps_note_arg(0, 4));
    assert_null(scps_note_arg(SCPS_NOTE_COUNT, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),
        cmocka_unit_test(drops_and_holds),
        cmocka_unit_test(features_and_reasons),
        cmocka_unit_test(notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
