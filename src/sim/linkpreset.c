/* SPDX-License-Identifier: MIT */
/* The presets: links by name, each of which is a description (linkspec.c).
 *
 * All have the 18 bytes of Ethernet framing, unless the description of a preset has another
 * framing. Their sources, with one-way delays unless round trips are named:
 *
 *     leo, moon                the small-satellite tests of Horan and Wang (2001): 3 ms; 1.28 s
 *     geo                      280 ms, for a hop up to the satellite and down; those tests had 120
 *                              ms, up alone
 *     smallsat, smallsat-asym  the PPP lines of those tests
 *     mars                     12 min 28 s, for the mean distance of Mars; slow return link
 *     nasa500, nasa250, nasa10 the single-flow tests of NASA/TM-2003-212001: 100 Mbit/s, round
 *                              trips of 500, 250 and 10 ms. Bit errors damage only 1064 of the
 *                              frame's 1082 bytes, not the 18 bytes of framing, because the report
 *                              counts its packet error rates so
 *     redstorm                 the path of SAND2004-4207: 1 Gbit/s, the limit that its 10 Gbit/s
 *                              client reached
 *     burst-geo                in the bad state of burst errors for 17 ms on average, which is
 *                              2.6 % of the time
 */
#include "sim/linkkeys.h"

static const struct preset {
    const char *name, *help, *spec;
} presets[] = {
    {"lan", "1 Gbit/s both ways, 0.2 ms round trip", "rate=1gbit,delay=100us"},
    {"leo", "20 Mbit/s both ways, 6 ms round trip", "rate=20mbit,delay=3ms"},
    {"geo", "10 Mbit/s both ways, 560 ms round trip", "rate=10mbit,delay=280ms"},
    {"moon", "10 Mbit/s both ways, 2.56 s round trip", "rate=10mbit,delay=1.28s"},
    {"mars", "2 Mbit/s and 128 kbit/s back, 24 min 56 s round trip",
     "rate=2mbit,rate-back=128kbit,delay=748s"},
    {"nasa500", "100 Mbit/s both ways, 500 ms round trip, framing not at risk",
     "rate=100mbit,delay=250ms,exempt=18"},
    {"nasa250", "100 Mbit/s both ways, 250 ms round trip, framing not at risk",
     "rate=100mbit,delay=125ms,exempt=18"},
    {"nasa10", "100 Mbit/s both ways, 10 ms round trip, framing not at risk",
     "rate=100mbit,delay=5ms,exempt=18"},
    {"smallsat", "115.2 kbit/s PPP both ways, 6 ms round trip",
     "rate=115200,delay=3ms,framing=ppp"},
    {"smallsat-asym", "115.2 kbit/s PPP and 2400 bit/s back, 6 ms round trip",
     "rate=115200,rate-back=2400,delay=3ms,framing=ppp"},
    {"redstorm", "1 Gbit/s both ways, 30 ms round trip: 10 Gbit/s run into 1 Gbit/s",
     "rate=1gbit,delay=15ms"},
    {"burst-geo",
     "12 Mbit/s and 3 Mbit/s back, 560 ms round trip, 2.6 % of the time in 17 ms bursts",
     "rate=12mbit,rate-back=3mbit,delay=280ms,burst=637ms/17ms"},
    {"thin-return", "20 Mbit/s and 20 kbit/s back, 560 ms round trip",
     "rate=20mbit,rate-back=20kbit,delay=280ms"},
    {"leo-pass",
     "20 Mbit/s and 1 Mbit/s back during one pass of a satellite 550 km up, then silence",
     "rate=20mbit,rate-back=1mbit,pass=550km,hold"},
};
#define PRESETS (sizeof presets / sizeof presets[0])

bool scps_link_preset(size_t i, const char **name, const char **help)
{
    if (i >= PRESETS)
        return false;
    *name = presets[i].name;
    *help = presets[i].help;
    return true;
}

const char *scps_link_preset_spec(struct scps_text name)
{
    for (size_t i = 0; i < PRESETS; i++)
        if (scps_text_is(name, presets[i].name))
            return presets[i].spec;
    return NULL;
}
