#include <csignal>

#include "core/system/guard.h"
#ifdef __linux__
#include <sys/mman.h>
#include <ucontext.h>
#endif

namespace lockstep::system {

#ifdef __linux__
namespace {

bool (*refused_handler)(const RefusedAccess& access) = nullptr;
struct sigaction before_refusals {};

RefusedAccess access_of(const siginfo_t& about, const void* context) {
    RefusedAccess access{.address = reinterpret_cast<uintptr_t>(about.si_addr)};
#if defined(__x86_64__) && defined(__USE_GNU)
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    access.code = static_cast<uint64_t>(registers[REG_RIP]);
    access.writes = (registers[REG_ERR] & 2) != 0;  // of a page fault's error code
#else
    (void)context;
#endif
    return access;
}

void refused(int number, siginfo_t* about, void* context) {
    if (refused_handler(access_of(*about, context))) return;
    sigaction(number, &before_refusals, nullptr);  // it happens again, and is heard of there
}

}  // namespace

bool set_page_access(uint64_t begin, uint64_t bytes, PageAccess access) {
    const int how = access == PageAccess::none ? PROT_NONE : access == PageAccess::read ? PROT_READ : PROT_READ | PROT_WRITE;
    return mprotect(reinterpret_cast<void*>(begin), bytes, how) == 0;
}

void on_refused_access(bool (*handler)(const RefusedAccess& access)) {
    refused_handler = handler;
    struct sigaction wanted {};
    wanted.sa_sigaction = refused;
    wanted.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &wanted, &before_refusals);
}
#else
bool set_page_access(uint64_t, uint64_t, PageAccess) {
    return false;
}

void on_refused_access(bool (*)(const RefusedAccess& access)) {}
#endif

}  // namespace lockstep::system
