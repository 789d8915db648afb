# SPDX-License-Identifier: MIT
# The demo's picture: goodput beside the physical limit, and how each transfer went.
#   gnuplot -e "dir='build/demo'; controllers='vj rate'" tools/plot/demo.gp     (written by tools/demo)
csv = dir."/demo.csv"
n = words(controllers)
color(i) = word("#1b6ca8 #d1495b #2e8b57 #b8860b #6a4c93 #4a7c80 #8b4513 #708090 #c71585", 1 + (i - 1) % 9)

set style line 1 lc rgb "#1b6ca8"
set style line 2 lc rgb "#d1495b"
set border 3 lc rgb "#555555"
set tics nomirror out
set grid ytics lc rgb "#dddddd" lt 1

do for [out in "png svg"] {
    if (out eq "png") { set terminal pngcairo size 1500,560 font "DejaVu Sans,11" } \
    else { set terminal svg size 1500,560 font "DejaVu Sans,12" background "white" }
    set output dir."/demo.".out
    set multiplot layout 1,3 title "10 MB over a geostationary link: 10 Mbit/s, 560 ms round trip" font ",14"

    set title "Goodput on the sender's clock, SYN to acknowledged FIN"
    set datafile separator ","
    stats csv using (strcol(1) eq "geo" ? $4 : 1/0) skip 1 name "A" nooutput
    stats csv using (strcol(1) eq "geo" ? 1/0 : $4) skip 1 name "B" nooutput
    set ylabel "Mbit/s"
    set yrange [0:A_max * 1.25]
    set xrange [0.4:n + 0.6]
    set xtics ()
    do for [i = 1:n] { set xtics add (word(controllers, i) i) }
    set xtics rotate by (n > 3 ? -25 : 0)
    set key top left reverse Left samplen 2
    set style fill solid 0.85
    set boxwidth 0.36
    place(c) = sum [i = 1:n] (word(controllers, i) eq c ? i : 0)
    # a bar carries its value at its foot, where it is high enough
    at(y) = y > 0.15 * A_max ? 0.04 * A_max : y + 0.03 * A_max
    ink(y) = y > 0.15 * A_max ? 0xffffff : 0x000000
    plot csv using (strcol(1) eq "geo" ? place(strcol(2)) - 0.19 : 1/0):3 skip 1 with boxes ls 1 title "no bit errors", \
         csv using (strcol(1) eq "geo" ? 1/0 : place(strcol(2)) + 0.19):3 skip 1 with boxes ls 2 title "bit error rate 10^{-6}", \
         A_max with lines ls 1 lw 2 dt 2 title sprintf("physical limit %.2f", A_max), \
         B_max with lines ls 2 lw 2 dt 2 title sprintf("physical limit %.2f", B_max), \
         csv using (place(strcol(2)) + (strcol(1) eq "geo" ? -0.19 : 0.19)):(at($3)):(sprintf("%.2f", $3)):(ink($3)) skip 1 \
             with labels left rotate by 90 font ",9" textcolor rgb variable notitle

    set datafile separator whitespace
    unset xtics
    set xtics nomirror out rotate by 0
    set ylabel "MB acknowledged"
    set xlabel "virtual seconds"
    set yrange [0:11]
    set xrange [0:*]
    set key bottom right noreverse Right
    set title "No bit errors"
    plot for [i = 1:n] dir."/geo-".word(controllers, i).".dat" using 1:2 with lines lw 2 lc rgb color(i) title word(controllers, i)
    set title "Bit error rate 10^{-6}"
    set logscale x
    set xrange [1:*]
    set yrange [0:11 + 0.8 * n]
    set key top left reverse Left
    plot for [i = 1:n] dir."/geo-ber-1e-6-".word(controllers, i).".dat" using 1:2 with lines lw 2 lc rgb color(i) title word(controllers, i)
    unset logscale x
    unset xlabel
    unset multiplot
    unset output
}
