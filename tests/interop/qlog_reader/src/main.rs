// SPDX-License-Identifier: MIT
// Reads qlog files with the crate qlog, which knows nothing of libscps, and prints what it took each record for:
//
//     FILE  VERSION  VANTAGE  KIND=COUNT ...     and sums over what it read: octets sent, packets acknowledged, packets lost
use qlog::events::{quic, EventData};
use qlog::reader::{Event, QlogSeqReader};
use std::collections::BTreeMap;

fn acked(r: &quic::AckedRanges) -> u64 {
    match r {
        quic::AckedRanges::Single(v) => v.iter().map(|r| r[r.len() - 1] - r[0] + 1).sum(),
        quic::AckedRanges::Double(v) => v.iter().map(|(a, b)| b - a + 1).sum(),
    }
}

fn main() {
    for path in std::env::args().skip(1) {
        let file = std::io::BufReader::new(std::fs::File::open(&path).expect("the file can be read"));
        let log = QlogSeqReader::new(Box::new(file)).expect("the head is that of a qlog sequence");
        let vantage = serde_json::to_string(&log.qlog.trace.vantage_point).unwrap();
        let mut n: BTreeMap<String, u64> = BTreeMap::new();
        let version = log.qlog.qlog_version.clone();

        for e in log {
            let mut add = |what: &str, k: u64| *n.entry(what.to_string()).or_default() += k;
            match e {
                Event::Json(j) => add(&j.name, 1), // an event that is not QUIC's
                Event::Qlog(e) => match e.data {
                    EventData::PacketSent(p) => {
                        add("packet_sent", 1);
                        add("octets_sent", p.raw.and_then(|r| r.length).unwrap_or(0));
                    }
                    EventData::PacketReceived(p) => {
                        add("packet_received", 1);
                        for f in p.frames.into_iter().flatten() {
                            if let quic::QuicFrame::Ack { acked_ranges: Some(r), .. } = f {
                                add("packets_acked", acked(&r));
                            }
                        }
                    }
                    EventData::MetricsUpdated(_) => add("metrics_updated", 1),
                    EventData::CongestionStateUpdated(_) => add("congestion_state_updated", 1),
                    EventData::PacketLost(_) => add("packet_lost", 1),
                    EventData::LossTimerUpdated(_) => add("loss_timer_updated", 1),
                    EventData::PacketDropped(_) => add("packet_dropped", 1),
                    _ => add("other", 1),
                },
            }
        }
        let counts: Vec<String> = n.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
        println!("{{\"file\":{path:?},\"version\":{version:?},\"vantage\":{vantage},\"counts\":{{{}}}}}", counts.join(","));
    }
}
