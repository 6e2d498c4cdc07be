"""The package: kernels, arrays, results, what goes wrong, and what results do elsewhere."""
import ctypes
import gc
import json
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import lockstep


def test_arrays_are_written_in_place(saxpy, xy):
    x, y = xy
    where = y.ctypes.data
    r = saxpy[4, 256](x, y, 2.0, 1000, gpu="a100", check="all")
    assert y.ctypes.data == where and np.array_equal(y, 2 * x + 1)
    assert r.gpu == "a100" and r.cycles > 0 and r.time_us > 0 and r.reports == []
    assert r.kernel == "saxpy" and r.grid == (4, 1, 1) and r.block == (256, 1, 1)


def test_the_same_launch_takes_the_same_cycles_wherever_arrays_lie(saxpy):
    cycles = set()
    for shift in (0, 1, 3, 16):
        room = np.ones(4000, np.float32)
        cycles.add(saxpy[4, 256](room[shift:shift + 1000], room[2000 + shift:3000 + shift], 2.0, 1000).cycles)
    assert len(cycles) == 1


def test_cycles_are_those_of_the_command_line(saxpy, tmp_path):
    source = tmp_path / "saxpy.cu"
    source.write_text(saxpy.source)
    report = lockstep.command("run", source, "--grid", "4", "--block", "256", "--arg", "in:f32[1000]", "--arg", "inout:f32[1000]",
                              "--arg", "f32:2", "--arg", "i32:1000", json_answer=True)
    x, y = np.ones(1000, np.float32), np.ones(1000, np.float32)
    assert saxpy[4, 256](x, y, 2.0, 1000).cycles == report["cycles"]


def test_views_that_overlap_are_one_buffer(saxpy):
    room = np.ones(65, np.float32)
    saxpy[1, 32](room[:64], room[1:], 1.0, 32)
    assert room[1] == 2


def test_metrics_are_a_mapping(result):
    m = result.metrics
    assert len(m) > 100 and m["sectors_per_request"] == pytest.approx(4, abs=0.2)
    full = m.short_names["sectors_per_request"]
    assert m[full] == m["sectors_per_request"] and full in m and m.unit(full) == "sectors/request"
    assert dict(m)[full] == m[full]
    with pytest.raises(KeyError, match="did you mean 'sectors_per_request'"):
        m["sector_per_request"]


def test_metrics_become_a_table(result):
    pandas = pytest.importorskip("pandas")
    table = result.metrics.to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table) == len(result.metrics) and "unit" in table
    assert len(result.trace.issues.to_pandas()) == len(result.trace.issues.cycle)


def test_findings_say_what_to_change(result):
    assert result.findings and result.limit
    first = result.findings[0]
    assert first.sentence and first.change and first.rule
    assert "1. " in str(result.findings)


def test_the_trace_covers_every_cycle_of_a_warp(result):
    t = result.trace
    assert t.cycles == result.cycles and set(t.warps) >= {"block", "begin", "end"}
    for w in range(len(t.warps.block)):
        waited = (t.stalls.end - t.stalls.begin)[t.stalls.warp == w].sum()
        issued = len(np.unique(t.issues.cycle[t.issues.warp == w]))
        assert waited + issued == t.warps.end[w] - t.warps.begin[w]
    assert t.issues.line.max() >= 3 and len(t.texts) == len(t.instructions.issues)
    assert "long_scoreboard" in t.reasons


def test_a_trace_is_saved(result, tmp_path):
    for name in ("t.json", "t.csv", "t.txt"):
        result.trace.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    json.loads((tmp_path / "t.json").read_text())
    with pytest.raises(lockstep.Error, match="F.json"):
        result.trace.save(tmp_path / "t.xml")


def test_a_source_that_does_not_compile_has_a_caret():
    with pytest.raises(lockstep.CompileError) as caught:
        lockstep.compile("__global__ void k(float* y) {\n    y[0] = 1.0f\n}\n")
    error = caught.value
    assert error.line in (2, 3) and error.column > 0 and "^" in str(error) and "kernel.cu" in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is lockstep.CompileError and copy.line == error.line and str(copy) == str(error)


