#include "core/device/compile/linked_program.h"

#include <fmt/format.h>

#include <set>
#include <span>

#include "core/base/files.h"
#include "core/ptx/link/link.h"
#include "core/ptx/ptx.h"
#include "core/runtime/fatbin.h"

namespace lockstep::device {
namespace {

constexpr size_t largest_object = size_t{1} << 30;
constexpr std::string_view register_call = "__cudaRegisterLinkedBinary";

constexpr std::string_view stub_text = R"(
extern "C" {{
struct Wrapper {{
    int magic, version;
    const void* data;
    const void* parts;
}};
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void lockstepRegisterPart(void**, unsigned long);
int atexit(void (*)(void));
}}
static const void* parts[{0} + 1];
static void (*callbacks[{0}])(void**);
static unsigned long count;
static Wrapper whole = {{0x466243b1, 2, 0, parts}};
static void** handle;
static void end() {{ __cudaUnregisterFatBinary(handle); }}
static void add(void (*callback)(void**), void* wrapper) {{
    parts[count] = static_cast<Wrapper*>(wrapper)->data;
    callbacks[count] = callback;
    if (++count < {0}) return;
    handle = __cudaRegisterFatBinary(&whole);
    atexit(end);
    for (unsigned long k = 0; k < {0}; ++k) {{
        lockstepRegisterPart(handle, k);
        callbacks[k](handle);
    }}
    __cudaRegisterFatBinaryEnd(handle);
}}
extern "C" {{
{1}}}
)";

}  // namespace

std::optional<Diagnostic> check_linked(const std::vector<DeviceObject>& objects, uint32_t compute) {
    std::vector<ptx::Module> parts;
    for (const DeviceObject& object : objects) {
        const Result<std::string> bytes = read_file(object.object, largest_object);
        if (!bytes) return bytes.error();
        std::vector<runtime::FatBinary> binaries =
            runtime::fat_binaries_in(std::as_bytes(std::span(bytes.value().data(), bytes.value().size())));
        if (object.object.extension() == ".ptx") binaries = {{{{compute, bytes.value()}}, {}}};
        for (const runtime::FatBinary& images : binaries) {
            const runtime::PtxImage* const image = runtime::best_image(images, compute);
            if (!image) continue;
            Result<ptx::Module> module = ptx::parse(image->text, object.source);
            if (!module) return module.error();
            parts.push_back(std::move(module).value());
        }
    }
    const Result<ptx::Linked> whole = ptx::link(parts, "the program");
    if (!whole) return whole.error();
    return std::nullopt;
}

std::string link_stub(const std::vector<DeviceObject>& objects) {
    std::set<std::string> names;
    for (const DeviceObject& object : objects) {
        const Result<std::string> bytes = read_file(object.object, largest_object);
        if (!bytes) continue;
        const std::string& text = bytes.value();
        for (size_t at = text.find(register_call); at != std::string::npos; at = text.find(register_call, at + 1)) {
            const std::string name = text.c_str() + at;  // of the table of strings: a zero ends it
            if (name.size() < 512 &&
                name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                    std::string::npos)
                names.insert(name);
        }
    }
    std::string functions;
    for (const std::string& name : names)
        functions += fmt::format(
            "void {}(void (*callback)(void**), void* wrapper, void*, void (*)(void*)) {{ add(callback, wrapper); }}\n",
            name);
    return names.empty() ? std::string() : fmt::format(stub_text, names.size(), functions);
}

}  // namespace lockstep::device
