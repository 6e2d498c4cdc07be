// What a message costs on the way between two ranks.
#pragma once

namespace lockstep::comm {

struct Link {
    double latency_us = 0;
    double bytes_per_us = 0;  // 0: a message takes the latency alone. 1 GB/s = 1000 bytes per microsecond
};

}  // namespace lockstep::comm