def test_an_access_out_of_bounds_is_raised_with_its_place(saxpy, xy):
    x, y = xy
    with pytest.raises(lockstep.KernelFault) as caught:
        saxpy[5, 256](x, y, 2.0, 1280)
    fault = caught.value
    assert "kernel.cu:4" in str(fault) and "'x'" in str(fault)
    assert fault.result.reports[-1].kind == "memcheck" and fault.result.reports[-1].thread != (0, 0, 0)


def test_a_race_is_reported_and_not_raised():
    k = lockstep.compile("__global__ void sum(const float* x, float* out) {\n    __shared__ float s;\n    if (threadIdx.x == 0) s = 0;\n"
                         "    __syncthreads();\n    s += x[threadIdx.x];\n    __syncthreads();\n    if (threadIdx.x == 0) *out = s;\n}\n")
    r = k[1, 64](np.ones(64, np.float32), np.zeros(1, np.float32), check="all")
    assert [one.kind for one in r.reports] and all(one.kind == "racecheck" for one in r.reports) and r.reports[0].line == 5


@pytest.mark.parametrize("arguments, words", [
    (lambda x, y: (x, y, 2.0), "takes 4 arguments"),
    (lambda x, y: (x, y.astype(np.float64), 2.0, 5), "elements are f32"),
    (lambda x, y: (x, y, 2.0, 5.5), "fraction"),
    (lambda x, y: (x, y[::2], 2.0, 5), "not contiguous"),
    (lambda x, y: (x, [1.0], 2.0, 5), "kernels take arrays"),
    (lambda x, y: (x, y, "two", 5), "str"),
    (lambda x, y: (x, y, 2.0, 2**40), "does not fit"),
])
def test_arguments_that_do_not_fit_are_refused_in_a_sentence(saxpy, xy, arguments, words):
    with pytest.raises(lockstep.Error, match=words):
        saxpy[4, 256](*arguments(*xy))


def test_launches_that_are_not_possible_are_refused(saxpy, xy):
    x, y = xy
    with pytest.raises(lockstep.Error, match="1024"):
        saxpy[1, 2048](x, y, 2.0, 1000)
    with pytest.raises(lockstep.Error, match="did you mean"):
        saxpy[4, 256](x, y, 2.0, 1000, gpu="a1000")
    with pytest.raises(lockstep.Error, match="a grid and a block"):
        saxpy(x, y, 2.0, 1000)
    with pytest.raises(lockstep.Error, match="racecheck"):
        saxpy[4, 256](x, y, 2.0, 1000, check="racechek")


@pytest.mark.parametrize("how, words", [
    (dict(seed=-1), "'seed' cannot be -1"),
    (dict(sm=2**40), "'sm' cannot be"),
    (dict(gpu=5), "'gpu' cannot be 5"),
])
def test_options_that_are_none_are_refused_by_name(saxpy, xy, how, words):
    with pytest.raises(lockstep.Error, match=words):
        saxpy[4, 256](*xy, 2.0, 1000, **how)


def test_numbers_of_numpy_are_options_too(saxpy, xy):
    assert saxpy[np.int64(4), np.int32(256)](*xy, 2.0, 1000, seed=np.uint8(3), sm=np.int64(1)).cycles > 0


def test_numbers_of_numpy_and_ctypes_are_numbers(saxpy, xy):
    x, y = xy
    saxpy[4, 256](x, y, np.float32(2), np.int64(1000))
    saxpy[4, 256](x, y, ctypes.c_float(1), ctypes.c_int(1000))
    assert y[2] == 1 + 4 + 2


def test_structs_are_bytes_ctypes_or_records():
    k = lockstep.compile("struct P { int n; float a; };\n__global__ void f(P p, float* y) { if (threadIdx.x < p.n) y[threadIdx.x] = p.a; }\n")

    class P(ctypes.Structure):
        _fields_ = [("n", ctypes.c_int), ("a", ctypes.c_float)]

    for value in (P(3, 1.5), bytes(P(3, 1.5)), np.array([(3, 1.5)], dtype=[("n", "i4"), ("a", "f4")])[0]):
        y = np.zeros(4, np.float32)
        k[1, 32](value, y)
        assert list(y) == [1.5, 1.5, 1.5, 0]


