// SPDX-License-Identifier: MIT
//! A PPP peer of another origin, the crate ppproto, between a terminal line and IP in UDP.
//!
//!     peer LINE LOCAL:PORT REMOTE:PORT
//!
//! The caller has put LINE into raw mode. Each IP packet that arrives in a PPP frame leaves as a UDP
//! datagram, and the other way round. When IPCP has opened, one line on standard output tells the
//! addresses: "open OWN PEER". The program ends when the line closes.
use ppproto::pppos::{PPPoS, PPPoSAction};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::sync::mpsc;
use std::thread;

enum Input {
    Octets(Vec<u8>),
    Packet(Vec<u8>),
    Closed,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    if args.len() != 4 {
        return Err("usage: peer LINE LOCAL:PORT REMOTE:PORT".into());
    }
    let mut line = OpenOptions::new().read(true).write(true).open(&args[1])?;
    let udp = UdpSocket::bind(&args[2])?;
    udp.connect(&args[3])?;

    let (from_line, input) = mpsc::channel();
    let from_udp = from_line.clone();
    let (mut line_in, udp_in) = (line.try_clone()?, udp.try_clone()?);
    thread::spawn(move || {
        let mut buf = [0u8; 4096];
        while let Ok(n) = line_in.read(&mut buf) {
            if n == 0 || from_line.send(Input::Octets(buf[..n].to_vec())).is_err() {
                break;
            }
        }
        let _ = from_line.send(Input::Closed);
    });
    thread::spawn(move || {
        let mut buf = [0u8; 65536];
        loop {
            // An ICMP error of a receiver that is not there yet is no end.
            if let Ok(n) = udp_in.recv(&mut buf) {
                if from_udp.send(Input::Packet(buf[..n].to_vec())).is_err() {
                    break;
                }
            }
        }
    });

    let mut ppp = PPPoS::new(ppproto::Config { username: b"", password: b"" });
    let (mut tx, mut rx) = ([0u8; 8192], [0u8; 4096]);
    let mut told = false;
    ppp.open().map_err(|_| "the crate refused to open")?;
    poll(&mut ppp, &mut tx, &mut rx, &mut line, &udp)?;
    for event in input {
        match event {
            Input::Closed => break,
            Input::Octets(octets) => {
                let mut at = 0;
                while at < octets.len() {
                    at += ppp.consume(&octets[at..], &mut rx);
                    poll(&mut ppp, &mut tx, &mut rx, &mut line, &udp)?;
                }
            }
            Input::Packet(packet) => {
                if ppp.status().ipv4.is_some() {
                    let n = ppp.send(&packet, &mut tx).map_err(|_| "a packet is too long")?;
                    line.write_all(&tx[..n])?;
                }
            }
        }
        if let (false, Some(ip)) = (told, ppp.status().ipv4) {
            if let (Some(own), Some(peer)) = (ip.address, ip.peer_address) {
                println!("open {own} {peer}");
                told = true;
            }
        }
    }
    Ok(())
}

/// Does what the crate asks for until it asks for nothing.
fn poll(ppp: &mut PPPoS, tx: &mut [u8], rx: &mut [u8], line: &mut std::fs::File, udp: &UdpSocket) -> std::io::Result<()> {
    loop {
        match ppp.poll(tx, rx) {
            PPPoSAction::None => return Ok(()),
            PPPoSAction::Transmit(n) => line.write_all(&tx[..n])?,
            PPPoSAction::Received(range) => {
                let _ = udp.send(&rx[range]); // as over any link, what the receiver refuses is lost
            }
        }
    }
}
