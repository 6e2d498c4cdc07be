// LLVM by its C interface, loaded when the first translation is made: a program that never makes one does not pay for it.
// The headers are those of the build; the library is the system's, of the same version. Internal to core/simt.
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "core/simt/native/native.h"
#include "core/system/system.h"

namespace lockstep::simt {
namespace {

#define LOCKSTEP_LLVM_FUNCTIONS(X)                           \
    X(LLVMCreateMemoryBufferWithMemoryRangeCopy)             \
    X(LLVMCreatePassBuilderOptions)                          \
    X(LLVMCreateTargetMachine)                               \
    X(LLVMDisposeErrorMessage)                               \
    X(LLVMDisposeMessage)                                    \
    X(LLVMDisposeModule)                                     \
    X(LLVMDisposePassBuilderOptions)                         \
    X(LLVMDisposeTargetMachine)                              \
    X(LLVMGetDefaultTargetTriple)                            \
    X(LLVMGetErrorMessage)                                   \
    X(LLVMGetHostCPUFeatures)                                \
    X(LLVMGetHostCPUName)                                    \
    X(LLVMGetTargetFromTriple)                               \
    X(LLVMInitializeX86AsmPrinter)                           \
    X(LLVMInitializeX86Target)                               \
    X(LLVMInitializeX86TargetInfo)                           \
    X(LLVMInitializeX86TargetMC)                             \
    X(LLVMOrcCreateLLJIT)                                    \
    X(LLVMOrcCreateLLJITBuilder)                             \
    X(LLVMOrcCreateNewThreadSafeContext)                     \
    X(LLVMOrcCreateNewThreadSafeModule)                      \
    X(LLVMOrcDisposeThreadSafeContext)                       \
    X(LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine) \
    X(LLVMOrcLLJITAddLLVMIRModule)                           \
    X(LLVMOrcLLJITBuilderSetJITTargetMachineBuilder)         \
    X(LLVMOrcLLJITGetMainJITDylib)                           \
    X(LLVMOrcLLJITLookup)                                    \
    X(LLVMOrcThreadSafeContextGetContext)                    \
    X(LLVMParseIRInContext)                                  \
    X(LLVMRunPasses)

struct Functions {
#define LOCKSTEP_DECLARE(name) decltype(&::name) name = nullptr;
    LOCKSTEP_LLVM_FUNCTIONS(LOCKSTEP_DECLARE)
#undef LOCKSTEP_DECLARE
};

class Compiler {
  public:
    Compiler() {
        const system::Library library = system::load_library({LOCKSTEP_LLVM_LIBRARY});
        if (!library.handle) return;
        bool all = true;
#define LOCKSTEP_FIND(name)                                                               \
    llvm.name = reinterpret_cast<decltype(llvm.name)>(system::symbol_of(library, #name)); \
    all = all && llvm.name != nullptr;
        LOCKSTEP_LLVM_FUNCTIONS(LOCKSTEP_FIND)
#undef LOCKSTEP_FIND
        if (all) start();
    }
    bool works() const {
        return jit != nullptr;
    }

    NativeCode compile(const std::string& module, std::string& problem) {
        const std::scoped_lock lock(mutex);
        const std::string name = "region" + std::to_string(count++);
        std::string text = module;
        for (size_t at = 0; (at = text.find("@region", at)) != std::string::npos; at += name.size() + 1)
            text.replace(at, 7, "@" + name);
        LLVMOrcThreadSafeContextRef context = llvm.LLVMOrcCreateNewThreadSafeContext();
        LLVMMemoryBufferRef buffer = llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(text.data(), text.size(), "region");
        LLVMModuleRef made = nullptr;
        char* message = nullptr;
        if (llvm.LLVMParseIRInContext(llvm.LLVMOrcThreadSafeContextGetContext(context), buffer, &made, &message)) {
            problem = message;
            llvm.LLVMDisposeMessage(message);
            llvm.LLVMOrcDisposeThreadSafeContext(context);
            return nullptr;
        }
        LLVMPassBuilderOptionsRef options = llvm.LLVMCreatePassBuilderOptions();
        const bool failed =
            told(llvm.LLVMRunPasses(
                     made, "function(sroa,early-cse,instcombine,simplifycfg,gvn,loop-mssa(licm),instcombine,simplifycfg)",
                     machine, options),
                 problem);
        llvm.LLVMDisposePassBuilderOptions(options);
        if (failed) {
            llvm.LLVMDisposeModule(made);
            llvm.LLVMOrcDisposeThreadSafeContext(context);
            return nullptr;
        }
        LLVMOrcThreadSafeModuleRef safe = llvm.LLVMOrcCreateNewThreadSafeModule(made, context);
        llvm.LLVMOrcDisposeThreadSafeContext(context);  // the module keeps it
        if (told(llvm.LLVMOrcLLJITAddLLVMIRModule(jit, llvm.LLVMOrcLLJITGetMainJITDylib(jit), safe), problem))
            return nullptr;
        LLVMOrcExecutorAddress address = 0;
        if (told(llvm.LLVMOrcLLJITLookup(jit, &address, name.c_str()), problem)) return nullptr;
        return reinterpret_cast<NativeCode>(address);
    }

  private:
    bool told(LLVMErrorRef error, std::string& problem) {
        if (!error) return false;
        char* const message = llvm.LLVMGetErrorMessage(error);
        problem = message;
        llvm.LLVMDisposeErrorMessage(message);
        return true;
    }

    LLVMTargetMachineRef host() {
        char* const triple = llvm.LLVMGetDefaultTargetTriple();
        char* const cpu = llvm.LLVMGetHostCPUName();
        char* const features = llvm.LLVMGetHostCPUFeatures();
        LLVMTargetRef target = nullptr;
        char* message = nullptr;
        LLVMTargetMachineRef made = nullptr;
        if (llvm.LLVMGetTargetFromTriple(triple, &target, &message))
            llvm.LLVMDisposeMessage(message);
        else
            made = llvm.LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                                LLVMCodeModelJITDefault);
        llvm.LLVMDisposeMessage(triple);
        llvm.LLVMDisposeMessage(cpu);
        llvm.LLVMDisposeMessage(features);
        return made;
    }

    void start() {
        llvm.LLVMInitializeX86TargetInfo();
        llvm.LLVMInitializeX86Target();
        llvm.LLVMInitializeX86TargetMC();
        llvm.LLVMInitializeX86AsmPrinter();
        machine = host();
        LLVMTargetMachineRef given = host();  // the builder takes it
        if (!machine || !given) return;
        LLVMOrcLLJITBuilderRef builder = llvm.LLVMOrcCreateLLJITBuilder();
        llvm.LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
            builder, llvm.LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(given));
        std::string problem;
        LLVMOrcLLJITRef made = nullptr;
        if (!told(llvm.LLVMOrcCreateLLJIT(&made, builder), problem)) jit = made;
    }

    Functions llvm;
    std::mutex mutex;
    uint64_t count = 0;
    LLVMTargetMachineRef machine = nullptr;
    LLVMOrcLLJITRef jit = nullptr;
};

// One a process: what it compiled stays as long as the process.
Compiler& compiler() {
    static auto* const one = new Compiler;
    return *one;
}

}  // namespace

bool is_native_built() {
    return true;
}

NativeCode compile_native(const std::string& module, std::string& problem) {
    if (compiler().works()) return compiler().compile(module, problem);
    problem = no_compiler;
    return nullptr;
}

}  // namespace lockstep::simt
