// Tensor programs as a person writes them (*.tape): what a lesson's scene records on the tape, runs backward and trains.
//
//   line      = "dtype" ( "f32" | "f64" ) | "steps" N                        the whole program runs N times; f32 and 1
//             | "mode" ( "direct" | "eager" | "graph" | "fused" )            how launches reach the device (execution.h);
//                                                                            graph and fused replay from the third step on
//             | ( "param" | "input" ) NAME [ "[" extents "]" ] "=" fill      params get gradients and live on
//             | "label" NAME "=" "{" whole numbers "}"
//             | "op" NAME "(" names ")" "=" term                             an elementwise op of one's own; then, indented
//             or
//               [ "save" names ] { "backward" NAME "=" term } "end"          not: what it keeps, and an input's gradient; in
//                                                                            it `up` is the output's gradient
//             | NAME "=" term                                                records nodes; the last is called NAME
//             | "backward" NAME | "update" RATE                              w -= RATE dw for every param
//             | "gradcheck" NAME                                             in f64, against central differences
//             | "hessian" NAME                                               in f64: its second derivatives in the params
//             | "hook" NAME "=" term                                         when NAME's gradient is complete, the term
//                                                                            replaces it; in it `up` is that gradient
//             | "let" NAME "=" expression | "for" NAME "=" A ".." B ... "end"
//   fill      = number | "{" numbers "}" | "ramp" | "random" | "normal" DEVIATION
//   term      = the usual signs (+ - * / and ^ with a number) over numbers, names and functions (tape_functions.cpp)
// "$name" and "$(expression)" are filled in first; "#" begins a comment.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/nn/train/cause.h"
#include "core/nn/train/execution.h"
#include "core/nn/train/step_record.h"
#include "core/tensor/gradcheck.h"

namespace lockstep::scene {

struct Term {  // of an expression over tensors
    enum class Kind : uint8_t { number, name, call, negate, add, subtract, multiply, divide, power } kind = Kind::number;
    double number = 0;
    std::string name;  // of a variable or function
    std::vector<Term> parts;
    std::string text;  // as written, without spaces: names its node
};
// A Diagnostic's column counts from 1 within `text`.
Result<Term> parse_term(const std::string& text);

struct TapeLeaf {
    enum class Kind : uint8_t { parameter, input, label } kind = Kind::parameter;
    enum class Fill : uint8_t { values, all, ramp, random, normal } fill = Fill::values;
    std::string name;
    std::vector<int64_t> shape;
    std::vector<double> values;  // of `values`, in row-major order
    double number = 0;           // of `all` and `normal`
    int line = 0;
};
struct TapeOp {  // of one's own
    std::string name;
    std::vector<std::string> inputs, saved;
    Term forward;
    std::map<std::string, Term> backward;  // by input
    int line = 0;
};
struct TapeStatement {  // loops unrolled
    enum class Kind : uint8_t { assign, backward, update, gradcheck, hessian, hook } kind = Kind::assign;
    std::string name, place;  // place: "[3]" in round 3 of a loop
    Term term;
    double rate = 0;
    int line = 0;
};
struct TapeText {
    std::vector<TapeLeaf> leaves;
    std::vector<TapeOp> ops;
    std::vector<TapeStatement> statements;
    DType dtype = DType::f32;
    int64_t steps = 1;
    nn::Mode mode = nn::Mode::direct;
    std::string file, text;
    std::string last_made() const;  // what the last line that makes something is called
};
// A Diagnostic has line and column.
Result<TapeText> parse_tape(const std::string& text, const std::string& file);

struct TapeHessian {              // of one number, in all elements of all params
    std::string of;               // the number's name
    std::vector<std::string> in;  // "x", "w[3]"
    std::vector<double> values;   // row by row
    double at(size_t row, size_t column) const { return values[row * in.size() + column]; }
    std::string text() const;  // a table
};

struct TapeHook {  // what one saw and made, in the last step; first elements
    std::string of;
    double came = 0, went = 0;
    int64_t elements = 1;
};

struct TapeRun {
    struct Named {
        std::vector<double> value, gradient;  // empty where there is none, or where there are more than 4096 elements
    };
    TapeText text;
    std::vector<std::map<std::string, Named>> history;  // by step; one more for the params after the last update
    std::vector<double> loss;                           // the root of backward, by step; its first element
    std::vector<int> line_of_node;                      // of the last step
    tensor::OpCost cost;                                // of the last step
    int64_t chain = 0;  // ops of the longest chain of them in which each waits for the one before
    int64_t parameters = 0;
    std::vector<tensor::GradcheckResult> checks;  // one a gradcheck line, of the first step
    std::vector<TapeHessian> hessians;            // one a hessian line, of the first step
    std::vector<TapeHook> hooks;                  // one a hook line that ran
    std::optional<tensor::Anomaly> anomaly;       // with `watch`: the first value that is not finite,
    int anomaly_line = 0;                         // the line that recorded its node,
    int64_t anomaly_step = 0;                     // and the step
    std::shared_ptr<const nn::StepRecord> step;   // the last one
    bool stopped = false;                         // in the step behind those of `loss`: there is no `step`
};
// "step 1: the first value that is not finite is a NaN in the value of z (log), element []"; the run has an anomaly.
std::string anomaly_text(const TapeRun& run);

struct TapeRunOptions {
    std::string device = "host";  // "sim:v100"
    bool keep_runs = false;
    uint64_t seed = 1;                        // of random fills
    int64_t most_bytes = int64_t{512} << 20;  // of a device's tensors at once
    int64_t most_work = 8'000'000'000;        // threads of all launches, and 20,000 a launch: two minutes at most
    bool watch = false;  // looks at every value and gradient of a program in mode direct: fills TapeRun::anomaly
    std::stop_token stop = {};
    bool partial = false;                       // a stop ends it in what there is, where a step has ended: TapeRun::stopped
    std::function<void(double)> progress = {};  // as RunOptions::progress
};
Result<std::shared_ptr<const TapeRun>> run_tape(const TapeText& text, const TapeRunOptions& options);

// Why the program learns nothing: no gradient reaches its params, or the loss grew. A loss that grew is run again with
// smaller updates, so that what is advised has been tried. Throws Cancelled.
struct TapeCause {
    nn::Cause cause;
    int line = 0;  // the op that stops the gradient, or the update
};
std::vector<TapeCause> causes_of(const TapeRun& run, const TapeRunOptions& options);

// The functions that terms may call, and one line on each: for messages and the README.
std::vector<std::string> tape_functions();

}  // namespace lockstep::scene
