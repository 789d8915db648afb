// SPDX-License-Identifier: MIT
//! The peer smoltcp: both ends in one process, as bench_pipe (tests/bench/pipe.c) runs libscps and lwIP.
//!
//! ```text
//! send_slice -> [interface a] == queue of packets ==> [interface b] -> recv in place
//! ```
//!
//! Segments carry 1024 octets over IPv4 without link headers, windows are 65 535 octets, checksums are
//! made and verified, Nagle is off.  smoltcp has no selective acknowledgement, and sends time stamps
//! only when it is given a clock: it is not, so its segments are those of the case 64k-plain.
//! Packets lie in buffers that are used again and again: nothing is allocated per packet.
//! Interface::poll() takes every packet that waits before it sends, so one acknowledgement may answer
//! several, as in the driver of bench_pipe.
//!
//!     smoltcp_pipe [--segments N]      one line of CSV: segments, CPU nanoseconds a segment, packets sent
//!
//! Time is CPU time of the process per 1024 octets delivered.  Exit status 1 when the octets differ.
use std::cell::RefCell;
use std::collections::VecDeque;
use std::process::exit;
use std::rc::Rc;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

const MSS: usize = 1024;
const MTU: usize = MSS + 40;
const BLOCK: usize = 64 << 10;
const WINDOW: usize = 65535;

/// Packets on their way in one direction, and buffers that wait for use.
#[derive(Default)]
struct Wire {
    queue: VecDeque<(usize, Box<[u8]>)>,
    pool: Vec<Box<[u8]>>,
    sent: u64,
}

struct Port {
    rx: Rc<RefCell<Wire>>,
    tx: Rc<RefCell<Wire>>,
}

struct Received {
    wire: Rc<RefCell<Wire>>,
    len: usize,
    bytes: Box<[u8]>,
}

struct Place {
    wire: Rc<RefCell<Wire>>,
}

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        let r = f(&self.bytes[..self.len]);
        self.wire.borrow_mut().pool.push(self.bytes);
        r
    }
}

impl TxToken for Place {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let taken = self.wire.borrow_mut().pool.pop();
        let mut bytes = taken.unwrap_or_else(|| vec![0; MTU].into_boxed_slice());
        let r = f(&mut bytes[..len]);
        let mut wire = self.wire.borrow_mut();
        wire.queue.push_back((len, bytes));
        wire.sent += 1;
        r
    }
}

impl Device for Port {
    type RxToken<'a> = Received;
    type TxToken<'a> = Place;

    fn receive(&mut self, _: Instant) -> Option<(Received, Place)> {
        let (len, bytes) = self.rx.borrow_mut().queue.pop_front()?;
        Some((Received { wire: self.rx.clone(), len, bytes }, Place { wire: self.tx.clone() }))
    }

    fn transmit(&mut self, _: Instant) -> Option<Place> {
        Some(Place { wire: self.tx.clone() })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut caps = DeviceCapabilities::default(); // which makes and verifies every checksum
        caps.medium = Medium::Ip;
        caps.max_transmission_unit = MTU;
        caps
    }
}

struct End {
    port: Port,
    iface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
}

impl End {
    fn new(mut port: Port, addr: IpAddress, seed: u64) -> End {
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed;
        let mut iface = Interface::new(config, &mut port, Instant::ZERO);
        iface.update_ip_addrs(|a| a.push(IpCidr::new(addr, 24)).unwrap());
        let ring = || tcp::SocketBuffer::new(vec![0; WINDOW]);
        let mut socket = tcp::Socket::new(ring(), ring());
        socket.set_nagle_enabled(false);
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        End { port, iface, sockets, handle }
    }

    fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    fn poll(&mut self, now: Instant) {
        self.iface.poll(now, &mut self.port, &mut self.sockets);
    }
}

fn cpu_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: t is a timespec that clock_gettime() fills in.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// The block of bench.h: each 8 octets tell their place.
fn block() -> Vec<u8> {
    (0..BLOCK as u64)
        .step_by(8)
        .flat_map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
        .collect()
}

/// The check of bench.h: the first, the last and the middle octet of what was read at once.
fn right(block: &[u8], pos: u64, p: &[u8]) -> bool {
    let at = |i: usize| p[i] == block[(pos + i as u64) as usize % BLOCK];
    p.is_empty() || (at(0) && at(p.len() - 1) && at(p.len() / 2))
}

fn main() {
    let mut segments: u64 = 500_000;
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {}
        ["--segments", n] if n.parse().is_ok_and(|n: u64| n > 0) => segments = n.parse().unwrap(),
        _ => {
            eprintln!("usage: smoltcp_pipe [--segments N]");
            exit(2);
        }
    }
    let block = block();
    let total = segments * MSS as u64;
    let (there, back) = (Rc::new(RefCell::new(Wire::default())), Rc::new(RefCell::new(Wire::default())));
    let (addr_a, addr_b) = (IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2));
    let mut a = End::new(Port { rx: back.clone(), tx: there.clone() }, addr_a, 1);
    let mut b = End::new(Port { rx: there.clone(), tx: back.clone() }, addr_b, 2);
    let (mut written, mut received, mut good) = (0u64, 0u64, true);
    let mut now = Instant::ZERO;

    let begin = cpu_ns();
    b.socket().listen(7001).unwrap();
    {
        let End { iface, sockets, handle, .. } = &mut a;
        let socket = sockets.get_mut::<tcp::Socket>(*handle);
        socket.connect(iface.context(), (addr_b, 7001), 49152).unwrap();
    }
    while received < total {
        let s = a.socket();
        while written < total && s.can_send() {
            let at = written as usize % BLOCK;
            let n = (BLOCK - at).min((total - written) as usize);
            written += s.send_slice(&block[at..at + n]).unwrap() as u64;
        }
        a.poll(now);
        let moved = !there.borrow().queue.is_empty();
        b.poll(now);
        let s = b.socket();
        while s.can_recv() {
            s.recv(|p| {
                good &= right(&block, received, p);
                received += p.len() as u64;
                (p.len(), ())
            })
            .unwrap();
        }
        b.poll(now); // the window that reading has opened
        now += Duration::from_micros(64);
        if !moved && back.borrow().queue.is_empty() {
            now += Duration::from_millis(10); // a delayed acknowledgement
        }
    }
    let ns = cpu_ns() - begin;
    if !good {
        eprintln!("smoltcp_pipe: the octets did not arrive");
        exit(1);
    }
    println!("segments,ns,sent,acks");
    println!("{},{:.1},{},{}", segments, ns as f64 / segments as f64, there.borrow().sent, back.borrow().sent);
}
