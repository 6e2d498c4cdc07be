// The program beside liblockstep: the command line, and what the library's tasks run in.
#include "app/python/binding/library.h"

int main(int argc, char** argv) {
    return lockstep_start(argc, argv);
}
