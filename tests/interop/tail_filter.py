# SPDX-License-Identifier: MIT
"""Carries IPv4 packets between a stack over UDP and a TUN device, and drops the end of one transfer once.

    tail_filter.py DEVICE UDP_PORT SIZE SEGMENTS

What the stack sends from the UDP side goes to the device and back. Of a connection that carries SIZE bytes, the last
SEGMENTS data segments are dropped the first time that each is sent, and so is the FIN. It prints one line, "dropped OFFSET
BYTES", for each packet that it drops, with the offset in the data of the connection, and ends on SIGINT or SIGTERM.
"""
import fcntl
import os
import select
import signal
import socket
import struct
import sys

device, port, size, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
FIN, SYN = 0x01, 0x02

tun = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", port))
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

start = None  # sequence number of the first data byte
full = 1      # bytes of the largest data segment so far
dropped = set()


def wanted(packet):
    """Returns False if the filter drops this packet, because it is the first transmission of one of the last data
    segments or of the FIN."""
    global start, full
    if len(packet) < 40 or packet[0] >> 4 != 4 or packet[9] != 6:
        return True
    tcp = packet[(packet[0] & 15) * 4:]
    seq, flags = struct.unpack_from("!I", tcp, 4)[0], tcp[13]
    load = len(tcp) - (tcp[12] >> 4) * 4
    if flags & SYN:
        start = (seq + 1) & 0xFFFFFFFF
    if start is None or flags & SYN or not (load or flags & FIN):
        return True
    full = max(full, load)
    offset = (seq - start) & 0xFFFFFFFF
    if offset < size - last * full or offset in dropped:
        return True
    dropped.add(offset)
    print("dropped", offset, load, flush=True)
    return False


peer = None
print("ready", flush=True)
while True:
    for readable in select.select([tun, udp], [], [])[0]:
        if readable == tun:
            packet = os.read(tun, 65536)
            if peer and packet[0] >> 4 == 4:
                udp.sendto(packet, peer)
        else:
            packet, peer = udp.recvfrom(65536)
            if wanted(packet):
                os.write(tun, packet)