def test_half_precision_and_dlpack():
    k = lockstep.compile("#include <cuda_fp16.h>\n__global__ void twice(__half* x) { x[threadIdx.x] = __hadd(x[threadIdx.x], x[threadIdx.x]); }\n")
    x = np.arange(32, dtype=np.float16)
    k[1, 32](x)
    assert np.array_equal(x, 2 * np.arange(32, dtype=np.float16))

    class Only:  # has DLPack and nothing else
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **how):
            return self.array.__dlpack__(**how)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    k[1, 32](Only(x))
    assert x[3] == 12
    with pytest.raises(lockstep.Error, match="argument 1 .* not contiguous"):
        k[1, 16](Only(x[::2]))


def test_a_torch_tensor_is_written_in_place(saxpy):
    torch = pytest.importorskip("torch")
    x, y = torch.arange(64, dtype=torch.float32), torch.ones(64)
    saxpy[2, 32](x, y, 2.0, 64)
    assert torch.equal(y, 2 * x + 1)


def test_read_only_arrays_are_copied(saxpy, xy):
    x, y = xy
    y.flags.writeable = False
    saxpy[4, 256](x, y, 2.0, 1000)
    assert y[5] == 1


def test_variables_of_the_module_are_set():
    k = lockstep.compile("__constant__ float taps[3];\n__global__ void f(float* y) { y[threadIdx.x] = taps[threadIdx.x]; }\n")
    y = np.zeros(3, np.float32)
    r = k[1, 3](y, symbols={"taps": np.array([1, 2, 3], np.float32)})
    assert list(y) == [1, 2, 3]
    assert pickle.loads(pickle.dumps(r)).trace.cycles == r.cycles


def test_what_a_kernel_prints_goes_to_stdout(capsys):
    k = lockstep.compile('#include <cstdio>\n__global__ void hello() { printf("hello from %d\\n", threadIdx.x); }\n')
    k[1, 2]()
    assert capsys.readouterr().out == "hello from 0\nhello from 1\n"


def test_functional_launches_have_values_alone(saxpy, xy):
    x, y = xy
    r = saxpy[4, 256](x, y, 2.0, 1000, functional=True)
    assert y[10] == 21 and r.cycles is None and "executed" in repr(r)
    with pytest.raises(lockstep.Error, match="functional"):
        r.show()


def test_another_generation_compiles_again(saxpy, xy):
    k = lockstep.compile("__global__ void arch(int* y) {\n#if __CUDA_ARCH__ >= 800\n    *y = 8;\n#else\n    *y = 7;\n#endif\n}\n")
    y = np.zeros(1, np.int32)
    k[1, 1](y, gpu="a100")
    assert y[0] == 8
    k[1, 1](y, gpu="v100")
    assert y[0] == 7


def test_results_pickle_and_are_shown_where_they_are_opened(result):
    copy = pickle.loads(pickle.dumps(result))
    assert copy.cycles == result.cycles and dict(copy.metrics) == dict(result.metrics) and copy.findings == result.findings
    assert copy.trace.cycles == result.cycles  # simulated again
    assert np.array_equal(copy.trace.issues.cycle, result.trace.issues.cycle)
    assert copy.show("warps", theme="dark").png()[1:4] == b"PNG"


def test_pickled_results_of_large_arrays_keep_their_numbers(saxpy):
    n = 3_000_000
    x, y = np.ones(n, np.float32), np.ones(n, np.float32)
    r = saxpy[4, 256](x, y, 2.0, 1000)
    packed = pickle.dumps(r)
    assert len(packed) < 1 << 20
    copy = pickle.loads(packed)
    assert copy.cycles == r.cycles
    with pytest.raises(lockstep.Error, match="larger than"):
        copy.trace


def test_kernels_pickle(saxpy, xy):
    x, y = xy
    again = pickle.loads(pickle.dumps(saxpy))
    assert again[4, 256](x, y, 2.0, 1000).cycles > 0 and y[1] == 3


