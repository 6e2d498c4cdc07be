"""Numba, Triton, training, plans, lessons, whole programs and the magics."""
import numpy as np
import pytest

import lockstep


def test_a_numba_kernel_runs_and_reports_its_python_lines():
    cuda = pytest.importorskip("numba.cuda")
    import lockstep.numba

    @cuda.jit
    def axpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] += a * x[i]

    @cuda.jit
    def beyond(x):
        x[cuda.grid(1) + 1] = 1.0  # the last thread writes behind the end

    x, y = np.arange(500, dtype=np.float32), np.ones(500, np.float32)
    try:
        r = lockstep.numba.kernel(axpy)[2, 256](np.float32(2), x, y, gpu="a100", check="all")
    except lockstep.MissingError as missing:
        pytest.skip(str(missing))
    assert np.allclose(y, 2 * x + 1) and r.cycles > 0 and r.reports == []
    assert "y[i] += a * x[i]" in r.source
    with pytest.raises(lockstep.KernelFault) as caught:
        lockstep.numba.launch(beyond, 1, 32, np.zeros(32, np.float32))
    fault = caught.value
    assert "test_helpers.py" in str(fault) and "'x'" in str(fault)
    assert "x[cuda.grid(1) + 1]" in fault.result.source.split("\n")[fault.line - 1]
    table = np.zeros((8, 16), np.float32)

    @cuda.jit
    def fill(t):
        i, j = cuda.grid(2)
        if i < t.shape[0] and j < t.shape[1]:
            t[i, j] = 10 * i + j

    lockstep.numba.kernel(fill)[(1, 2), (8, 8)](table)
    assert table[7, 15] == 85


def test_a_triton_kernel_runs_and_reports_its_python_lines():
    pytest.importorskip("triton")
    import lockstep.triton
    from triton_kernels import add, total

    n = 1000
    x, y, out = np.arange(n, dtype=np.float32), np.ones(n, np.float32), np.zeros(n, np.float32)
    r = lockstep.triton.kernel(add)[(4,)](x, y, out, n, BLOCK=256, num_warps=4, gpu="a100", check="all")
    assert np.allclose(out, x + y) and r.block == (128, 1, 1) and r.reports == []
    assert "tl.store" in r.source
    sums = np.zeros(4, np.float32)
    lockstep.triton.kernel(total)[lambda meta: (4,)](x, sums, n, BLOCK=256)
    assert sums.sum() == pytest.approx(x.sum(), rel=1e-5)
    with pytest.raises(lockstep.KernelFault, match="triton_kernels.py"):
        lockstep.triton.kernel(add)[(4,)](x, y, out[:500], n, BLOCK=256)
    with pytest.raises(lockstep.Error, match="is missing"):
        lockstep.triton.kernel(add)[(4,)](x, y, out, n)


def test_training_goes_down():
    run = lockstep.train("mlp", steps=30)
    assert len(run.loss) == 30 and run.loss[-1] < run.loss[0] and 0 <= run.test_accuracy <= 1
    assert "<svg" in run._repr_html_()
    with pytest.raises(lockstep.ProgramError, match="mlp"):
        lockstep.train("mlpp", steps=1)


def test_a_step_of_many_gpus_is_planned():
    plan = lockstep.plan("llama3-8b", gpu="h100", tp=8, dp=4, batch=64)
    assert plan["gpus"] == 32 and plan.step_seconds > 0 and 0 < plan.mfu < 1 and plan.fits and "derived" in repr(plan)


def test_a_lesson_is_shown_and_graded():
    lesson = lockstep.lesson("A08")
    assert lesson.title == "Coalescing" and lesson.steps and "32 addresses" in lesson.text(1)
    assert lesson.show(1, theme="light").png()[1:4] == b"PNG"
    assert lesson.figures(1)["sectors_per_request"] == 4
    assert "strided.cu" in lesson.kernels and "A08" in lockstep.lessons()
    with pytest.raises(lockstep.Error, match="did you mean 'A08'"):
        lockstep.lesson("A088")


PROGRAM = """#include <cstdio>
__global__ void k(int* x) { x[threadIdx.x] = threadIdx.x; }
int main(int argc, char** argv) {
    int* x;
    cudaMalloc(&x, 128);
    k<<<1, 32>>>(x);
    int host[32];
    cudaMemcpy(host, x, 128, cudaMemcpyDeviceToHost);
    std::printf("%s %d\\n", argv[1], host[31]);
    cudaFree(x);
}
"""


def test_a_whole_program_runs(capsys):
    done = lockstep.run_program(PROGRAM, "seven")
    assert done.status == 0 and "seven 31" in done.output and [one["kernel"] for one in done.launches] == ["k"]
    assert "seven 31" in capsys.readouterr().out


@pytest.fixture
def shell():
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    one = interactive.InteractiveShell.instance()
    lockstep.load_ipython_extension(one)
    yield one
    interactive.InteractiveShell.clear_instance()


def test_the_magics_run_kernels_and_programs(shell, capsys):
    shell.user_ns.update(x=np.arange(64, dtype=np.float32), y=np.zeros(64, np.float32))
    kernel = "__global__ void twice(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }"
    r = shell.run_cell_magic("lockstep", "--grid 1 --block 64 --arg x --arg y --gpu a100 --check all", kernel)
    assert r.gpu == "a100" and shell.user_ns["y"][5] == 10 and shell.user_ns["_result"] is r
    k = shell.run_cell_magic("lockstep", "", kernel)
    assert shell.user_ns["twice"] is k
    program = shell.run_cell_magic("cu", "-- hello", PROGRAM)
    assert program.status == 0 and "hello 31" in capsys.readouterr().out
    with pytest.raises(lockstep.Error):
        shell.run_cell_magic("lockstep", "", "__global__ void broken( {}")
    assert "^" in capsys.readouterr().err
    assert shell.run_cell_magic("lockstep", "--grid 1 --block 64 --arg in:f32[64] --arg out:f32[64]", kernel) is None
    assert "cycles" in capsys.readouterr().out
