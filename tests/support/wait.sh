# SPDX-License-Identifier: MIT
# Functions for shell tests to wait until an event has happened, for as long as a slow machine may take, instead of for a
# fixed time. A script sources this file.

PATIENCE=300 # seconds after which a test may give up waiting

eventually() { # COMMAND...: repeats the command until it succeeds
    local end=$((SECONDS + PATIENCE))
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || { echo "not in $PATIENCE seconds: $*"; return 1; }
        sleep 0.05
    done
}

gone() { # PID
    ! kill -0 "$1" 2>/dev/null
}

listens() { # -t|-u PORT: a program does, at the kernel of this namespace; $netns names another
    local which=-l
    [ "$1" = -t ] || which=-a # a UDP socket that knows its peer
    ${netns:+ip netns exec $netns} ss -Hn $which "$1" "sport = :$2" | grep -q .
}

idle_tcp() { # PORT: no connection to it is left but in TIME-WAIT; $netns names another namespace
    ! ${netns:+ip netns exec $netns} ss -Htn state connected exclude time-wait "dport = :$1" | grep -q .
}

interruptible() { # PID: it has a handler for SIGINT, or has ended
    grep -qE '^SigCgt:.*[2367abef]$' "/proc/$1/status" 2>/dev/null || gone "$1"
}

stop() { # PID: SIGINT, as from a terminal, once it is ready for it; its exit status
    eventually interruptible "$1"
    kill -INT "$1" 2>/dev/null
    wait "$1"
}

settled() { # SCPS_LINK SOCKET: nothing is on the way, and nothing waits to be read: twice the same with a look at the devices between
    local before=${settled_at-}
    settled_at=$("$1" ctl "$2" stats | awk '/ packets in / { printf "%s %s ", $2, $(NF - 3) }')
    [ "$settled_at" = "$before" ] && [[ "$settled_at" =~ ^[0-9]+\ 0\ [0-9]+\ 0\ $ ]]
}
