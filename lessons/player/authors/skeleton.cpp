// The lesson that `lockstep lesson new` writes. Its PTX is kept here, so that no compiler is needed to begin.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/device/kernels/kernel_library.h"
#include "core/scene/run.h"
#include "lessons/player/authors/authors.h"

namespace lockstep::lessons {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view skeleton_lesson = R"file(+++
id = "{id}"
title = "{title}"
part = "A"
gpu = "v100"
minutes = 10
+++

## One number a thread | read
A kernel runs in many threads at once. Each of them finds its own number and doubles it, or should.

::: scene file="twice.cu" kernel="twice" grid="2" block="64" args="inout:f32[128 ramp] i32:128" view="threads"

## How many warps | predict
Threads run in warps of 32.

::: predict id="warps" of="warps" type="number"
Two blocks of 64 threads: how many warps is that?
| 2 | That is the number of blocks; each of them has 64 threads.
| 4 | Two warps a block, and two blocks.
:::

## All of them | make
Half of the numbers stay as they are.

::: exercise id="twice" file="twice.cu" kernel="twice" grid="$(ceil(n / 64))" block="64" args="inout:f32[$n] i32:$n" shapes="n=128; n=1; n=100" check="outputs == reference && cycles <= 2 * cycles@run:reference" inputs="random:2, edges"
Double every number, whatever n is.
::: hint after=1
Which threads does the condition send home?
:::
)file";

constexpr std::string_view starter_source =
    R"file(// Each thread doubles one number, or should: half of the numbers stay as they are.
__global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) x[i] = 2.0f * x[i];
}
)file";
constexpr std::string_view starter_ptx = R"file(.version 9.0
.target sm_75
.address_size 64
	// .globl	_Z5twicePfi
.visible .entry _Z5twicePfi(
	.param .u64 _Z5twicePfi_param_0,
	.param .u32 _Z5twicePfi_param_1
)
{
	.reg .pred 	%p<2>;
	.reg .f32 	%f<3>;
	.reg .b32 	%r<9>;
	.reg .b64 	%rd<5>;
	.loc	1 2 0
	ld.param.u64 	%rd1, [_Z5twicePfi_param_0];
	.loc	1 3 5
	mov.u32 	%r2, %ctaid.x;
	mov.u32 	%r3, %ntid.x;
	mov.u32 	%r4, %tid.x;
	mad.lo.s32 	%r1, %r2, %r3, %r4;
	ld.param.u32 	%r5, [_Z5twicePfi_param_1];
	.loc	1 4 5
	shr.u32 	%r6, %r5, 31;
	add.s32 	%r7, %r5, %r6;
	shr.s32 	%r8, %r7, 1;
	setp.ge.s32 	%p1, %r1, %r8;
	@%p1 bra 	$L__BB0_2;
	.loc	1 3 5
	cvta.to.global.u64 	%rd2, %rd1;
	.loc	1 4 5
	mul.wide.s32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.f32 	%f1, [%rd4];
	add.f32 	%f2, %f1, %f1;
	st.global.f32 	[%rd4], %f2;
$L__BB0_2:
	.loc	1 5 1
	ret;
}
	.file	1 "twice.cu"
)file";
constexpr std::string_view solution_source = R"file(__global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2.0f * x[i];
}
)file";
constexpr std::string_view solution_ptx = R"file(.version 9.0
.target sm_75
.address_size 64
	// .globl	_Z5twicePfi
.visible .entry _Z5twicePfi(
	.param .u64 _Z5twicePfi_param_0,
	.param .u32 _Z5twicePfi_param_1
)
{
	.reg .pred 	%p<2>;
	.reg .f32 	%f<3>;
	.reg .b32 	%r<6>;
	.reg .b64 	%rd<5>;
	.loc	1 1 0
	ld.param.u64 	%rd1, [_Z5twicePfi_param_0];
	ld.param.u32 	%r2, [_Z5twicePfi_param_1];
	.loc	1 2 5
	mov.u32 	%r3, %ctaid.x;
	mov.u32 	%r4, %ntid.x;
	mov.u32 	%r5, %tid.x;
	mad.lo.s32 	%r1, %r3, %r4, %r5;
	.loc	1 3 5
	setp.ge.s32 	%p1, %r1, %r2;
	@%p1 bra 	$L__BB0_2;
	.loc	1 2 5
	cvta.to.global.u64 	%rd2, %rd1;
	.loc	1 3 5
	mul.wide.s32 	%rd3, %r1, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.f32 	%f1, [%rd4];
	add.f32 	%f2, %f1, %f1;
	st.global.f32 	[%rd4], %f2;
$L__BB0_2:
	.loc	1 4 1
	ret;
}
	.file	1 "twice.cu"
)file";

