// The one binary.
#include "app/start.h"

int main(int argc, char** argv) {
    return lockstep::start(argc, argv);
}
