// One row a bundled kernel: the whole truth about it. A row stands with the kernel's native twin, in twins/<family>.cpp:
//     {"add_bias", "bias.cu", "y[R,C] = x[R,C] + bias[C]", "x[rows,columns] bias[columns] >y[rows,columns] rows columns",
//      FLOATS(add_bias), "threads(rows*columns)"}
//
// `parameters` names what the CUDA source takes, in its order, parted by spaces:
//   row       = [ { NAME "=" expression } "|" ] { parameter }        in front of the bar: numbers of the test case alone
//   parameter = [ ">" | "&" ] NAME "[" expression { "," expression } "]" [ ":" TYPE ] [ "{" draw "}" ]        a buffer
//             | NAME [ ":" TYPE ] [ "=" expression ]                                                          a number
//   TYPE      = f32 | f64 | ... | sum         none: a buffer has the row's type, a number is an int; sum: the type that sums
//                                             of the row's type have
//   draw      = LOW ".." HIGH [ ",whole" | ",nan" | ",infinite" | ",zero" ] | "=" VALUE | "next:" BUFFER | "first:" BUFFER
//             | "starts:" COUNT | "squares:" COUNT | "settings:" STEP [ "," SKIP "," GOOD ]    what a test case puts there
// A buffer that is only read has no sign; the kernel writes all of one with ">", and reads and writes one with "&". Its
// extents are expressions over the numbers: as many elements as a launch with these numbers may touch. A number's own
// expression is its value in a test case, over the numbers in front of it and @m, @n, @k, the case's shape; without one
// `rows` is @m, `columns`
// @n, `depth` @k, and `n` their product @m*@n.
// `launch` is a fitting launch: threads(COUNT), warps(ROWS), blocks(COUNT), tiles(COLUMNS,ROWS[,MATRICES]) of 16 x 16, or
// grid(X,Y,Z,BLOCK_X,BLOCK_Y).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/device/device.h"
#include "core/device/kernels/thread_pool.h"

namespace lockstep::device {

// A native twin over whole buffers; pointers in `arguments` are host addresses.
using Run = void (*)(std::string_view kernel, std::span<const Argument> arguments, ThreadPool& pool);

struct Twins {  // by element type; null: there is no such kernel
    Run f32 = nullptr, f64 = nullptr, f16 = nullptr, bf16 = nullptr, i64 = nullptr, i32 = nullptr, u8 = nullptr;
};

enum class Agreement : uint8_t { to_the_bit, nearly };  // of the twin with the PTX

// What fusion cannot read off the PTX of a kernel (core/graph/fusion). Parameters by their number; -1: none.
struct Fusing {
    struct Elements {  // of one buffer
        int parameter = -1;
        std::array<int8_t, 4> extents = {};  // parameters whose product is their number; 0: no further one
        int stride = -1;  // of matrices: what must be the product of the last two extents, so that they lie without gaps
    };
    Elements stored_once;         // each of them by one store, wherever: others can go on from there
    Elements loaded_once;         // each of them by one load, by whichever thread: others can make it there
    bool tells_of_parts = false;  // its twin tells ThreadPool::Listener of each part of its result as soon as it is made
    // Six extents, outermost first, and six strides of each pointer that is walked by them.
    int walk = -1;
    std::array<std::array<int8_t, 2>, 2> strides = {};  // pointer, its first stride; 0: no further one
    int counter = -1;                                   // counts random words: one more for every four elements
    std::string_view one_an_element = {};               // the kernel that does the same, with one thread an element
};

struct Kernel {
    std::string_view name;        // "matmul_nn"; its extern "C" names have the type behind: "matmul_nn_f32"
    std::string_view file;        // "matmul.cu", under kernels/; its PTX is kernels/ptx/matmul.ptx
    std::string_view summary;     // "C[M,N] = A[M,K] B[K,N]"
    std::string_view parameters;  // as above
    Twins twins;
    std::string_view launch = "threads(n)";
    Agreement agreement = Agreement::to_the_bit;
    Fusing fusing = {};
};

struct Parameter {
    enum class Kind : uint8_t { number, read, written, updated } kind = Kind::number;
    std::string_view name;
    std::string_view type;     // "" for the row's type, or int
    std::string_view extents;  // of a buffer
    std::string_view value;    // a number's expression, a buffer's draw; "" for the usual
};
struct Signature {
    std::vector<Parameter> locals;  // numbers of the test case alone
    std::vector<Parameter> parameters;
};
// Throws std::logic_error where a row is written wrongly: a test reads them all.
Signature signature_of(const Kernel& kernel);

// The type of a buffer's elements, or of a number, where the row's elements are of type `row`.
DType type_of(const Parameter& parameter, DType row);

struct NamedNumber {
    std::string_view name;
    double value = 0;
};
// The product of the expressions in `text`, which commas part; "/" gives whole numbers, min(a,b) and cover(a,b), a / b
// rounded up, are there too. None: a name is not known. Throws std::logic_error where the text is no expression.
std::optional<double> product_of(std::string_view text, std::span<const NamedNumber> names);

}  // namespace lockstep::device
