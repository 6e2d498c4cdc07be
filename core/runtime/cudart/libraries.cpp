// Modules that a program loads while it runs, and other ways to a kernel: its handle is an address that stands for it.
#include <algorithm>

#include "core/base/files.h"
#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;

namespace {

struct Library {
    Module* module = nullptr;
    std::vector<std::unique_ptr<std::string>> names;  // each one's address is the handle of the kernel or variable
    std::string text;                                 // of a file
};
std::map<const void*, std::unique_ptr<Library>> libraries;

Library& library_of(cudaLibrary_t handle) {
    const auto found = libraries.find(handle);
    if (found == libraries.end())
        throw CallFailure{cudaErrorInvalidResourceHandle, "this is no library, or it was unloaded"};
    return *found->second;
}

void load(Runtime& r, cudaLibrary_t* handle, std::unique_ptr<Library> library, const void* code) {
    need(handle, "the library's address");
    library->module = r.load_module(code);
    *handle = reinterpret_cast<cudaLibrary_t>(library.get());
    libraries[library.get()] = std::move(library);
}

const void* handle_in(Library& library, const std::string& name) {
    for (const auto& known : library.names)
        if (*known == name) return known.get();
    library.names.push_back(std::make_unique<std::string>(name));
    return library.names.back().get();
}

cudaKernel_t kernel_in(Runtime& r, Library& library, const std::string& name) {
    const void* const handle = handle_in(library, name);
    if (!r.kernel_of(handle)) r.add_kernel(library.module, handle, name.c_str());
    return reinterpret_cast<cudaKernel_t>(const_cast<void*>(handle));
}

}  // namespace

LOCKSTEP_INTERFACE

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, void*, void**, unsigned, void*, void**, unsigned) {
    return call(__func__, [&](Runtime& r) {
        need(code, "the code");
        load(r, library, std::make_unique<Library>(), code);
    });
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file, void*, void**, unsigned, void*, void**,
                                    unsigned) {
    return call(__func__, [&](Runtime& r) {
        need(file, "the file's name");
        auto loaded = std::make_unique<Library>();
        lockstep::Result<std::string> text = lockstep::read_file(file, size_t{1} << 30);
        if (!text) throw CallFailure{cudaErrorFileNotFound, text.error().message};
        loaded->text = std::move(text).value();
        const void* const code = loaded->text.c_str();
        load(r, library, std::move(loaded), code);
    });
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
    return call(__func__, [&](Runtime& r) {
        r.remove_module(library_of(library).module);
        libraries.erase(library);
    });
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
    return call(__func__, [&](Runtime& r) {
        need(kernel, "the kernel's address");
        need(name, "the name");
        Library& from = library_of(library);
        const std::vector<std::string> all = r.kernels_in(*from.module);
        if (std::find(all.begin(), all.end(), name) == all.end())
            throw CallFailure{cudaErrorSymbolNotFound, std::string("the library has no kernel '") + name + "'"};
        *kernel = kernel_in(r, from, name);
    });
}
cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
    return call(__func__, [&](Runtime& r) {
        need(count, "the count's address");
        *count = static_cast<unsigned>(r.kernels_in(*library_of(library).module).size());
    });
}
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count, cudaLibrary_t library) {
    return call(__func__, [&](Runtime& r) {
        need(kernels, "the kernels' address");
        Library& from = library_of(library);
        const std::vector<std::string> all = r.kernels_in(*from.module);
        for (unsigned k = 0; k < count && k < all.size(); ++k) kernels[k] = kernel_in(r, from, all[k]);
    });
}
cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
    return call(__func__, [&](Runtime& r) {
        need(name, "the name");
        Library& from = library_of(library);
        const void* const handle = handle_in(from, std::string("variable ") + name);
        if (!r.variable_of(handle))
            r.add_variable(from.module, handle, name, r.bytes_of_variable(*from.module, name), nullptr);
        ModuleVariable& variable = *r.variable_of(handle);
        if (pointer) *pointer = reinterpret_cast<void*>(r.address_of(variable));
        if (bytes) *bytes = variable.bytes;
    });
}
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int) {
    return cudaFuncSetAttribute(static_cast<const void*>(kernel), attribute, value);
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
    return call(__func__, [&](Runtime& r) {
        need(function, "the function's address");
        kernel_of(r, symbol);
        *function = reinterpret_cast<cudaFunction_t>(const_cast<void*>(symbol));
    });
}
cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* bytes) {
    return call(__func__, [&](Runtime& r) {
        need(offset, "the offset's address");
        const auto program = r.program_of(kernel_of(r, function));
        if (index >= program->parameters.size())
            throw CallFailure{cudaErrorInvalidValue,
                              "the kernel has " + std::to_string(program->parameters.size()) + " parameters"};
        *offset = program->parameters[index].offset;
        if (bytes) *bytes = program->parameters[index].bytes;
    });
}
LOCKSTEP_INTERFACE_END
