// The table of bundled kernels: every row's truth in one place. The arguments are those of the CUDA source.
#include "core/device/kernels/kernel_library.h"

#include <fmt/format.h>

#include <stdexcept>
#include <unordered_map>

#include "core/base/nearest.h"

namespace lockstep::device {

namespace {
using enum DType;
const std::vector<DType> f32_alone = {f32}, f16_alone = {f16}, bf16_alone = {bf16}, i32_alone = {i32}, f64_alone = {f64},
                         f32_and_f64 = {f32, f64}, floats = {f32, f64, f16, bf16},
                         floats_and_integers = {f32, f64, f16, bf16, i64, i32, u8};

struct Kernel {
    std::string_view name, file, summary;
    const std::vector<DType>& types;
};

const Kernel table[] = {
    {"matmul_nn", "matmul.cu", "C[M,N] = A[M,K] B[K,N]", floats},
    {"matmul_nt", "matmul.cu", "C[M,N] = A[M,K] B[N,K] transposed", floats},
    {"matmul_tn", "matmul.cu", "C[M,N] = A[K,M] transposed B[K,N]", floats},
    {"matmul_naive", "matmul.cu", "C[M,N] = A[M,K] B[K,N], one thread an element, no tiles", floats},
    {"matmul_tc_nn", "matmul_tc.cu", "C[M,N] = A[M,K] B[K,N] on tensor cores", f16_alone},
    {"matmul_tc_nt", "matmul_tc.cu", "C[M,N] = A[M,K] B[N,K] transposed on tensor cores", f16_alone},
    {"matmul_tc_tn", "matmul_tc.cu", "C[M,N] = A[K,M] transposed B[K,N] on tensor cores", f16_alone},
    {"matmul_tc_nn", "matmul_tc_bf16.cu", "C[M,N] = A[M,K] B[K,N] on tensor cores", bf16_alone},
    {"matmul_tc_nt", "matmul_tc_bf16.cu", "C[M,N] = A[M,K] B[N,K] transposed on tensor cores", bf16_alone},
    {"matmul_tc_tn", "matmul_tc_bf16.cu", "C[M,N] = A[K,M] transposed B[K,N] on tensor cores", bf16_alone},
    {"quantize_int8", "int8.cu", "q[R,C] = x / scale in words of four 8-bit integers", f32_alone},
    {"int8_matmul", "int8.cu", "C[M,N] = A[M,K] B[N,K] transposed of 8-bit integers, sums of 32 bits", i32_alone},
    {"dequantize_int8", "int8.cu", "y = scales times sums", f32_alone},
    {"requantize_int8", "int8.cu", "q = (scales times sums + bias, ReLU) / scale, in words of four", f32_alone},
    {"int8_linear", "int8.cu", "y[M,N] = scales times 8-bit x[M,K] 8-bit B[N,K] transposed, from floats to floats",
     f32_alone},
    {"int8_weight_matmul", "int8.cu", "C[M,N] = A[M,K] B[N,K] transposed, B of 8-bit integers and scales", f32_alone},
    {"sparse24_matmul", "sparse24.cu", "C[M,N] = A[M,K] B[N,K] transposed, two of four of B kept", f32_alone},
    {"bmm_nn", "bmm.cu", "C[i,M,N] = A[i,M,K] B[i,K,N] for a batch; each matrix a stride behind the last", floats},
    {"bmm_nt", "bmm.cu", "C[i,M,N] = A[i,M,K] B[i,N,K] transposed", floats},
    {"bmm_tn", "bmm.cu", "C[i,M,N] = A[i,K,M] transposed B[i,K,N]", floats},
    {"add_bias", "bias.cu", "y[R,C] = x[R,C] + bias[C]", floats},
    {"bias_grad", "bias.cu", "dbias[C] = sum over the rows of dy[R,C]", floats},
    {"relu", "relu.cu", "y = max(x, 0)", floats},
    {"relu_backward", "relu.cu", "dx = dy where x > 0, else 0", floats},
    {"softmax_cross_entropy", "softmax_cross_entropy.cu", "p[R,C] = softmax(logits), loss[R] = -log p[label]", floats},
    {"softmax_cross_entropy_backward", "softmax_cross_entropy.cu", "dlogits[R,C] = (p - onehot(label)) scale", floats},
    {"mse", "mse.cu", "squared = (prediction - target)^2", floats},
    {"mse_backward", "mse.cu", "dprediction = 2 (prediction - target) scale", floats},
    {"reduce_sum", "reduce.cu", "total[1] = sum of x[n]", floats},
    {"reduce_mean", "reduce.cu", "mean[1] = sum of x[n] / n", floats},
    {"sgd", "sgd.cu", "w = w - lr gradient", floats},
    {"index_select", "index.cu", "y[o,i,r] = x[o,index[i],r]: rows by number, an embedding", floats},
    {"index_order", "index.cu", "next[i] = the next place with index[i], first[i] = whether it is the first", i32_alone},
    {"index_add", "index.cu", "y[o,index[i],r] += x[o,i,r], in order", floats},
    {"gather", "index.cu", "y[o,i,r] = x[o,index[o,i,r],r]", floats},
    {"gather_backward", "index.cu", "dx = 0, then dx[o,index[o,i,r],r] += dy[o,i,r]", floats},
    {"scatter_add", "index.cu", "y = x, then y[o,index[o,i,r],r] += source[o,i,r]", floats},
    {"one_hot", "index.cu", "y[i,c] = 1 where c = index[i], else 0", floats},
    {"masked_fill", "index.cu", "y = value where the mask is set, else x", floats},
    {"rope", "rope.cu", "pairs of a row turned by its position's angles", floats},
    {"swiglu", "glu.cu", "y = silu(gate) up", floats},
    {"swiglu_backward", "glu.cu", "gradients of silu(gate) up", floats},
    {"glu", "glu.cu", "y = sigmoid(gate) up", floats},
    {"glu_backward", "glu.cu", "gradients of sigmoid(gate) up", floats},
    {"attention", "attention.cu", "out = softmax(scale Q K') V with an online softmax", floats},
    {"attention_delta", "attention.cu", "delta = dout . out for each row", floats},
    {"attention_backward", "attention.cu", "dq, dk, dv; the weights computed again", floats},
    {"rnn_cell", "rnn.cu", "h' = tanh(gi + gh)", floats},
    {"rnn_cell_backward", "rnn.cu", "gradients of tanh(gi + gh)", floats},
    {"gru_cell", "rnn.cu", "h' = (1 - z) n + z h", floats},
    {"gru_cell_backward", "rnn.cu", "gradients of a GRU cell", floats},
    {"lstm_cell", "rnn.cu", "c' = f c + i g, h' = o tanh(c')", floats},
    {"lstm_cell_backward", "rnn.cu", "gradients of an LSTM cell", floats},
    {"sparse_matmul", "sparse.cu", "y[R,C] = A x[K,C], A in compressed rows", floats},
    {"sparse_matmul_values", "sparse.cu", "dvalue[e] = dy[row of e] . x[column of e]", floats},
    {"sparse_matmul_backward", "sparse.cu", "dx[K,C] = A transposed dy", floats},
    {"uniform", "random.cu", "y = low .. high, by counter (Philox)", floats},
    {"normal", "random.cu", "y = mean + deviation z, by counter (Philox)", floats},
    {"dropout_element", "random.cu", "the same, one thread an element: what a chain of ops takes", floats},
    {"dropout", "random.cu", "y = x scale or 0, by counter (Philox); on dy: its gradient", floats},
    {"sgd_momentum", "sgd.cu", "SGD with momentum, dampening, Nesterov and weight decay", f32_and_f64},
    {"adam", "adam.cu", "Adam, weight decay added to the gradient", f32_and_f64},
    {"adamw", "adam.cu", "AdamW, weight decay beside the gradient", f32_and_f64},
    {"lars", "lars.cu", "v = momentum v + lr rate (g + decay w), w -= v", f32_and_f64},
    {"larc", "lars.cu", "v = momentum v + min(rate / lr, 1) (g + decay w), w -= lr v", f32_and_f64},
    {"novograd", "novograd.cu", "NovoGrad: the second moment is one number a layer", f32_and_f64},
    {"square_sum", "clip.cu", "sums of squares of up to 64 parts of x", floats},
    {"optimizer_clip", "clip.cu", "norm of all gradients, and the factor that clips and unscales them", f64_alone},
    {"optimizer_begin", "clip.cu", "counts a step and its bias corrections", f64_alone},
    {"loss_scale_update", "clip.cu", "the loss scale after a step", f64_alone},
    {"loss_scale_seed", "clip.cu", "seed[1] = the loss scale", floats},
    {"gradient_scale", "clip.cu", "g = factor g", floats},
    {"clip_value", "clip.cu", "g = g within -limit .. limit", floats},
    {"fill", "fill.cu", "y = value", floats_and_integers},
    {"accumulate", "fill.cu", "y = y + x", floats},
    {"add", "binary.cu", "y = a + b", floats},
    {"add_broadcast", "binary.cu", "y = a + b, by strides", floats},
    {"sub", "binary.cu", "y = a - b", floats},
    {"sub_broadcast", "binary.cu", "y = a - b, by strides", floats},
    {"mul", "binary.cu", "y = a b", floats},
    {"mul_broadcast", "binary.cu", "y = a b, by strides", floats},
    {"div", "binary.cu", "y = a / b", floats},
    {"div_broadcast", "binary.cu", "y = a / b, by strides", floats},
    {"maximum", "binary.cu", "y = the larger of a and b", floats},
    {"maximum_broadcast", "binary.cu", "y = the larger of a and b, by strides", floats},
    {"minimum", "binary.cu", "y = the smaller of a and b", floats},
    {"minimum_broadcast", "binary.cu", "y = the smaller of a and b, by strides", floats},
    {"pow", "binary.cu", "y = a to the power of b", floats},
    {"pow_broadcast", "binary.cu", "y = a to the power of b, by strides", floats},
    {"neg", "unary.cu", "y = -x", floats},
    {"neg_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"square", "unary.cu", "y = x^2", floats},
    {"square_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"abs_value", "unary.cu", "y = |x|", floats},
    {"abs_value_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"reciprocal", "unary.cu", "y = 1 / x", floats},
    {"reciprocal_backward", "unary.cu", "dx = dy times its slope, from y", floats},
    {"sqrt_value", "unary.cu", "y = sqrt(x)", floats},
    {"sqrt_value_backward", "unary.cu", "dx = dy times its slope, from y", floats},
    {"rsqrt_value", "unary.cu", "y = 1 / sqrt(x)", floats},
    {"rsqrt_value_backward", "unary.cu", "dx = dy times its slope, from y", floats},
    {"exp_value", "unary.cu", "y = e^x", floats},
    {"exp_value_backward", "unary.cu", "dx = dy times its slope, from y", floats},
    {"log_value", "unary.cu", "y = log(x)", floats},
    {"log_value_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"sin_value", "unary.cu", "y = sin(x)", floats},
    {"sin_value_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"cos_value", "unary.cu", "y = cos(x)", floats},
    {"cos_value_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"tanh_value", "unary.cu", "y = tanh(x)", floats},
    {"tanh_value_backward", "unary.cu", "dx = dy times its slope, from y", floats},
    {"sigmoid", "unary.cu", "y = 1 / (1 + e^-x)", floats},
    {"sigmoid_backward", "unary.cu", "dx = dy times its slope, from y", floats},
    {"silu", "unary.cu", "y = x sigmoid(x)", floats},
    {"silu_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"softplus", "unary.cu", "y = log(1 + e^x)", floats},
    {"softplus_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"gelu", "unary.cu", "y = x Phi(x)", floats},
    {"gelu_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"gelu_tanh", "unary.cu", "y = x Phi(x), Phi by tanh", floats},
    {"gelu_tanh_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"leaky_relu", "unary.cu", "y = x, or alpha x below 0", floats},
    {"leaky_relu_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"elu", "unary.cu", "y = x, or alpha (e^x - 1) below 0", floats},
    {"elu_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"clamp", "unary.cu", "y = x within alpha and beta", floats},
    {"clamp_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"scale_add", "unary.cu", "y = alpha x + beta", floats},
    {"scale_add_backward", "unary.cu", "dx = dy times its slope, from x", floats},
    {"amax", "axes.cu", "y[n] = the largest of x over other axes", floats},
    {"amin", "axes.cu", "y[n] = the smallest of x over other axes", floats},
    {"argmax", "axes.cu", "y[n] (i64) = which of x over other axes is the largest", floats},
    {"argmin", "axes.cu", "y[n] (i64) = which of x over other axes is the smallest", floats},
    {"extreme_backward", "axes.cu", "dx = dy, shared by the elements of x that reach y", floats},
    {"var", "axes.cu", "y[n] = variance of x over other axes", floats},
    {"var_backward", "axes.cu", "dx = 2 dy (x - mean) / (count - correction)", floats},
    {"prod", "axes.cu", "y[n] = products of x over other axes", floats},
    {"prod_backward", "axes.cu", "dx = dy times the others' product", floats},
    {"sum_rows", "axes.cu", "y[R] = sums of x[R,C]", floats},
    {"mean_rows", "axes.cu", "y[R] = means of x[R,C]", floats},
    {"cumsum", "axes.cu", "y = running sums along the middle axis of x[outer, extent, inner]", floats},
    {"put_strided", "pieces.cu", "y at its strides = x[n]", floats_and_integers},
    {"where", "pieces.cu", "y = a where c, else b", floats_and_integers},
    {"where_backward", "pieces.cu", "dx = dy where c is as asked, else 0", floats},
    {"equal", "pieces.cu", "y (u8) = a == b", floats_and_integers},
    {"not_equal", "pieces.cu", "y (u8) = a != b", floats_and_integers},
    {"less", "pieces.cu", "y (u8) = a < b", floats_and_integers},
    {"less_equal", "pieces.cu", "y (u8) = a <= b", floats_and_integers},
    {"greater", "pieces.cu", "y (u8) = a > b", floats_and_integers},
    {"greater_equal", "pieces.cu", "y (u8) = a >= b", floats_and_integers},
    {"tril", "pieces.cu", "y = x on and below the diagonal, else 0", floats},
    {"div_backward", "pieces.cu", "db = -dy a / b^2", floats},
    {"pow_backward_base", "pieces.cu", "da = dy b a^(b - 1)", floats},
    {"pow_backward_exponent", "pieces.cu", "db = dy a^b log a", floats},
    {"maximum_backward", "pieces.cu", "da = dy where a > b, half where equal", floats},
    {"minimum_backward", "pieces.cu", "da = dy where a < b, half where equal", floats},
    {"inside", "pieces.cu", "y = 1 where x is in [alpha, beta], else 0", floats},
    {"pow_scalar", "pieces.cu", "y = x^alpha", floats},
    {"pow_scalar_backward", "pieces.cu", "dx = dy alpha x^(alpha - 1)", floats},
    {"erf_value", "pieces.cu", "y = the error function of x", floats},
    {"erf_value_backward", "pieces.cu", "dx = dy 2/sqrt(pi) e^(-x^2)", floats},
    {"cast_f32", "pieces.cu", "y = x, from f32", floats_and_integers},
    {"cast_f64", "pieces.cu", "y = x, from f64", floats_and_integers},
    {"cast_f16", "pieces.cu", "y = x, from f16", floats_and_integers},
    {"cast_bf16", "pieces.cu", "y = x, from bf16", floats_and_integers},
    {"cast_i64", "pieces.cu", "y = x, from i64", floats_and_integers},
    {"cast_i32", "pieces.cu", "y = x, from i32", floats_and_integers},
    {"cast_u8", "pieces.cu", "y = x, from u8", floats_and_integers},
    {"copy_strided", "strided.cu", "y[n] = x at its strides", floats_and_integers},
    {"add_strided", "strided.cu", "y at its strides = y + x[n]", floats},
    {"sum_strided", "strided.cu", "y[n] = sums of x over other axes", floats},
    {"conv2d", "conv2d.cu", "y[N,F,OH,OW] = w[F,C/G,KH,KW] * x[N,C,H,W] + bias[F]", floats},
    {"conv2d_backward_data", "conv2d.cu", "dx[N,C,H,W] from w and dy", floats},
    {"conv2d_backward_weight", "conv2d.cu", "dw[F,C/G,KH,KW] from x and dy", floats},
    {"channel_sum", "conv2d.cu", "sums[C] of x[N,C,S]", floats},
    {"add_channel", "conv2d.cu", "y[N,C,S] = y + bias[C]", floats},
    {"im2col", "conv2d_im2col.cu", "columns[N,G,K,P] = the windows of x[N,C,H,W]", floats},
    {"col2im", "conv2d_im2col.cu", "dx[N,C,H,W] = sums of columns[N,G,K,P]", floats},
    {"conv2d_product", "conv2d_im2col.cu", "y[N,G,F/G,P] = w[G,F/G,K] columns[N,G,K,P] + bias", floats},
    {"conv2d_product_data", "conv2d_im2col.cu", "dcolumns[N,G,K,P] = w transposed dy", floats},
    {"conv2d_product_weight", "conv2d_im2col.cu", "dw[G,F/G,K] = sum over N of dy columns transposed", floats},
    {"max_pool2d", "pool.cu", "y = the largest of each window, index = where", floats},
    {"max_pool2d_backward", "pool.cu", "dx = dy where index points", floats},
    {"avg_pool2d", "pool.cu", "y = the mean of each window", floats},
    {"avg_pool2d_backward", "pool.cu", "dx = dy shared out over each window", floats},
    {"adaptive_avg_pool2d", "pool.cu", "y[OH,OW] = means of windows that cover x[H,W]", floats},
    {"adaptive_avg_pool2d_backward", "pool.cu", "dx = dy shared out over each window", floats},
    {"plane_mean", "pool.cu", "y[P] = the mean of x[P,S]", floats},
    {"plane_mean_backward", "pool.cu", "dx[P,S] = dy[P] / S", floats},
    {"softmax", "softmax.cu", "y[R,C] = softmax of each row", floats},
    {"softmax_causal", "softmax.cu", "softmax of what each position may see, 0 elsewhere", floats},
    {"softmax_backward", "softmax.cu", "dx = y (dy - sum y dy)", floats},
    {"log_softmax", "softmax.cu", "y[R,C] = log softmax of each row", floats},
    {"log_softmax_backward", "softmax.cu", "dx = dy - exp(y) sum dy", floats},
    {"layer_norm", "norm_layer.cu", "y[R,C] = each row with mean 0 and variance 1, times weight, plus bias", floats},
    {"layer_norm_backward", "norm_layer.cu", "dx of layer_norm", floats},
    {"layer_norm_weight_grad", "norm_layer.cu", "dweight[C], dbias[C] of layer_norm", floats},
    {"rms_norm", "norm_layer.cu", "y[R,C] = each row over its root mean square, times weight", floats},
    {"rms_norm_backward", "norm_layer.cu", "dx of rms_norm", floats},
    {"rms_norm_weight_grad", "norm_layer.cu", "dweight[C] of rms_norm", floats},
    {"batch_norm_statistics", "norm_batch.cu", "mean[G,C], variance[G,C] of x[N,C,S] in G groups of the batch", floats},
    {"batch_norm", "norm_batch.cu", "y[N,C,S] = (x - mean) / sqrt(variance + epsilon) weight + bias", floats},
    {"batch_norm_running", "norm_batch.cu", "running statistics take a step towards the batch's", floats},
    {"batch_norm_given", "norm_batch.cu", "mean[C], variance[C] = the running statistics", floats},
    {"batch_norm_given_grad", "norm_batch.cu", "dmean[C], dvariance[C] of the statistics given", floats},
    {"batch_norm_sums", "norm_batch.cu", "sums[G,C] of dy and of dy times the normalised x", floats},
    {"batch_norm_weight_grad", "norm_batch.cu", "dweight[C], dbias[C] of batch_norm, over its groups", floats},
    {"batch_norm_backward", "norm_batch.cu", "dx of batch_norm", floats},
    {"group_norm", "norm_group.cu", "y[N,C,S] = each group of channels with mean 0 and variance 1", floats},
    {"group_norm_backward", "norm_group.cu", "dx of group_norm", floats},
    {"group_norm_weight_grad", "norm_group.cu", "dweight[C], dbias[C] of group_norm", floats},
    {"cross_entropy", "loss.cu", "loss[R] = -log softmax[label], labels smoothed; 0 where ignored", floats},
    {"mean_of_labelled", "loss.cu", "mean[1] and count of the rows whose label is not ignored", floats},
    {"cross_entropy_backward", "loss.cu", "dlogits = (p - smoothed label) upstream / count", floats},
    {"nll", "loss.cu", "loss[R] = -x[label]; 0 where ignored", floats},
    {"nll_backward", "loss.cu", "dx = -upstream / count at the label", floats},
    {"bce_with_logits", "loss.cu", "loss = binary cross-entropy of sigmoid(x) with target", floats},
    {"bce_with_logits_backward", "loss.cu", "dx = (sigmoid(x) - target) scale", floats},
    {"smooth_l1", "loss.cu", "loss = |p - t|, quadratic below beta", floats},
    {"smooth_l1_backward", "loss.cu", "dp = sign of p - t, linear below beta, times scale", floats},
    {"kl_div", "loss.cu", "loss = t (log t - x)", floats},
    {"kl_div_backward", "loss.cu", "dx = -t scale", floats},
    {"vector_add", "bench.cu", "c = a + b", f32_alone},
    {"strided_gather", "bench.cu", "y[i] = sum over r of x[(i stride + 7 r) mod n]", f32_alone},
    {"divergent", "bench.cu", "loops whose length differs from lane to lane", f32_alone},
};

struct Library {
    std::vector<std::string> names;
    std::vector<KernelRow> rows;
    std::unordered_map<std::string_view, const KernelRow*> by_name;

    Library() {
        size_t count = 0;
        for (const Kernel& kernel : table) count += kernel.types.size();
        names.reserve(count), rows.reserve(count);
        for (const Kernel& kernel : table)
            for (const DType type : kernel.types) {
                const std::string& name = names.emplace_back(fmt::format("{}_{}", kernel.name, name_of(type)));
                const twins::Run twin = twins::twin_of(name);
                if (!twin) throw std::logic_error("kernel " + name + " has no native twin");
                rows.push_back({name, kernel.name, type, kernel.file, kernel.summary, twin});
                by_name.emplace(name, &rows.back());
            }
    }
};
const Library& library() {
    static const Library it;
    return it;
}
}  // namespace

std::span<const KernelRow> kernels() {
    return library().rows;
}

const KernelRow& kernel_named(std::string_view name) {
    const auto found = library().by_name.find(name);
    if (found != library().by_name.end()) return *found->second;
    const std::string nearest = nearest_name(std::string(name), library().names);
    throw Failure(nearest.empty() ? fmt::format("unknown kernel '{}'; known: {}", name, fmt::join(library().names, ", "))
                                  : fmt::format("unknown kernel '{}', did you mean '{}'?", name, nearest));
}

std::string_view typed_kernel(std::string_view base, DType type) {
    char name[96];
    const auto end = fmt::format_to_n(name, sizeof name, "{}_{}", base, name_of(type));
    const auto found = library().by_name.find({name, std::min(end.size, sizeof name)});
    if (found != library().by_name.end()) return found->second->name;
    std::vector<std::string_view> types;
    for (const KernelRow& row : library().rows)
        if (row.base == base) types.push_back(name_of(row.type));
    throw Failure(types.empty() ? fmt::format("there is no kernel '{}'", base)
                                : fmt::format("there is no kernel '{}' for {}: it takes {}", base, name_of(type),
                                              fmt::join(types, ", ")));
}

}  // namespace lockstep::device
