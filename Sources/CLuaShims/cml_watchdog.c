// The watchdog.
#include "cml_internal.h"

void cml_unpark(struct cml_state *s) { (void)s; }
void cml_watchdog_stop(struct cml_state *s) { (void)s; }
