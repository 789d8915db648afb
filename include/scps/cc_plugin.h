/* SPDX-License-Identifier: MIT */
/* A congestion controller in a shared object, which programs load:
 *
 *     #include <scps/cc_plugin.h>
 *     static const struct scps_cc_ops mine = {...};
 *     SCPS_CC_PLUGIN(mine);
 *
 *     cc -shared -fPIC -o mine.so mine.c
 *     scps_cctest --plugin ./mine.so
 *     scps_ttcp --cc-plugin ./mine.so,key=value ...
 *
 * A program reads one symbol of the shared object, scps_cc_plugin. The functions start, ack and
 * loss must be set; change may be NULL if the controller ignores all events of enum scps_cc_change
 * (timeout, end of recovery, idle time, change of the path and so on), and on_sent if it need not
 * know what is sent. The library itself loads nothing: a program that has the address of a
 * struct scps_cc_ops gives it to scps_conn_config_set_cc(), wherever it comes from.
 */
#ifndef SCPS_CC_PLUGIN_H
#define SCPS_CC_PLUGIN_H

#include <scps/cc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface between programs and plugins. It is incremented when a function of
 * struct scps_cc_ops or a field of <scps/cc.h> changes its meaning. A change of the layout of a
 * structure changes the sizes in struct scps_cc_plugin instead. */
#define SCPS_CC_ABI 2

struct scps_cc_plugin {
    /* SCPS_CC_ABI of the header that the plugin was compiled with; always the first field */
    uint32_t abi;
    /* sizeof of each structure of <scps/cc.h> in the headers that the plugin was compiled with */
    uint32_t size, ops_size, view_size, ack_size, loss_size, sent_size, ctl_size;
    const struct scps_cc_ops *ops;
};

#define SCPS_CC_PLUGIN(operations)                                                                 \
    SCPS_API extern const struct scps_cc_plugin scps_cc_plugin;                                    \
    const struct scps_cc_plugin scps_cc_plugin = {SCPS_CC_ABI,                                     \
                                                  sizeof(struct scps_cc_plugin),                   \
                                                  sizeof(struct scps_cc_ops),                      \
                                                  sizeof(struct scps_cc_view),                     \
                                                  sizeof(struct scps_cc_ack),                      \
                                                  sizeof(struct scps_cc_loss),                     \
                                                  sizeof(struct scps_cc_sent),                     \
                                                  sizeof(struct scps_cc_ctl),                      \
                                                  &(operations)}

#ifdef __cplusplus
}
#endif
#endif
