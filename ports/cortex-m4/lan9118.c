/* SPDX-License-Identifier: MIT */
/* A polled driver of the LAN9118 (Microchip DS00002266, sections 3.12, 3.13 and 5). Frames go
 * through the controller's own FIFOs, 32 bits at a time, so that no ring of descriptors takes
 * memory here. */
#include "lan9118.h"

#include <scps/error.h>
#include <string.h>

#define REG(offset)  (*(volatile uint32_t *)(0x40200000u + (offset)))
#define RX_DATA      REG(0x00)
#define TX_DATA      REG(0x20)
#define RX_STATUS    REG(0x40)
#define TX_STATUS    REG(0x48)
#define BYTE_TEST    REG(0x64)
#define TX_CFG       REG(0x70)
#define HW_CFG       REG(0x74)
#define RX_DP_CTRL   REG(0x78)
#define RX_FIFO_INF  REG(0x7c)
#define TX_FIFO_INF  REG(0x80)
#define MAC_CSR_CMD  REG(0xa4)
#define MAC_CSR_DATA REG(0xa8)

#define RX_FAST_FORWARD 0x80000000u /* RX_DP_CTRL: drop the rest of this frame */
#define RX_ERROR        0x00008000u /* RX_STATUS */
#define TX_ON           2u          /* TX_CFG */
#define TX_FIRST_LAST   0x3000u     /* command A: this buffer is the whole frame */
#define SOFT_RESET      1u          /* HW_CFG */
#define MAC_BUSY        0x80000000u
#define MAC_CR          1u
#define MAC_ADDRH       2u
#define MAC_ADDRL       3u
#define MAC_FLAGS       0x0008000cu /* all multicasts; transmitter and receiver on */

#define FRAME_MAX 1514 /* header and 1500 octets */
#define FCS       4

static struct scps_netif nif;
static union {
    uint32_t word[(FRAME_MAX + FCS + 3) / 4];
    uint8_t octet[FRAME_MAX + FCS + 2];
} in, out;

static void set_mac(uint32_t reg, uint32_t value)
{
    MAC_CSR_DATA = value;
    MAC_CSR_CMD = MAC_BUSY | reg;
    while (MAC_CSR_CMD & MAC_BUSY) {
    }
}

/* The frame into the FIFO: two commands, then the words. */
static int send(struct scps_netif *n, const struct scps_pkt *pkt)
{
    size_t len = pkt->len + pkt->payload_len, words = (len + 3) / 4;

    (void)n;
    if (len > FRAME_MAX)
        return SCPS_ERR_MSGSIZE;
    while (TX_FIFO_INF >> 16 & 0xff)
        (void)TX_STATUS; /* of frames that have left */
    if ((TX_FIFO_INF & 0xffff) < (words + 2) * 4)
        return SCPS_ERR_AGAIN;
    memcpy(out.octet, pkt->data, pkt->len);
    if (pkt->payload)
        memcpy(out.octet + pkt->len, pkt->payload, pkt->payload_len);
    TX_DATA = TX_FIRST_LAST | (uint32_t)len;
    TX_DATA = (uint32_t)len;
    for (size_t i = 0; i < words; i++)
        TX_DATA = out.word[i];
    return 0;
}

bool lan9118_receive(struct scps_pkt *frame)
{
    while (RX_FIFO_INF >> 16 & 0xff) {
        uint32_t status = RX_STATUS;
        size_t len = status >> 16 & 0x3fff;

        if (status & RX_ERROR || len < FCS || len > sizeof in.octet) {
            RX_DP_CTRL = RX_FAST_FORWARD;
            while (RX_DP_CTRL & RX_FAST_FORWARD) {
            }
            continue;
        }
        for (size_t i = 0; i < (len + 3) / 4; i++)
            in.word[i] = RX_DATA;
        *frame = (struct scps_pkt){.data = in.octet, .len = len - FCS};
        return true;
    }
    return false;
}

struct scps_netif *lan9118_open(const uint8_t mac[6])
{
    static const struct scps_netif_ops ops = {.name = "lan9118", .send = send};

    if (BYTE_TEST != 0x87654321u)
        return NULL;
    HW_CFG = SOFT_RESET;
    while (HW_CFG & SOFT_RESET) {
    }
    set_mac(MAC_ADDRL,
            mac[0] | (uint32_t)mac[1] << 8 | (uint32_t)mac[2] << 16 | (uint32_t)mac[3] << 24);
    set_mac(MAC_ADDRH, mac[4] | (uint32_t)mac[5] << 8);
    set_mac(MAC_CR, MAC_FLAGS);
    TX_CFG = TX_ON;
    nif = (struct scps_netif){.ops = &ops, .name = "lan9118", .mtu = FRAME_MAX};
    return &nif;
}