def _one(kernel, block):
    x, y = np.arange(1024, dtype=np.float32), np.ones(1024, np.float32)
    return kernel[1024 // block, block](x, y, 2.0, 1024)


def test_sweeps_spread_over_processes_with_joblib(saxpy):
    joblib = pytest.importorskip("joblib")
    results = joblib.Parallel(n_jobs=2)(joblib.delayed(_one)(saxpy, block) for block in (32, 64, 128, 256))
    assert [r.block[0] for r in results] == [32, 64, 128, 256]
    assert results[0].cycles == _one(saxpy, 32).cycles


def test_sweeps_spread_over_a_dask_cluster(saxpy):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        found = client.gather(client.map(_one, [saxpy] * 3, [64, 128, 256]))
    assert [r.cycles for r in found] == [_one(saxpy, block).cycles for block in (64, 128, 256)]


SPIN = "__global__ void spin(volatile int* stop, int n) { for (int i = 0; i < n && !*stop; ++i) stop[1] = i; }\n"


def test_other_threads_go_on_while_a_kernel_runs():
    k = lockstep.compile(SPIN)
    counted, ended = [0], threading.Event()

    def count():
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    begin = time.perf_counter()
    k[1, 32](np.zeros(2, np.int32), 20000, trace=False)
    took = time.perf_counter() - begin
    ended.set()
    other.join()
    assert counted[0] > 50 * took


def test_ctrl_c_ends_a_launch():
    k = lockstep.compile(SPIN)
    timer = threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        k[1, 32](np.zeros(2, np.int32), 2**31 - 1, functional=True, max_instructions=10**15)
    assert time.perf_counter() - begin < 10
    gc.collect()
    assert k[1, 32](np.zeros(2, np.int32), 10).cycles > 0  # and the next one runs


def test_comparisons_name_what_changed():
    k = lockstep.compile("__global__ void f(const float* x, float* y, int s) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i * s]; }\n")
    run = lambda s: k[16, 256](np.ones(4096 * s, np.float32), np.ones(4096, np.float32), s)
    c = run(16).compare(run(1))
    assert c.speedup > 1 and "times as fast" in repr(c)
    assert any(name == "sectors_per_request" and before > after for name, before, after, _ in c.rows())
    assert "<table>" in c._repr_html_()


def test_the_command_line_comes_along():
    done = subprocess.run([sys.executable, "-m", "lockstep", "gpus", "v100"], capture_output=True, text=True)
    assert done.returncode == 0 and "Tesla V100" in done.stdout
    done = subprocess.run([sys.executable, "-m", "lockstep", "gpuz"], capture_output=True, text=True)
    assert done.returncode == 2 and "gpus" in done.stderr


def test_lists_of_what_there_is():
    assert "v100" in lockstep.gpus() and "warps" in lockstep.views() and "sectors_per_request" in lockstep.metrics()
    assert set(lockstep.compilers()) >= {"nvrtc", "nvcc", "clang", "ziglang"}


def test_the_compiler_of_the_extra_compiles(saxpy, xy):
    from lockstep.compiler import zig

    if not zig():
        pytest.skip("ziglang is not installed")
    x, y = xy
    k = lockstep.compile(saxpy.source, compiler="ziglang")
    assert "ziglang" in k.compiler
    k[4, 256](x, y, 2.0, 1000, gpu="a100", check="all")
    assert np.array_equal(y, 2 * x + 1)


def test_the_compiler_of_the_extra_compiles_whole_programs():
    from lockstep.compiler import zig

    if not zig():
        pytest.skip("ziglang is not installed")
    done = lockstep.run_program(r"""
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>
__global__ void waves(float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sinf(i) * rsqrtf(i + 1.0f);
}
int main() {
    const int n = 1000;
    std::vector<float> y(n);
    float *device, off = 0;
    cudaMalloc(&device, n * sizeof(float));
    waves<<<4, 256>>>(device, n);
    cudaMemcpy(y.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) off = std::max(off, std::fabs(y[i] - std::sin((float)i) * rsqrtf(i + 1.0f)));
    std::printf("%s\n", off < 1e-6f ? "PASS" : "FAIL");
    cudaFree(device);
}
""", compiler="ziglang", echo=False)
    assert done.status == 0 and done.output == "PASS\n"
    assert done.launches


def test_every_name_of_the_package_has_words():
    for name in lockstep.__all__:
        assert getattr(lockstep, name).__doc__, name