// As kernels/build_ptx writes them, with the hash of the source in the first line.
std::string with_hash(std::string_view ptx, const fs::path& source, const std::string& text, const std::string& compiler) {
    return fmt::format("// {} fnv1a64:{:016x} {}\n", source.filename().string(), fnv1a64(text), compiler) + std::string(ptx);
}

std::string with_names(std::string text, const std::string& id, const std::string& title) {
    for (const auto& [mark, value] : {std::pair{"{id}", &id}, {"{title}", &title}})
        if (const size_t at = text.find(mark); at != std::string::npos)
            text.replace(at, std::string_view(mark).size(), *value);
    return text;
}

}  // namespace

Result<std::vector<fs::path>> new_lesson(const fs::path& folder) {
    std::error_code error;
    const fs::path place = fs::absolute(folder, error).lexically_normal();
    const std::string name = (place.filename().empty() ? place.parent_path() : place).filename().string();
    if (fs::exists(folder, error) && !fs::is_empty(folder, error))
        return Diagnostic{"something is there already: a new lesson gets a folder of its own", {folder.string()}};
    const size_t bar = name.find('_');
    const std::string id = name.substr(0, bar);
    std::string title = bar == std::string::npos || bar + 1 == name.size() ? "A lesson" : name.substr(bar + 1);
    if (id.empty() || (id + title).find_first_of("\"\\\n") != std::string::npos)
        return Diagnostic{"a lesson's folder is called like X01_first_steps: its id, then its name", {folder.string()}};
    for (char& c : title)
        if (c == '_') c = ' ';
    const std::string starter(starter_source), solution(solution_source);
    const std::pair<fs::path, std::string> files[] = {
        {"lesson.md", with_names(std::string(skeleton_lesson), id, title)},
        {"twice.cu", starter},
        {"ptx/twice.ptx", with_hash(starter_ptx, "twice.cu", starter, "nvcc 13.0")},
        {"solution/twice.cu", solution},
        {"solution/ptx/twice.ptx", with_hash(solution_ptx, "twice.cu", solution, "nvcc 13.0")}};
    std::vector<fs::path> written;
    for (const auto& [file, text] : files) {
        fs::create_directories((folder / file).parent_path(), error);
        write_file(folder / file, text);
        written.push_back(folder / file);
    }
    return written;
}

Result<std::vector<fs::path>> write_missing_ptx(const fs::path& folder, const std::string& compiler) {
    std::error_code error;
    if (!fs::exists(folder / "lesson.md", error))
        return Diagnostic{"this folder holds no lesson.md, so it is no lesson", {folder.string()}};
    std::vector<fs::path> sources, written;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().extension() == ".cu" && entry->is_regular_file(error)) sources.push_back(entry->path());
    std::sort(sources.begin(), sources.end());
    for (const fs::path& source : sources) {
        if (scene::check_ptx(source)) continue;
        const Result<std::string> text = read_text(source, 1 << 20);
        if (!text) return text.error();
        device::CompileOptions how;
        how.compiler = compiler;
        const Result<device::Compiled> compiled = device::compile(text.value(), source.string(), how);
        if (!compiled) return compiled.error();
        const fs::path ptx = source.parent_path() / "ptx" / (source.stem().string() + ".ptx");
        fs::create_directories(ptx.parent_path(), error);
        write_file(ptx, with_hash(compiled.value().ptx, source, text.value(), compiled.value().compiler));
        written.push_back(ptx);
    }
    return written;
}

}  // namespace lockstep::lessons
