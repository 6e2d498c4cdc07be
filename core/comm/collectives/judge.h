// Whether a list of steps is an all-reduce, found without running it: for every rank and chunk whose parts are in the sum.
// Where it is not, which chunk, on which ranks, what they lack or count twice, by which message, and one change to the list
// that makes the chunk right. A change is only named after it has been tried.
//
//     for (const WrongChunk& wrong : wrong_chunks(list))
//         wrong.text;   // "rank 1's chunk 2 lacks rank 2's part: rank 1 passes it on in round 3 (1>2:2) when it holds ..."
#pragma once
#include <string>
#include <vector>

#include "core/comm/collectives/collectives.h"

namespace lockstep::comm {

struct ListedMessage {  // a send and its receive
    int round = 0;      // from 0
    int from = 0, to = 0, chunk = 0;
    bool adds = false;
    bool operator==(const ListedMessage&) const = default;
};
std::string text_of(const ListedMessage& message);  // "2>0:2+", as lists of one's own have it

struct WrongChunk {
    int chunk = 0;
    std::vector<int> ranks;         // on which it is wrong in the same way
    std::vector<int> lacks, twice;  // ranks whose part is not in the sum, or more than once
    int round = -1;                 // of the message that is to blame, from 0; -1: none, a message is missing
    ListedMessage message;          // that one
    std::string text, advice;       // a sentence each; no advice where no single change mends it
};
// In order of chunks; empty: the list is an all-reduce. Each message has its receive in the same round.
std::vector<WrongChunk> wrong_chunks(const Collective& list);

}  // namespace lockstep::comm
